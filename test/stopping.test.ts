// Signals at the moments at which they hurt.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { eventually, newDataDir, Program, runJson } from "./harness/program.ts";

/** Another program that has the store for itself alone, from before the service is started. */
async function lockedStore() {
  const dataDir = newDataDir();
  await runJson(dataDir, ["accounts", "list"]);
  const other = new Database(join(dataDir, "petstore.db"));
  other.run("PRAGMA locking_mode = EXCLUSIVE");
  other.run("BEGIN EXCLUSIVE");
  return { dataDir, other };
}
const isWaiting = ({ output }: Program) => output.includes("failed to open the store");

describe("a service that is told to stop during its start", () => {
  test("SIGTERM ends the wait for a store that another process has locked", async () => {
    const { dataDir, other } = await lockedStore();
    const program = new Program(dataDir);
    await program.until(() => isWaiting(program));
    expect([await program.end(), program.errors]).toEqual([0, ""]);
    other.close();
  });

  test("a store that another process has locked is waited for", async () => {
    const { dataDir, other } = await lockedStore();
    const program = new Program(dataDir);
    await program.until(() => isWaiting(program));
    other.close();
    await program.until(() => program.output.includes('"event":"listening"'));
    expect(program.output).toContain("psk_test_");
    expect(await program.end()).toBe(0);
  });

  test.each([
    ["at once", () => true, [0, 143]], // before the program has begun, the system ends it
    ["when the store is being made", ({ dataDir }: Program) => existsSync(join(dataDir, "petstore.db")), [0]],
    ["when it first says something", ({ output }: Program) => output !== "", [0]],
  ] as const)("SIGTERM %s is obeyed, and the next start is a whole one", async (_when, isMoment, statuses) => {
    const program = new Program(newDataDir());
    await eventually(
      () => new Promise<boolean>((resolve) => setImmediate(() => resolve(isMoment(program)))),
      (isNow) => isNow,
    );
    expect(statuses as readonly number[]).toContain(await program.end());
    expect(program.errors).toBe("");
    const next = await Program.start(program.dataDir);
    const shown = [program, next].flatMap(({ output }) => output.match(/psk_test_\w+/g) ?? []);
    const [key] = shown;
    const answer = await fetch(`${next.base}/pets`, { headers: { Authorization: `Bearer ${key}` } });
    expect(await answer.json()).toHaveLength(6);
    expect(new Set(shown).size).toBe(1);
    expect(await next.end()).toBe(0);
  });
});
