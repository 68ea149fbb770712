// Measures `petstore import` and `petstore export`: how many animals a second into an empty embedded
// store and out of it, and how long a service alongside an import lets its clients wait.
//
//   bun bench/import-export.ts [ANIMALS]     (default 1,000,000)
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newKeyIn } from "../test/harness/keys.ts";
import { Program, serveCommand } from "../test/harness/program.ts";
import { UNLIMITED } from "./seed.ts";

const ANIMALS = Number(process.argv[2] ?? 1_000_000);
/** Milliseconds between two requests of each kind alongside an import. */
const PACE = 5;

// In the checkout, because the system's temporary folder is often in memory.
const work = join(import.meta.dir, "work");
mkdirSync(work, { recursive: true });
const folder = mkdtempSync(join(work, "import-export-"));
const files = { jsonl: join(folder, "animals.jsonl"), csv: join(folder, "animals.csv") };
const statuses = ["available", "pending", "sold", undefined];

function writeFiles(): void {
  const animals = Array.from({ length: ANIMALS }, (_, index) => ({
    name: `Animal ${index}`,
    categoryId: (index % 100) + 1,
    status: statuses[index % 4],
  }));
  writeFileSync(files.jsonl, animals.map((animal) => `${JSON.stringify(animal)}\n`).join(""));
  const rows = animals.map(({ name, categoryId, status = "" }) => `${name},${categoryId},${status}\r\n`);
  writeFileSync(files.csv, `name,categoryId,status\r\n${rows.join("")}`);
}

/** A store with a key whose limits are never reached. */
async function newStore(name: string): Promise<{ dataDir: string; key: string }> {
  const dataDir = join(folder, name);
  return { dataDir, key: (await newKeyIn(dataDir, { quota: UNLIMITED })).key };
}

/** Runs a command and returns its wall time and its CPU time, which other work on the machine hardly changes. */
async function timed(words: readonly string[], dataDir: string): Promise<string> {
  const started = performance.now();
  const child = Bun.spawn([...serveCommand.slice(0, 2), ...words], {
    env: { ...process.env, PETSTORE_DATA_DIR: dataDir },
    stdout: "ignore",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error(`${words[0]} failed`);
  const seconds = (performance.now() - started) / 1000;
  const worked = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
  const rate = Math.round(ANIMALS / seconds).toLocaleString("en");
  return `${seconds.toFixed(1)} s, ${worked.toFixed(1)} s CPU, ${rate} animals a second`;
}

/** Sends a request every few milliseconds until it is told to stop; resolves with how long each took, and what failed. */
async function sendAtPace(send: () => Promise<Response>, isOver: () => boolean) {
  const waits: number[] = [];
  const responses = new Map<number, number>();
  while (!isOver()) {
    const started = performance.now();
    const { status } = await send();
    waits.push(performance.now() - started);
    responses.set(status, (responses.get(status) ?? 0) + 1);
    await Bun.sleep(PACE);
  }
  const sorted = waits.toSorted((a, b) => a - b);
  const ms = (share: number) => `${sorted[Math.floor((sorted.length - 1) * share)]?.toFixed(0)} ms`;
  return `median ${ms(0.5)}, p99 ${ms(0.99)}, longest ${ms(1)}; responses ${JSON.stringify(Object.fromEntries(responses))}`;
}

async function besideService(): Promise<void> {
  const { dataDir, key } = await newStore("beside");
  const program = await Program.start(dataDir, { PETSTORE_LOG_LEVEL: "info", PETSTORE_ENV: "staging" });
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const body = '{"name":"Rex","categoryId":1}';
  let isOver = false;
  const creates = sendAtPace(
    () => fetch(`${program.base}/pets`, { method: "POST", headers, body }),
    () => isOver,
  );
  const reads = sendAtPace(
    () => fetch(`${program.base}/pets?limit=20`, { headers }),
    () => isOver,
  );
  console.log(`import alongside a service: ${await timed(["import", files.jsonl], dataDir)}`);
  isOver = true;
  console.log(`  creates during the import: ${await creates}`);
  console.log(`  reads during the import:   ${await reads}`);
  await program.end();
}

try {
  writeFiles();
  for (const format of ["jsonl", "csv"] as const) {
    const { dataDir } = await newStore(format);
    console.log(`import ${format}: ${await timed(["import", files[format]], dataDir)}`);
    console.log(`export ${format}: ${await timed(["export", join(folder, `out.${format}`)], dataDir)}`);
  }
  await besideService();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
