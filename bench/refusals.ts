import { join } from "node:path";
import { generateApiKey } from "../src/domains/keys/api-key.ts";
import { CONNECTIONS, startFleet, stopFleet } from "./fleet.ts";
import type { RunningServer } from "./peers.ts";
import { gets } from "./requests.ts";
import { alternate, contestant } from "./rounds.ts";
import { seedStore, UNLIMITED } from "./seed.ts";
import { ratioTarget, type Workload } from "./workload.ts";
import { type Request, writeLoad } from "./wrk.ts";

/** Addresses that wrong keys come from. Each may be refused 60 times a minute before it gets 429. */
const ADDRESSES = 60_000;
/** One request a day, and a limit per minute that is too high for strikes to lead to a ban in a run. */
const USED_UP = { perMinute: 1_000_000_000, perDay: 1 };
/** Strikes lead to a ban soon. */
const BANNED = { perMinute: 1, perDay: 1 };

/** What a single request needs to know of a server. */
type ServerAddress = Pick<RunningServer, "url" | "dialect">;

/** Requests that all have the same status. */
interface RefusalCase {
  readonly name: string;
  readonly requests: readonly Request[];
  /** The key that is sent. */
  readonly sent: string;
  readonly status: number;
}

const good = "good read";
const refusals = {
  wrong: "401, unknown key",
  mistyped: "401, mistyped key",
  wrongKeys: "429, wrong keys of one address",
  usedUp: "429, account used up",
  banned: "429, key banned",
};

export const refusal: Workload = {
  name: "refusals",
  title: "Refuse",
  description:
    "Reads of single animals that are refused, next to one that is not; the service alone, 64 connections. An unknown " +
    "key is well-formed and must be looked up in the store; a mistyped one fails its checksum. After 60 wrong keys " +
    "in a minute an address gets 429, so the 401s and the good reads come from 60,000 addresses, named by a trusted " +
    "proxy. A key that keeps sending after its account is used up gets banned; both states are shown.",
  inShort: false,
  chart: "rate",
  isServiceOnly: true,
  run: async (bench) => {
    const { options, processes, folder } = bench;
    const store = seedStore(folder, "seed", 100_000, [UNLIMITED, USED_UP, BANNED]);
    const [key = "", usedUp = "", banned = ""] = store.keys;
    const fleet = await startFleet(bench, store, ["service"], { PETSTORE_TRUSTED_PROXIES: "127.0.0.1" });
    const [server] = fleet.servers as [RunningServer];
    const reads = gets(server.dialect);
    const wrong = generateApiKey("live");
    await untilBanned(server, banned);
    const manyAddresses = reads.map(fromManyAddresses);
    const cases: RefusalCase[] = [
      { name: good, requests: manyAddresses, sent: key, status: 200 },
      { name: refusals.wrong, requests: manyAddresses, sent: wrong, status: 401 },
      { name: refusals.mistyped, requests: manyAddresses, sent: `${wrong}x`, status: 401 },
      { name: refusals.wrongKeys, requests: reads, sent: wrong, status: 429 },
      { name: refusals.usedUp, requests: reads, sent: usedUp, status: 429 },
      { name: refusals.banned, requests: reads, sent: banned, status: 429 },
    ];
    const series = await alternate(
      cases.map((one, index) => {
        const { name, requests, sent } = one;
        const load = writeLoad(join(folder, `${index}.txt`), requests, sent, CONNECTIONS);
        const { rounds, warmUp, run } = contestant(name, processes, server, load, options.effort, one.status !== 200);
        const checked = async () => {
          const round = await run();
          await requireStatus(server, one);
          return round;
        };
        return { name, rounds, warmUp, run: checked };
      }),
    );
    await stopFleet(bench, fleet);
    return { series, notes: fleet.notes };
  },
  targets: [refusals.wrong, refusals.usedUp, refusals.banned].map((name) =>
    ratioTarget(`${name}: not slower than a good read`, "at least", 1, ["rate", name, good]),
  ),
};

export function fromManyAddresses(request: Request, index: number): Request {
  const number = index % ADDRESSES;
  return { ...request, headers: { "X-Forwarded-For": `10.1.${Math.floor(number / 250)}.${(number % 250) + 1}` } };
}

/** Sends requests until the key is banned. Strikes count from one second after the first 429. */
export async function untilBanned(server: ServerAddress, key: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const response = await ask(server, `${server.dialect.pets}/1`, key);
    if (((await response.json()) as { code?: string }).code === "key_banned") return;
    await Bun.sleep(20);
  }
  throw new Error("The key of a used-up account was not banned.");
}

/** wrk tells only how many answers were refused: one more request after a round tells how. */
async function requireStatus(server: RunningServer, { requests, sent, status }: RefusalCase): Promise<void> {
  const last = requests.at(-1);
  const response = await ask(server, last?.path ?? "", sent, last?.headers);
  if (response.status !== status) throw new Error(`${response.status} instead of ${status}: ${await response.text()}`);
}

function ask({ url }: ServerAddress, path: string, key: string, headers: Request["headers"] = {}): Promise<Response> {
  return fetch(url + path, { headers: { ...headers, Authorization: `Bearer ${key}` } });
}
