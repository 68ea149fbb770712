// The file of the store is gone, because it was deleted, moved, or its disk is not mounted. A new store would refuse all keys,
// and its backups would replace the good ones.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newKeyIn } from "../harness/keys.ts";
import { newDataDir, Program, programCommand, runCommand, runJson } from "../harness/program.ts";

const withoutCreate = [...programCommand, "serve"];
const storeIn = (dataDir: string) => join(dataDir, "petstore.db");
/** Starts a service that must refuse. Returns what it says. */
async function refusal(dataDir: string, settings: Record<string, string>, ...more: string[]): Promise<string> {
  const { status, stderr } = await runCommand(dataDir, ["serve", ...more], settings);
  expect([status, existsSync(storeIn(dataDir))]).toEqual([1, false]);
  return stderr;
}

test("no store is made next to a secret key or backups; what is left of the lost one brings it back", async () => {
  const [dataDir, folder] = [newDataDir(), newDataDir()];
  const settings = { PETSTORE_BACKUP_DIR: folder, PETSTORE_BACKUP_EVERY: "1h", PETSTORE_BACKUP_KEEP: "1" };
  await newKeyIn(dataDir);
  const program = await Program.start(dataDir, settings);
  await program.until(() => program.output.includes('"event":"backup_taken"'));
  await program.end();
  const backups = readdirSync(folder);
  rmSync(storeIn(dataDir));

  expect(await refusal(dataDir, settings)).toContain(`${join(dataDir, "secret.key")} is left of one`);
  expect(await refusal(dataDir, settings, "--create")).toContain("restore a backup");
  const create = await runCommand(dataDir, ["accounts", "create", "--name", "x", "--plan", "free"], settings);
  expect([create.status, create.stderr]).toEqual([1, expect.stringContaining("is left of one")]);
  rmSync(dataDir, { recursive: true });
  const backup = backups.find((name) => name.endsWith(".db")) ?? "";
  expect(await refusal(dataDir, settings)).toContain(`${join(folder, backup)} is left of one`);
  expect(readdirSync(folder)).toEqual(backups);

  await runJson(dataDir, ["restore", join(folder, backup), "--yes"], settings);
  const again = await Program.start(dataDir, settings);
  await again.until(() => again.output.includes('"event":"backup_taken"'));
  expect(readdirSync(folder)).toContain(backup); // it is of the store before the restore
  expect(again.output.match(/"event":"store_new"/g)).toHaveLength(1);
  expect(await again.end()).toBe(0);
});

test("in production, a store is made only by --create, or with its first account", async () => {
  const settings = { PETSTORE_ENV: "production" };
  const dataDir = newDataDir();
  expect(await refusal(dataDir, settings)).toContain("`serve --create` or `accounts create` makes the first one.");
  const program = await Program.start(dataDir, settings, [...withoutCreate, "--create"]);
  expect(program.output.match(/"event":"store_new"/g)).toHaveLength(1);
  expect(await program.end()).toBe(0);
  const again = await Program.start(dataDir, settings, withoutCreate);
  expect(again.output).not.toContain("store_new");
  expect(await again.end()).toBe(0);

  const other = newDataDir();
  await newKeyIn(other, { settings });
  expect(await (await Program.start(other, settings, withoutCreate)).end()).toBe(0);
});
