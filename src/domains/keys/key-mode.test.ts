import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrations } from "../../storage/migrations.ts";
import { openDatabase } from "../../storage/sqlite/database.ts";
import { SqliteStorage } from "../../storage/sqlite/sqlite-storage.ts";
import { AccountStore } from "../accounts/accounts.store.ts";
import { AccountsError } from "../accounts/accounts.ts";
import { ensureKeyMode, keyModeOf } from "./key-mode.store.ts";
import { KeyStore } from "./keys.store.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-key-mode-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let stores = 0;
let file: string;
beforeEach(() => {
  file = join(folder, `${++stores}.db`);
});

async function withStorage<T>(work: (storage: SqliteStorage) => Promise<T>): Promise<T> {
  const storage = new SqliteStorage(file);
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

test("a new store belongs to nobody, and then to the first who says so", () =>
  withStorage(async (storage) => {
    expect(await keyModeOf(storage)).toBeUndefined();
    const modes = await Promise.all([
      storage.write(() => ensureKeyMode("test")),
      storage.write(() => ensureKeyMode("live")),
    ]);
    expect(modes).toEqual(["test", "test"]);
    expect(await keyModeOf(storage)).toBe("test");
  }));

test("the first key sets the mode, and no key of the other mode is made after it", () =>
  withStorage(async (storage) => {
    const keys = new KeyStore(storage, "live");
    const { id } = await new AccountStore(storage).createAccount("Corner shop", "free", undefined, 0);
    await keys.issueKey(id, "till", ["read"], 0);
    expect(await keyModeOf(storage)).toBe("live");
    const late = await new KeyStore(storage, "test").issueKey(id, "till", ["read"], 0).catch((error: unknown) => error);
    expect(late).toBeInstanceOf(AccountsError);
    expect(await keys.list()).toHaveLength(1);
  }));

test.each([
  ["psk_live_ab…wxyz", "live"],
  ["psk_test_ab…wxyz", undefined], // production's too, if its key was made in the wrong environment
] as const)("a store of before this was kept, with the key %s, belongs to %s", async (hint, mode) => {
  const older = openDatabase(file, 1, migrations.slice(0, 3));
  older.run("INSERT INTO accounts (id, name, plan, created_at) VALUES ('acc_1', 'Corner shop', 'free', 0)");
  older.run(
    `INSERT INTO api_keys (id, account_id, name, digest, hint, scopes, created_at)
     VALUES ('key_1', 'acc_1', 'till', 'digest', '${hint}', 'read', 0)`,
  );
  older.close();
  expect(await withStorage(keyModeOf)).toBe(mode as never);
});
