import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { runInProcess, runJsonInProcess } from "../../../test/harness/commands.ts";
import { newKeyIn } from "../../../test/harness/keys.ts";
import { newDataDir } from "../../../test/harness/program.ts";

test("keys list --unused lists valid keys that were not used for this long", async () => {
  const dataDir = newDataDir();
  const key = await newKeyIn(dataDir);
  const listed = async (time: string) =>
    (await runJsonInProcess(dataDir, ["keys", "list", "--account", key.accountId, "--unused", time])).map(
      (one: { id: string }) => one.id,
    );
  expect(await listed("90d")).toEqual([]);
  expect(await listed("0")).toEqual([key.id]);
  const { id } = await runJsonInProcess(dataDir, ["keys", "create", "--account", key.accountId]);
  await runJsonInProcess(dataDir, ["keys", "revoke", id]);
  expect(await listed("0")).toEqual([key.id]);
});

test("keys rotate says of a key without scopes that it has none", async () => {
  const dataDir = newDataDir();
  const key = await newKeyIn(dataDir);
  const database = new Database(join(dataDir, "petstore.db"));
  database.run("UPDATE api_keys SET scopes = ''");
  database.close();
  const { stdout } = await runInProcess(dataDir, ["keys", "rotate", key.id]);
  expect(stdout).toContain(`of account ${key.accountId}, scopes none. It is not shown again.`);
});

test("keys rotate says that the old key has ended if there is no overlap", async () => {
  const dataDir = newDataDir();
  const key = await newKeyIn(dataDir);
  const { stdout } = await runInProcess(dataDir, ["keys", "rotate", key.id, "--overlap", "0"]);
  expect(stdout).toMatch(/\nThe old key \S+ \(\S+\) has ended\.\n$/);
});
