import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DistantStorage } from "../../test/harness/distant-storage.ts";
import { development } from "../../test/harness/key-environments.ts";
import type { Caller } from "../contract/caller.ts";
import { AccountStore } from "../domains/accounts/accounts.store.ts";
import { CategoryStore } from "../domains/categories/categories.store.ts";
import { keyDigest } from "../domains/keys/api-key.ts";
import { KeyStore } from "../domains/keys/keys.store.ts";
import { PetPages } from "../domains/pets/lists/pets-by-id.store.ts";
import { SqliteStorage } from "../storage/sqlite/sqlite-storage.ts";
import { systemClock } from "../timing/clock.ts";
import { firstStart } from "./first-start.ts";
import { migrations } from "./schema.ts";

let folder: string;
let storage: DistantStorage;
let accounts: AccountStore;
let keys: KeyStore;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "petstore-first-start-"));
  storage = new DistantStorage(new SqliteStorage(join(folder, "petstore.db"), migrations));
  accounts = new AccountStore(storage);
  keys = new KeyStore(storage, development);
});
afterEach(async () => {
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

const start = async () => (await firstStart(storage, accounts, keys))?.key;

test("makes an account, its key and 24 animals in four categories, once", async () => {
  const key = await start();
  const owner = await storage.read(keys.findCaller(keyDigest(key ?? ""), Date.now()));
  expect(owner).toMatchObject({ scopes: new Set(["read", "write", "admin"]), perMinute: 1_000 });
  const { shop } = owner as Caller;
  const { items } = await storage.read(new PetPages(storage).page(shop, undefined, 100));
  expect(items).toHaveLength(24);
  expect(items.slice(0, 6).map(({ id, name }) => `${id} ${name}`)).toEqual([
    "1 Rex",
    "2 Bella",
    "3 Tom",
    "4 Luna",
    "5 Kiwi",
    "6 Nemo",
  ]);
  const categoryStore = new CategoryStore(storage, systemClock);
  const { items: categories } = await storage.read(categoryStore.page(shop, undefined, 100));
  expect(categories.map(({ id, name }) => `${id} ${name}`)).toEqual(["1 Dogs", "2 Cats", "3 Birds", "4 Fish"]);
  const accountsBefore = spyOn(accounts, "list");
  storage.reads = 0;
  expect(await start()).toBeUndefined();
  expect([storage.reads, accountsBefore.mock.calls]).toEqual([1, []]); // a store can have a million accounts
  expect(await keys.list()).toHaveLength(1);
});

test("leaves nothing if it was interrupted, and returns the key the next time", async () => {
  storage.writesLeft = 0;
  expect(await start().catch(() => "broken off")).toBe("broken off");
  expect(await accounts.list()).toEqual([]);
  storage.writesLeft = Number.POSITIVE_INFINITY;
  const key = await start();
  expect(await storage.read(keys.findCaller(keyDigest(key ?? ""), Date.now()))).toHaveProperty("keyId");
  expect([await accounts.list(), await keys.list()]).toMatchObject([{ length: 1 }, { length: 1 }]);
});
