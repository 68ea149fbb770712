// The limits on the number of records, with many requests and several processes.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { callerWith } from "../../../test/harness/callers.ts";
import { failureOf } from "../../../test/harness/failure-of.ts";
import { ManualClock } from "../../../test/harness/manual-clock.ts";
import { newTestStore, type TestStore } from "../../../test/harness/test-store.ts";
import { type Caller, shopNumber } from "../../contract/caller.ts";
import { failure } from "../../contract/errors.ts";
import type { CompletedRequest } from "../../http/interfaces.ts";
import type { OpenStorage } from "../../storage/storage.ts";
import { DAY_MS, type ExpiryTime } from "../../timing/clock.ts";
import { petNotFound } from "../pets/pets.operations.ts";
import { RequestRecorder } from "./request-recorder.ts";
import { MAX_RECORDS } from "./requests.operations.ts";
import { RequestStore } from "./requests.store.ts";
import { NO_SHOP, type StoredRequest, toStoredRequest } from "./stored-request.ts";

let testStore: TestStore;
let storage: OpenStorage;
let store: RequestStore;
let clock: ManualClock;
let count = 0;
beforeEach(async () => {
  testStore = await newTestStore();
  storage = await testStore.open();
  store = new RequestStore(storage);
  clock = new ManualClock();
  await testStore.run("INSERT INTO shops (account_id, mode) VALUES ('acc_1', 'test'), ('acc_2', 'test')");
});
afterEach(async () => {
  await storage.close();
  await testStore.remove();
});

const caller = (keyId = "key_1", shop = 1) => callerWith({ keyId, accountId: `acc_${shop}`, shop: shopNumber(shop) });

const answered = (client: Caller | string, hasFailed = true): CompletedRequest => ({
  id: `0-${(count++).toString(36)}`,
  clientRequestId: undefined,
  caller: typeof client === "string" ? undefined : client,
  address: undefined,
  method: "GET",
  operation: undefined,
  path: undefined,
  status: hasFailed ? 404 : 201,
  failed: hasFailed ? failure(petNotFound, "No.") : undefined,
  stage: hasFailed ? "handle" : undefined,
  admission: undefined,
  isReplay: false,
  duration: 1,
});

/** Sends a recorder this many requests at once. */
function flood(recorder: RequestRecorder, client: Caller | string, requests: number, hasFailed = true): void {
  for (let request = 0; request < requests; request++) {
    if (recorder.accepts(client, hasFailed)) recorder.add(answered(client, hasFailed));
  }
}

async function kept(shop = 1): Promise<number> {
  const [row] = await testStore.rows(`SELECT count(*) AS kept FROM request_records WHERE shop = ${shop}`);
  return Number((row as { kept: bigint | number }).kept);
}

test("a flood of rejections writes ten records a second for each key, across all processes", async () => {
  const processes = [new RequestRecorder(store, clock), new RequestRecorder(store, clock)];
  for (let second = 1; second <= 2; second++) {
    for (const recorder of processes) {
      flood(recorder, caller("key_1"), 5_000);
      flood(recorder, caller("key_2"), 5_000);
      expect(recorder.size.waiting).toBe(20);
    }
    await Promise.all(processes.map((recorder) => recorder.save()));
    expect(await kept()).toBe(20 * second);
    clock.advance(1_000);
  }
  expect(processes[0]?.size.unrecorded).toBe(2 * 2 * 4_990);
});

test("a failure among many changes is recorded", async () => {
  const recorder = new RequestRecorder(store, clock);
  flood(recorder, caller(), 1_000, false);
  flood(recorder, caller(), 1_000, true);
  await recorder.saveAll();
  const { items } = await storage.read(store.page(shopNumber(1), {}, undefined, 100));
  expect(items.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
    ...Array(8).fill(201),
    404,
    404,
  ]);
});

test("anonymous clients have fifty records a second together, and ten for each address", async () => {
  const processes = [new RequestRecorder(store, clock), new RequestRecorder(store, clock)];
  for (const recorder of processes) {
    flood(recorder, "192.0.2.1", 1_000);
    expect(recorder.size.waiting).toBe(10);
    for (let address = 0; address < 1_000; address++) flood(recorder, `198.51.100.${address}`, 1);
    expect(recorder.size.waiting).toBe(50);
    await recorder.saveAll();
  }
  expect(await kept(NO_SHOP)).toBe(50);
});

/** Records of a shop, each in a different second. */
const many = (shop: number, records: number): StoredRequest[] =>
  Array.from({ length: records }, () => {
    clock.advance(1_000);
    return toStoredRequest(answered(caller("key_1", shop)), clock.now());
  });

