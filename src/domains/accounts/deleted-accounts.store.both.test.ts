// Finding deleted accounts reads all accounts, so it is only done when there may be one.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { ManualClock } from "../../../test/harness/manual-clock.ts";
import { readStepwise } from "../../../test/harness/stepwise-read.ts";
import { newTestStore, type TestStore } from "../../../test/harness/test-store.ts";
import { StorageUnavailable } from "../../storage/errors.ts";
import type { OpenStorage } from "../../storage/storage.ts";
import { MINUTE_MS } from "../../timing/clock.ts";
import { DeletedShops } from "../shops/deleted-shops.store.ts";
import { deletedAccounts } from "./accounts.statements.ts";
import { AccountStore } from "./accounts.store.ts";
import { DeletedAccounts } from "./deleted-accounts.store.ts";

let store: TestStore;
let storage: OpenStorage;
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
  const during = { read: () => {} };
  let reads = 0;
  const read = storage.read.bind(storage);
  storage.read = (transaction) =>
    readStepwise(read, transaction, ({ statement }) => {
      if (statement !== deletedAccounts) return;
      reads++;
      during.read();
    });
  /** Deletes what remains. Resolves with the number of reads of the accounts. */
  const remaining = async () => {
    reads = 0;
    await deleted.deleteRemaining();
    return reads;
  };
  return { gone, shops, deleted, during, remaining };
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
  const { deleted, during, remaining } = deletion();
  during.read = () => deleted.noteChange(); // the read may not see it
  expect(await remaining()).toBe(1);
  during.read = () => {};
  expect([await remaining(), await remaining()]).toEqual([1, 0]);
  deleted.noteChange();
  during.read = () => {
    throw new StorageUnavailable("Away.");
  };
  const failed: unknown = await deleted.deleteRemaining().catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(StorageUnavailable);
  during.read = () => {};
  expect([await remaining(), await remaining()]).toEqual([1, 0]);
});
