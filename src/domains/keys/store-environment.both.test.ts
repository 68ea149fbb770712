import { afterAll, beforeEach, expect, test } from "bun:test";
import { development, production } from "../../../test/harness/key-environments.ts";
import { newTestStore, type TestStore } from "../../../test/harness/test-store.ts";
import { belongsToProduction, recordEnvironment } from "../../storage/environment.ts";
import type { OpenStorage } from "../../storage/storage.ts";
import { AccountStore } from "../accounts/accounts.store.ts";
import { KeyStore } from "./keys.store.ts";

const stores: TestStore[] = [];
afterAll(() => Promise.all(stores.map((store) => store.remove())));
let store: TestStore;
beforeEach(async () => {
  store = await newTestStore();
  stores.push(store);
});

async function withStorage<T>(work: (storage: OpenStorage) => Promise<T>): Promise<T> {
  const storage = await store.open();
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

const newAccount = async (storage: OpenStorage) =>
  (await new AccountStore(storage).createAccount("Corner shop", "free", undefined, 0)).id;

test("a new store belongs to no environment until it is assigned to one", () =>
  withStorage(async (storage) => {
    expect(await belongsToProduction(storage)).toBeUndefined();
    const said = [false, true].map((isProduction) => storage.write(() => recordEnvironment(isProduction)));
    const [one, other] = await Promise.all(said);
    expect([other, await belongsToProduction(storage)]).toEqual([one, one]);
  }));

test.each(["live", "test"] as const)("the first %s key of production makes a store production's", (mode) =>
  withStorage(async (storage) => {
    const id = await newAccount(storage);
    const keys = new KeyStore(storage, production);
    await keys.issueKey(id, "till", ["read"], 0, mode);
    expect(await belongsToProduction(storage)).toBe(true);
    const late = new KeyStore(storage, development).issueKey(id, "till", ["read"], 0);
    expect(await late.catch((error: Error) => error.message)).toBe("The store belongs to another environment.");
    expect((await keys.list()).map((key) => key.mode)).toEqual([mode]);
  }),
);

test("no live key is created outside production", () =>
  withStorage(async (storage) => {
    const keys = new KeyStore(storage, development);
    const live = keys.issueKey(await newAccount(storage), "till", ["read"], 0, "live");
    expect(await live.catch((error: Error) => error.message)).toBe("Live keys exist in production only.");
    expect(await keys.list()).toEqual([]);
  }));
