// Two processes that are to serve one data folder: the second one is refused.
import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { environment } from "../harness/keys.ts";
import { newDataDir, Program, runCommand, runJson } from "../harness/program.ts";

const listens = ({ output }: Program) => output.includes('"event":"listening"');
const refusal = (dataDir: string) => `The store at ${join(dataDir, "petstore.db")} is served by another process`;

describe("a second process on the same data folder", () => {
  test("is refused with the process id and address of the first one, while commands work alongside it", async () => {
    const first = await Program.start(newDataDir());
    const { dataDir } = first;
    const second = await runCommand(dataDir, ["serve"]);
    expect([second.status, second.stdout]).toEqual([1, ""]);
    expect(second.stderr).toStartWith(`${refusal(dataDir)}: process ${first.child.pid}, ${first.base}.`);
    const [{ id }] = await runJson(dataDir, ["accounts", "list"]);
    const { key } = await runJson(dataDir, ["keys", "create", "--account", id]);
    expect((await fetch(`${first.base}/pets`, { headers: { Authorization: `Bearer ${key}` } })).status).toBe(200);
    for (const words of [
      ["export", join(dataDir, "out.csv")],
      ["import", join(dataDir, "out.csv"), "--ids", "new", "--on-existing", "skip"],
      ["backups", "take", "--file", join(dataDir, "copy.db")],
      ["keys", "list"],
    ]) {
      expect(await runCommand(dataDir, words)).toMatchObject({ status: 0 });
    }
    expect(await first.end()).toBe(0);
    const third = await Program.start(dataDir);
    expect(await third.end()).toBe(0);
  });

  test("is refused in another folder whose store is a link to the first one", async () => {
    const first = await Program.start(newDataDir(), environment);
    const linked = newDataDir();
    symlinkSync(join(first.dataDir, "petstore.db"), join(linked, "petstore.db"));
    const { status, stderr } = await runCommand(linked, ["serve"], environment);
    expect([status, stderr]).toEqual([1, expect.stringContaining(refusal(first.dataDir))]);
    expect(await first.end()).toBe(0);
    const second = await Program.start(linked, environment);
    expect(await second.end()).toBe(0);
  });

  test("starts at once if the first was killed, without any cleanup", async () => {
    const first = await Program.start(newDataDir(), environment);
    await first.end("SIGKILL");
    const second = await Program.start(first.dataDir, environment);
    const third = await runCommand(first.dataDir, ["serve"], environment);
    expect(third.stderr).toStartWith(`${refusal(first.dataDir)}: process ${second.child.pid}, ${second.base}.`);
    expect(await second.end()).toBe(0);
  });

  test("is refused, and so is every further one, if several start at the same moment", async () => {
    const dataDir = newDataDir();
    const programs = Array.from({ length: 3 }, () => new Program(dataDir, environment));
    await Promise.all(
      programs.map((program) => Promise.race([program.until(() => listens(program)), program.child.exited])),
    );
    expect(programs.filter(listens)).toHaveLength(1);
    for (const program of programs) {
      if (listens(program)) expect(await program.end()).toBe(0);
      else expect([await program.child.exited, program.errors]).toEqual([1, expect.stringContaining(refusal(dataDir))]);
    }
  });

  test("is not detected if the folder cannot be locked, and the log says so", async () => {
    const dataDir = newDataDir();
    mkdirSync(join(dataDir, "petstore.lock"));
    const program = await Program.start(dataDir, environment);
    expect(program.output).toContain('"level":"warn","event":"data_folder_not_locked"');
    expect(await program.end()).toBe(0);
  });
});
