// Finding deleted accounts reads all accounts, so it is only done when there may be one.
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { ManualClock } from "../../../test/harness/manual-clock.ts";
import { newTestStore, type TestStore } from "../../../test/harness/test-store.ts";
import { StorageUnavailable } from "../../storage/errors.ts";
import type { Storage } from "../../storage/storage.ts";
import { MINUTE_MS } from "../../timing/clock.ts";
import { DeletedShops } from "../shops/deleted-shops.store.ts";
import { deletedAccounts } from "./accounts.statements.ts";
import { AccountStore } from "./accounts.store.ts";
import { DeletedAccounts } from "./deleted-accounts.store.ts";

let store: TestStore;
let storage: Storage;
let clock: ManualClock;
beforeEach(async () => {
  store = await newTestStore();
  storage = await store.open();
  clock = new ManualClock();
});
afterEach(async () => {
  await storage.close();
  await store.remove();
});

/** The deletion of accounts, and the ids of those that it has deleted. */
function deletion() {
  const gone: string[] = [];
  const shops = new DeletedShops(storage, []);
  const onDeleted = (id: string) => gone.push(id);
  const deleted = new DeletedAccounts({ storage, clock, shops, tables: [], forget: [], onDeleted });
  const all = spyOn(storage, "all");
  /** Deletes what remains. Resolves with the number of reads of the accounts. */
  const remaining = async () => {
    all.mockClear();
    await deleted.deleteRemaining();
    return all.mock.calls.filter(([statement]) => statement === deletedAccounts).length;
  };
  return { gone, shops, deleted, all, remaining };
}

test("accounts are read until none is deleted, and again after one may have changed", async () => {
  const { gone, shops, deleted, remaining } = deletion();
  const accounts = new AccountStore(storage, () => deleted.noteChange());
  const { id } = await accounts.createAccount("Corner shop", "free", undefined, clock.now());
  expect([await remaining(), await remaining(), await remaining()]).toEqual([1, 0, 0]);
  await accounts.rename(id, "Other shop");
  expect([await remaining(), await remaining()]).toEqual([1, 0]);

  await accounts.delete(id, clock.now());
  expect([await remaining(), await remaining(), gone]).toEqual([1, 1, []]); // it still has shops
  clock.advance(MINUTE_MS);
  await shops.deleteSome(clock.now());
  expect([await remaining(), gone]).toEqual([1, [id]]);
  expect([await remaining(), await remaining()]).toEqual([1, 0]);
});

test("after a change during a read, or a failed read, accounts are read again", async () => {
  const { deleted, all, remaining } = deletion();
  all.mockImplementationOnce(async () => {
    deleted.noteChange(); // the read did not see it
    return [];
  });
  expect([await remaining(), await remaining(), await remaining()]).toEqual([1, 1, 0]);
  deleted.noteChange();
  all.mockImplementationOnce(async () => {
    throw new StorageUnavailable("Away.");
  });
  const failed: unknown = await deleted.deleteRemaining().catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(StorageUnavailable);
  expect([await remaining(), await remaining()]).toEqual([1, 0]);
});
