// Kills the service over and over while clients send each request again until it is answered. Each request may add only
// one animal. `npm run torture` does the same for longer.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { environment, newKey } from "../harness/keys.ts";
import { newDataDir, Program } from "../harness/program.ts";
import { Random } from "../harness/random.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";

const ROUNDS = process.env["TORTURE"] === "long" ? 200 : 8;
const SEED = Number(process.env["TORTURE_SEED"] ?? crypto.getRandomValues(new Uint32Array(1))[0]);
const CONNECTIONS = 24;
/** The latest moment of a kill under load, in milliseconds. */
const LATEST_KILL = 120;
/** A bound for a round that hangs, in milliseconds. */
const MAX_ROUND = 10_000;

/** A request that is sent until it is answered. Its name is the animal's and the idempotency key. */
interface Attempt {
  readonly name: string;
  sent: number;
}

/** The requests that clients send until each is answered, over several starts of the service. */
class Clients {
  readonly violations: string[] = [];
  /** The body of the response to each request, by the name of its animal. */
  readonly answered = new Map<string, string>();
  /** Replayed responses whose first copy never arrived: the service was killed between commit and response. */
  replays = 0;
  readonly #key: string;
  /** With this undefined no request has an idempotency key. */
  readonly #header: string | undefined;
  #open: Attempt[] = [];
  #made = 0;

  constructor(key: string, header: string | undefined) {
    this.#key = key;
    this.#header = header;
  }

  /** Sends requests over many connections at once, those first that were not answered, until the service is gone. */
  async sendTo(base: string, isGone: () => boolean): Promise<void> {
    const waiting = this.#open;
    this.#open = [];
    const next = () => waiting.pop() ?? { name: `animal-${++this.#made}`, sent: 0 };
    const connection = async () => {
      while (!isGone()) {
        const attempt = next();
        if (!(await this.#send(base, attempt))) {
          this.#open.push(attempt);
          if (!isGone()) this.violations.push("a running service did not answer");
          return;
        }
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
    this.#open.push(...waiting);
  }

  /** Sends what was not answered once more. */
  async finish(base: string): Promise<void> {
    for (const attempt of this.#open.splice(0)) {
      if (!(await this.#send(base, attempt))) this.violations.push(`${attempt.name} was not answered in the end`);
    }
  }

  /** Sends a request. False if no response arrived whole. */
  async #send(base: string, attempt: Attempt): Promise<boolean> {
    const { name } = attempt;
    const isRetry = attempt.sent++ > 0;
    const headers = { Authorization: `Bearer ${this.#key}`, "Content-Type": "application/json" };
    const response = await fetch(`${base}/pets`, {
      method: "POST",
      headers: this.#header ? { ...headers, [this.#header]: name } : headers,
      body: JSON.stringify({ name, categoryId: 1 }),
    }).catch(() => undefined);
    const text = await response?.text().catch(() => undefined);
    if (!response || text === undefined) return false;
    const isReplay = response.headers.has("idempotent-replayed");
    if (response.status !== 201) this.violations.push(`${name} was answered with ${response.status}: ${text}`);
    if (isReplay && !isRetry) this.violations.push(`${name} was answered as if it had come before`);
    if (isReplay) this.replays++;
    this.answered.set(name, text);
    return true;
  }
}

/** What is wrong with what the store holds at the end. */
function compare(dataDir: string, { answered }: Clients): string[] {
  const database = new Database(join(dataDir, "petstore.db"), { readonly: true });
  const rows = database.query<{ id: number; name: string }, []>("SELECT id, name FROM pets").all();
  database.close();
  const faults = rows.length === answered.size ? [] : [`${rows.length} animals of ${answered.size} requests`];
  for (const { id, name } of rows) {
    const expected = JSON.stringify({ id, name, categoryId: 1 });
    if (answered.get(name) !== expected) faults.push(`${expected} was answered with ${answered.get(name)}`);
  }
  return faults;
}

/**
 * Kills the service at least `rounds` times while clients send requests, and compares the store with the responses. With
 * `header`, it goes on until a kill came between a commit and its response.
 */
async function crashTest(rounds: number, header: string | undefined) {
  const random = new Random(SEED);
  const dataDir = newDataDir();
  const first = await Program.start(dataDir, environment);
  const clients = new Clients(await newKey(dataDir, unlimitedQuota), header);
  await first.end("SIGKILL");
  const isEnough = (round: number) => round >= rounds && (clients.replays > 0 || header === undefined);
  let round = 0;
  for (; !isEnough(round) && clients.violations.length === 0; round++) {
    const program = await Program.start(dataDir, environment);
    let isGone = false;
    const load = clients.sendTo(program.base, () => isGone);
    await Bun.sleep(random.below(LATEST_KILL * 1_000) / 1_000);
    isGone = true;
    await program.end("SIGKILL");
    await load;
  }
  const program = await Program.start(dataDir, environment);
  await clients.finish(program.base);
  const status = await program.end();
  const violations = [...clients.violations, ...compare(dataDir, clients)];
  if (status !== 0) violations.push(`the service ended with ${status}`);
  rmSync(dataDir, { recursive: true, force: true });
  return { violations, kills: round, replays: clients.replays, animals: clients.answered.size };
}

test(
  "each request has one animal in the end, however often the service is killed",
  async () => {
    console.log(`To repeat: TORTURE_SEED=${SEED}`);
    const { violations, kills, replays, animals } = await crashTest(ROUNDS, "Idempotency-Key");
    expect(violations.slice(0, 10)).toEqual([]);
    console.log(`${kills} kills, ${animals} animals, ${replays} of them committed before a kill and answered after it`);
  },
  60_000 + ROUNDS * MAX_ROUND,
);

test("control: without Idempotency-Key, duplicates are found", async () => {
  let found: string[] = [];
  while (found.length === 0) ({ violations: found } = await crashTest(3, undefined));
  expect(found.join("\n")).toContain("animals of");
});
