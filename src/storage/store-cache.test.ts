import { beforeEach, expect, test } from "bun:test";
import type { Storage } from "./storage.ts";
import { StoreCache } from "./store-cache.ts";
import { type Transaction, waitFor } from "./transaction.ts";

/** What `catchUp` returns. */
let isExact = true;
/** A store to which no other process writes. */
const storage = {
  noticesEveryWrite: true,
  onOtherProcessChange: () => {},
  catchUp: () => isExact,
  /** For reads that wait at most once. */
  read<T>(transaction: Transaction<T>) {
    const { done, value } = transaction.next();
    if (done) return value;
    return (value as unknown as { waitsFor: Promise<unknown> }).waitsFor.then((found) => transaction.next(found).value);
  },
} as unknown as Storage;

interface Value {
  readonly text: string;
}
const newMemory = () =>
  new StoreCache<Value>(storage, {
    capacity: 80,
    shopCapacity: 20,
    sizeOf: ({ text }) => text.length,
    isCacheable: () => true,
  });

let values: StoreCache<Value>;
let reads: number;
beforeEach(() => {
  values = newMemory();
  reads = 0;
});

/** Gets a value of 10 bytes. Returns the number of the read that produced it. */
const get = (shop: number, key: string) => {
  const value = storage.read(
    values.get(shop, key, function* () {
      return { text: `${++reads}`.padStart(10, "0") };
    }),
  ) as Value;
  return Number(value.text);
};
const getTwice = (shop: number, key: string) => {
  get(shop, key);
  return get(shop, key);
};
/** True if a value is cached. */
const isKept = (shop: number, key: string) => {
  const before = reads;
  get(shop, key);
  return reads === before;
};

test("a value is cached when it is read twice, until it is invalidated", () => {
  expect([get(1, "a"), get(1, "a"), get(1, "a")]).toEqual([1, 2, 2]);
  values.forgetAll();
  expect([get(1, "a"), get(1, "a")]).toEqual([3, 3]);
});

test("an invalidation affects one shop only, even if another has the same keys", () => {
  const [one, other] = [getTwice(1, "a"), getTwice(2, "a")];
  values.forget(1);
  expect(get(2, "a")).toBe(other);
  expect(get(1, "a")).not.toBe(one);
});

test("a value is not cached if it is invalidated during its read", async () => {
  const late = Promise.withResolvers<Value>();
  get(1, "a");
  const early = storage.read(values.get(1, "a", () => waitFor(late.promise)));
  values.forget(1);
  late.resolve({ text: "old" });
  expect(await early).toEqual({ text: "old" });
  expect(get(1, "a")).toBe(2);
});

test("two simultaneous reads of a key take the memory of one", async () => {
  get(1, "a");
  const [first, second] = [Promise.withResolvers<Value>(), Promise.withResolvers<Value>()];
  const asked = [first, second].map(async ({ promise }) => storage.read(values.get(1, "a", () => waitFor(promise))));
  first.resolve({ text: "1234567890" });
  second.resolve({ text: "1234567890" });
  await Promise.all(asked);
  expect([isKept(1, "a"), values.bytes]).toEqual([true, 10]);
});

test("a shop that reads very much evicts its own values only", () => {
  getTwice(1, "a");
  for (let key = 0; key < 100; key++) getTwice(2, `${key}`);
  expect(isKept(1, "a")).toBe(true);
  expect(values.bytes).toBeLessThanOrEqual(80);
});

test("the recently used shops are kept, in this many bytes", () => {
  for (let shop = 1; shop <= 50; shop++) {
    getTwice(shop, "a");
    get(1, "a");
    expect(values.bytes).toBeLessThanOrEqual(80);
  }
  expect([isKept(1, "a"), isKept(50, "a"), isKept(2, "a")]).toEqual([true, true, false]);
});

test("nothing is cached or read from the cache while the store says that it is not exact", () => {
  expect([get(1, "a"), get(1, "a"), get(1, "a")]).toEqual([1, 2, 2]);
  isExact = false;
  expect([get(1, "a"), get(1, "a")]).toEqual([3, 4]);
  values.forgetAll();
  isExact = true;
  expect([get(1, "a"), get(1, "a")]).toEqual([5, 5]);
});

test("reads of one turn share a query that begins after it, if the engine does not notice every write", async () => {
  const shared = new StoreCache<Value>(Object.create(storage, { noticesEveryWrite: { value: false } }) as Storage, {
    capacity: 80,
    shopCapacity: 20,
    sizeOf: ({ text }) => text.length,
    isCacheable: () => true,
  });
  let written = "old";
  const ask = async (shop: number, key: string) =>
    storage.read(
      shared.get(shop, key, function* () {
        return { text: `${++reads} ${written}` };
      }),
    );
  const asked = [ask(1, "a"), ask(1, "b"), ask(2, "a"), ask(1, "a")];
  written = "new";
  asked.push(ask(1, "a"));
  const found = (await Promise.all(asked)).map(({ text }) => text);
  expect(found).toEqual(["1 new", "2 new", "3 new", "1 new", "1 new"]);
  expect(await ask(1, "a")).toEqual({ text: "4 new" });
});
