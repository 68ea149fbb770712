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

test("no name that a command prints controls the terminal or turns the text around it", async () => {
  const dataDir = newDataDir();
  const name = "Shop \u202elatot\u2066\u200f";
  const { id } = await runJsonInProcess(dataDir, ["accounts", "create", "--name", name, "--plan", "pro"]);
  await runInProcess(dataDir, ["keys", "create", "--account", id, "--name", name]);
  const printed = async (...words: string[]) => {
    const { stdout, stderr } = await runInProcess(dataDir, words);
    return stdout + stderr;
  };
  for (const words of [
    ["accounts", "list"],
    ["accounts", "show", id],
    ["keys", "list", "--account", id],
    ["keys", "list", "--account", name], // an error that names it
  ]) {
    const shown = await printed(...words);
    expect([words, /[\u202e\u2066\u200f]|(?!\n)\p{Cc}/u.test(shown)]).toEqual([words, false]);
    expect(shown).toContain("Shop \\u202elatot\\u2066\\u200f");
    const json = await printed(...words, "--json");
    expect([words, /[\u202e\u2066\u200f]/.test(json)]).toEqual([words, false]);
  }
  const [key] = await runJsonInProcess(dataDir, ["keys", "list", "--account", id]);
  expect(key.name).toBe(name);
});
