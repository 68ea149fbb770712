import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { compareServers, compareSizes, type Memory, type Result } from "./embedded.ts";
import { type Load, loads, sharedLoads } from "./loads.ts";
import { installPeers } from "./peers.ts";
import { Processes } from "./processes.ts";
import { embeddedHead, embeddedRow, line, sharedHead, sharedRows, table, writeReport } from "./report.ts";
import { compareShared } from "./scale/shared.ts";
import type { Effort } from "./wrk.ts";

const HELP = `Measures the service against its peers, and writes two pages of results.

Usage: npm run bench -- [--short] [--only NAME]... [--out FOLDER] [--service FOLDER]

  --short           One process and its peers, in about four minutes.
  --only NAME       Only these parts or loads; may be given more than once.
  --out FOLDER      Where to write the pages. Default: bench/results
  --service FOLDER  The checkout whose service is measured. Default: this one.

It takes up to 20 minutes, and needs two cores, wrk, taskset, node, and valkey-server or redis-server.
Parts: embedded (one process), sizes, shared (PostgreSQL and Valkey).
Loads: ${loads.map(({ name }) => name).join(", ")}.`;

const PARTS = ["embedded", "sizes", "shared"] as const;
type Part = (typeof PARTS)[number];
const SHORT: Effort = { rounds: 3, seconds: 1, warmUp: 2 };
const NORMAL: Effort = { rounds: 5, seconds: 2, warmUp: 3 };

const root = join(import.meta.dir, "..");
const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
    out: { type: "string", default: join(import.meta.dir, "results") },
    service: { type: "string", default: root },
    help: { type: "boolean", default: false },
  },
});
const { short, only, out } = values;
const service = resolve(values.service);

const processes = new Processes();
// In the checkout, because the system's temporary folder is often in memory.
const work = join(import.meta.dir, "work");
mkdirSync(work, { recursive: true });
const folder = mkdtempSync(join(work, "run-"));
process.on("SIGINT", () => void end(130));
process.on("SIGTERM", () => void end(143));

try {
  if (values.help) console.log(HELP);
  else await measure();
  await end(0);
} catch (error) {
  console.error((error as Error).message);
  await end(1);
}

async function measure(): Promise<void> {
  const known = new Set<string>([...PARTS, ...loads.map(({ name }) => name)]);
  const unknown = only.filter((name) => !known.has(name));
  if (unknown.length > 0) throw new Error(`There is no part or load ${unknown.join(", ")}. See --help.`);
  const missing = ["wrk", "taskset", "node", "npm"].filter((tool) => !Bun.which(tool));
  if (missing.length > 0) throw new Error(`Not installed: ${missing.join(", ")}. See --help.`);
  if (cpus().length < 2) throw new Error("Two cores are needed: one for the server, one for the load.");
  installPeers();

  const started = performance.now();
  const [embedded, shared]: [Result[], Result[]] = [[], []];
  const memory: Memory[] = [];
  if (isWanted("embedded")) {
    console.log(table(embeddedHead, []));
    memory.push(
      ...(await compareServers(
        bench("embedded"),
        chosen(loads),
        show(embedded, (one) => [embeddedRow(one)]),
      )),
    );
  }
  if (isWanted("sizes"))
    await compareSizes(
      bench("sizes"),
      show(embedded, (one) => [embeddedRow(one)]),
    );
  if (isWanted("shared")) {
    console.log(table(sharedHead, []));
    await compareShared(bench("shared"), chosen(sharedLoads), show(shared, sharedRows));
  }
  const git = Bun.spawnSync(["git", "-C", service, "describe", "--always", "--dirty"]).stdout.toString().trim();
  writeReport(out, git, embedded, shared, memory);
  console.log(`Written to ${out} after ${Math.round((performance.now() - started) / 1000)} s.`);
}

/** A part is measured if it, or only loads, are named; without names all are, or with --short the first one. */
function isWanted(part: Part): boolean {
  const parts = only.filter((name) => PARTS.includes(name as Part));
  if (parts.length > 0) return parts.includes(part);
  return only.length > 0 || short ? part === "embedded" : true;
}

function chosen(of: readonly Load[]): readonly Load[] {
  const named = of.filter(({ name }) => only.includes(name));
  return named.length > 0 ? named : of;
}

function bench(part: Part) {
  const own = join(folder, part);
  mkdirSync(own);
  return { effort: short ? SHORT : NORMAL, processes, folder: own, service };
}

/** Keeps a result, and prints its rows. */
function show(results: Result[], rowsOf: (result: Result) => string[][]): (result: Result) => void {
  return (result) => {
    results.push(result);
    for (const cells of rowsOf(result)) console.log(line(cells));
  };
}

async function end(status: number): Promise<never> {
  await processes.end();
  rmSync(folder, { recursive: true, force: true });
  process.exit(status);
}
