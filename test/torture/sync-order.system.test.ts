// Watches the system calls of the service: what it has acknowledged must have been synced before.
import { describe, expect, test } from "bun:test";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { Client } from "../harness/client.ts";
import { environment, newKey } from "../harness/keys.ts";
import { newDataDir, Program, serveCommand } from "../harness/program.ts";
import { controlCommand } from "./controls/command.ts";
import { folderViolations, syncOrderViolations } from "./sync-order.ts";
import { readSystemCalls } from "./system-calls.ts";

const traced = "trace=mkdir,mkdirat,fsync,fdatasync,write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg";
/** Some containers have strace and forbid it to trace. */
const canTrace = Bun.which("strace") !== null && Bun.spawnSync(["strace", "-o", "/dev/null", "true"]).success;

const CONNECTIONS = 8;
const ANIMALS = 120;
const names = Array.from({ length: ANIMALS }, (_, index) => `Traced-${String(index).padStart(4, "0")}`);

/** Creates animals over several connections of the traced program, which must make its folder first. */
async function trace(command: readonly string[]) {
  const above = realpathSync(newDataDir());
  const folders = [join(above, "made"), join(above, "made", "by-it")];
  const dataDir = folders[1] as string;
  const file = join(newDataDir(), "trace");
  const strace = ["strace", "-f", "-y", "-s", "8192", "-e", traced, "-o", file];
  const program = await Program.start(dataDir, environment, [...strace, ...command]);
  const client = new Client(program.base, await newKey(dataDir, { perMinute: 1_000, perDay: 1_000 }));
  const waiting = [...names];
  const connection = async () => {
    for (let name = waiting.pop(); name; name = waiting.pop()) {
      const { status } = await client.call("POST", "/pets", JSON.stringify({ name, categoryId: 1 }));
      expect(status).toBe(201);
    }
  };
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  } finally {
    // To the service itself: strace waits for its end, and so has written everything down.
    process.kill(Number(/"pid":(\d+)/.exec(program.output)?.[1]), "SIGKILL");
    await program.child.exited;
  }
  return { calls: readSystemCalls(await Bun.file(file).text()), folders, wal: join(dataDir, "petstore.db-wal") };
}

async function violationsOf(command: readonly string[]): Promise<string[]> {
  const { calls, wal } = await trace(command);
  return syncOrderViolations(calls, names, wal);
}

describe.skipIf(!canTrace)("by its system calls,", () => {
  test("the service sends a 201 only after the animal's sync has ended", async () => {
    const { calls, folders, wal } = await trace(serveCommand);
    expect(syncOrderViolations(calls, names, wal)).toEqual([]);
    expect(folderViolations(calls, folders)).toEqual([]); // a file in a folder that is lost is lost
  });

  test("control: a service that acknowledges before it commits is reported", async () => {
    const violations = await violationsOf(controlCommand("early"));
    const possible = new Set(names.map((name) => `${name}: answered before it was written`));
    expect(violations.filter((one) => !possible.has(one))).toEqual([]);
    expect(violations.length).toBeGreaterThan(names.length / 2); // on a busy machine some are written in time by chance
  });

  test.each(["off", "normal"] as const)("control: a service with synchronous=%s is reported", async (mode) => {
    const violations = await violationsOf(controlCommand(mode));
    expect(violations).toEqual(names.map((name) => `${name}: answered before it was synced`));
  });
});