test("a shop has at most 10,000 records, of which the oldest are deleted, and no other shop's", async () => {
  await store.add(many(2, 5));
  for (let batch = 0; batch < 11; batch++) await store.add(many(1, 1_000));
  const newest = many(1, 7);
  await store.add(newest);
  expect(await kept(1)).toBe(MAX_RECORDS);
  expect(await kept(2)).toBe(5);
  const { items } = await storage.read(store.page(shopNumber(1), {}, undefined, 7));
  expect(items.map(({ id }) => id)).toEqual(newest.map(({ id }) => id).toReversed());
});

test("old records are deleted in parts, in every shop", async () => {
  const old = Array.from({ length: 700 }, (_, index) => {
    clock.advance(1_000);
    return toStoredRequest(answered(caller("key_1", (index % 2) + 1)), clock.now());
  });
  await store.add(old);
  await store.add([toStoredRequest(answered("192.0.2.1"), clock.now())]);
  clock.advance(7 * DAY_MS);
  await store.add([toStoredRequest(answered(caller()), clock.now())]);
  await store.sweep((clock.now() + 1) as ExpiryTime);
  await store.sweep((clock.now() + 1) as ExpiryTime);
  expect([await kept(1), await kept(2), await kept(NO_SHOP)]).toEqual([1, 0, 0]);
});

test("records are kept in bounded memory while the store fails, and written once", async () => {
  let failing: "before" | "after" | undefined = "before";
  const write: typeof storage.write = async (body) => {
    if (failing === "before") throw new Error("full");
    const result = await storage.write(body);
    if (failing === "after") throw new Error("lost");
    return result;
  };
  const recorder = new RequestRecorder(new RequestStore(Object.assign(Object.create(storage), { write })), clock);
  for (let second = 0; second < 1_010; second++) {
    flood(recorder, caller(), 10);
    clock.advance(1_000);
  }
  expect(recorder.size).toEqual({ waiting: 10_000, unrecorded: 100 });
  expect((await failureOf(recorder.save()))?.message).toBe("full");
  failing = "after";
  expect((await failureOf(recorder.save()))?.message).toBe("lost");
  failing = undefined;
  expect(recorder.size.waiting).toBe(10_000);
  await recorder.save();
  expect([recorder.size.waiting, await kept()]).toEqual([9_500, 500]);
});

test("a batch is written in one transaction, however many shops it has", async () => {
  let transactions = 0;
  const write: typeof storage.write = (body) => {
    transactions++;
    return storage.write(body);
  };
  await new RequestStore(Object.assign(Object.create(storage), { write })).add([...many(2, 3), ...many(1, 4)]);
  expect([transactions, await kept(1), await kept(2)]).toEqual([1, 4, 3]);
});

test("a batch that cannot be written for one shop uses no numbers of another", async () => {
  await store.add(many(1, 3));
  const [record] = many(2, 1);
  const batch = [...many(1, 2), { ...(record as StoredRequest), id: null as never }];
  for (let attempt = 1; attempt <= 2; attempt++) await failureOf(store.add(batch));
  expect(await kept(1)).toBe(3);
  await store.add(batch.slice(0, 2));
  const numbers = await testStore.rows("SELECT last FROM request_numbers WHERE shop = 1");
  expect(numbers.map((row) => Number((row as { last: bigint | number }).last))).toEqual([5]);
});

test("requests are counted by address and status, in all shops", async () => {
  const from = (address: string, client: Caller | string, hasFailed: boolean) =>
    toStoredRequest({ ...answered(client, hasFailed), address }, clock.now());
  const before = toStoredRequest(answered("192.0.2.1"), clock.now() - 1);
  const records = [
    from("192.0.2.1", caller("key_1", 1), false),
    from("192.0.2.1", caller("key_2", 2), false),
    from("192.0.2.1", caller("key_2", 2), true),
    from("192.0.2.2", "192.0.2.2", true),
  ];
  await store.add([before, ...records]);
  const counts = await store.addresses(clock.now());
  expect(counts.map(({ name, status, requests }) => `${name} ${status} ${requests}`).toSorted()).toEqual([
    "192.0.2.1 201 2",
    "192.0.2.1 404 1",
    "192.0.2.2 404 1",
  ]);
});

test("records of a shop whose data was deleted are dropped", async () => {
  const recorder = new RequestRecorder(store, clock);
  flood(recorder, caller("key_1", 1), 3);
  flood(recorder, caller("key_2", 2), 3);
  await testStore.run("UPDATE shops SET account_id = NULL WHERE shop = 1");
  await recorder.saveAll();
  expect([await kept(1), await kept(2)]).toEqual([0, 3]);
});
