// Compares the service of this checkout with that of another one, as before a change: processor time of an
// answer, which other work on the machine spoils less than requests a second. Rounds of both alternate.
//
//   npx bun bench/against.ts FOLDER [ROUNDS]     (15 where it is not said)
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { CONNECTIONS } from "./fleet.ts";
import type { RunningServer } from "./peers.ts";
import { Processes } from "./processes.ts";
import { creates, everyPage, firstPage, gets, missing } from "./requests.ts";
import { alternate, contestant, median, type Series } from "./rounds.ts";
import { type SeededStore, UNLIMITED } from "./seed.ts";
import { type Round, writeLoad } from "./wrk.ts";

const ANIMALS = 100_000;
const [folder, rounds = "15"] = process.argv.slice(2);
const effort = { rounds: Number(rounds), seconds: 2, warmUp: 4 };
const workloads = {
  "one animal": gets,
  "first page": firstPage,
  "other pages": everyPage,
  "adding one": creates,
  "no such animal": missing,
};

if (!folder || !(effort.rounds > 0)) throw new Error("Usage: bun bench/against.ts FOLDER [ROUNDS]");

/** Starts the service of a checkout on a store that the checkout has seeded itself, with its own schema. */
async function start(checkout: string, place: string): Promise<RunningServer & { readonly key: string }> {
  mkdirSync(place);
  const { seedStore } = (await import(join(checkout, "bench/seed.ts"))) as typeof import("./seed.ts");
  const store: SeededStore = seedStore(place, "seed", ANIMALS, [UNLIMITED]);
  // Of the checkout, too: it makes the cursors that its own service reads.
  const { startServer } = (await import(join(checkout, "bench/peers.ts"))) as typeof import("./peers.ts");
  const server = await startServer("service", { processes, folder: join(place, "service"), service: checkout, store });
  return { ...server, key: store.keys[0] ?? "" };
}

/** Microseconds of processor time of an answer. */
const cost = ({ core, rate }: Round) => (core / rate) * 1e6;

/** How often as fast the first is as the second, round by round: lower quartile, median, upper quartile. */
function ratios([ours, theirs]: readonly Series[], figure: (round: Round) => number): string {
  const each = (ours?.rounds ?? []).map((round, index) => figure(theirs?.rounds[index] as Round) / figure(round));
  const sorted = each.toSorted((a, b) => a - b);
  const quarter = Math.floor(sorted.length / 4);
  return `${median(each).toFixed(2)} (${sorted[quarter]?.toFixed(2)} to ${sorted.at(-1 - quarter)?.toFixed(2)})`;
}

const processes = new Processes();
const root = join(import.meta.dir, "..");
const work = join(import.meta.dir, "work");
mkdirSync(work, { recursive: true });
const place = mkdtempSync(join(work, "against-"));
try {
  const servers = [await start(root, join(place, "ours")), await start(resolve(folder), join(place, "theirs"))];
  for (const [name, requests] of Object.entries(workloads)) {
    const series = await alternate(
      servers.map((server, index) => {
        const load = writeLoad(join(place, `${index}.txt`), requests(server.dialect), server.key, CONNECTIONS);
        return contestant(String(index), processes, server, load, effort);
      }),
    );
    const isRefused = requests === missing;
    const faults = series
      .flatMap((one) => one.rounds)
      .reduce((all, { refused, failed }) => all + (isRefused ? 0 : refused) + failed, 0);
    if (faults > 0) throw new Error(`${faults} requests for ${name} had no answer of success: nothing was compared.`);
    const [ours = 0, theirs = 0] = series.map((one) => median(one.rounds.map(cost)));
    console.log(
      `${name}: ${ours.toFixed(1)} µs here, ${theirs.toFixed(1)} µs there; times as fast by processor time: ` +
        `${ratios(series, cost)}, by the clock: ${ratios(series, ({ rate }) => 1 / rate)}`,
    );
  }
} finally {
  await processes.end();
  rmSync(place, { recursive: true, force: true });
}
