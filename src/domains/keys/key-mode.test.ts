import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
