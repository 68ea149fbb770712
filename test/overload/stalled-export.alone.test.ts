// An export whose output nobody reads, next to a service that writes.
import { expect, test } from "bun:test";
import { closeSync, constants, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runJsonInProcess } from "../harness/commands.ts";
import { environment, newKeyIn } from "../harness/keys.ts";
import { eventually, newDataDir, Program } from "../harness/program.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";

const MB = 1024 * 1024;
/** The most memory that the export may have, and that the service may add, in megabytes. The output has 240. */
const [EXPORT, SERVICE] = [160, 100];

/** An animal with as much metadata as it may have. */
const large = JSON.stringify({
  name: "Rex",
  categoryId: 1,
  metadata: Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`key${index}`, "x".repeat(490)])),
});

/** The most memory that a process has had, in megabytes. */
const peak = (pid: number) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

test("a stalled export holds little memory and no snapshot, so the log does not grow, and ends well once it is read", async () => {
  const service = await Program.start(newDataDir(), environment);
  const { dataDir } = service;
  const { key } = await newKeyIn(dataDir, { quota: unlimitedQuota, settings: environment });
  const animals = join(dataDir, "animals.jsonl");
  writeFileSync(animals, `${large}\n`.repeat(60_000));
  await runJsonInProcess(dataDir, ["import", animals], environment);
  /** Lets the service write. Returns the size of the log afterwards. */
  const write = async () => {
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const add = () => fetch(`${service.base}/pets`, { method: "POST", headers, body: large });
    for (const { status } of await Promise.all(Array.from({ length: 20 }, add))) expect(status).toBe(201);
    return statSync(join(dataDir, "petstore.db-wal")).size;
  };
  await eventually(write, (bytes) => bytes <= 16 * MB); // the import made it longer
  const fifo = join(dataDir, "fifo");
  Bun.spawnSync(["mkfifo", fifo]);
  openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK); // the reader, which does not read
  const output = openSync(fifo, "w");
  const main = join(import.meta.dir, "../../src/main.ts");
  const child = Bun.spawn([process.execPath, main, "export", "-", "--format", "jsonl"], {
    env: { ...process.env, ...environment, PETSTORE_DATA_DIR: dataDir },
    stdout: output,
    stderr: "pipe",
  });
  closeSync(output);
  const rest = peak(service.child.pid);
  const isFull = () => Bun.spawnSync(["dd", `if=${fifo}`, "of=/dev/null", "bs=1", "count=1", "iflag=nonblock"]).success;
  await eventually(isFull); // the export has begun to write
  // With a snapshot, it would hold all that is written: 4,000 animals and their events are 37 MB.
  for (let round = 0; round < 200; round++) expect(await write()).toBeLessThanOrEqual(24 * MB);
  console.log(
    `export: ${peak(child.pid).toFixed()} MB, service: ${(peak(service.child.pid) - rest).toFixed()} MB more`,
  );
  expect(peak(child.pid)).toBeLessThan(EXPORT);
  expect(peak(service.child.pid) - rest).toBeLessThan(SERVICE);
  Bun.spawn(["cat", fifo], { stdout: "ignore" });
  expect([await child.exited, await new Response(child.stderr).text()]).toEqual([
    0,
    expect.stringContaining("60,020 animals"),
  ]);
  await service.end();
  rmSync(dataDir, { recursive: true });
});
