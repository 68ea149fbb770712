import { heapStats } from "bun:jsc";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { callerWith } from "../../../test/harness/callers.ts";
import { failureOf } from "../../../test/harness/failure-of.ts";
import { ManualClock, NOON } from "../../../test/harness/manual-clock.ts";
import { nextOf } from "../../../test/harness/next-page.ts";
import { numbers } from "../../../test/harness/numbers.ts";
import { TestService } from "../../../test/harness/service.ts";
import { onPostgres } from "../../../test/harness/test-store.ts";
import { modes, type ShopName } from "../../contract/caller.ts";
import type { Operation } from "../../contract/operation.ts";
import { query } from "../../storage/statement.ts";
import type { OpenStorage } from "../../storage/storage.ts";
import { all, first } from "../../storage/transaction.ts";
import { DAY_MS, type ExpiryTime, HOUR_MS, MINUTE_MS } from "../../timing/clock.ts";
import { UsageStore } from "./usage.store.ts";
import { UsageCounter } from "./usage-counter.ts";

let service: TestService;
let key: string;
let accountId: string;
beforeEach(async () => {
  service = await TestService.start();
  const made = await service.newAccountWithKey("enterprise", undefined, ["read", "write"]);
  key = made.key;
  accountId = made.account.id;
});
afterEach(() => service.stop());

const get = (path: string, by = key) => service.call("GET", path, { key: by });
const usage = async (granularity: string) => (await get(`/usage?granularity=${granularity}&limit=100`)).json;
const at = (milliseconds: number) => new Date(NOON + milliseconds).toISOString();

describe("getUsage", () => {
  test("counts requests by operation and status, in hours and days", async () => {
    expect(await usage("hour")).toEqual([]);
    await get("/pets");
    await get("/pets?zzz=1");
    await get("/nothing");
    service.clock.advance(MINUTE_MS);
    await get("/pets");
    service.clock.advance(HOUR_MS);
    await service.call("POST", "/pets", { key, body: { name: "Ida", categoryId: 1 } });

    const [later, earlier] = await usage("hour");
    expect(later).toEqual({
      start: at(HOUR_MS),
      requests: 1,
      operations: [{ operation: "createPet", status: 201, requests: 1 }],
    });
    expect(earlier).toEqual({
      start: at(0),
      requests: 4,
      operations: [
        { status: 404, requests: 1 },
        { operation: "listPets", status: 200, requests: 2 },
        { operation: "listPets", status: 400, requests: 1 },
      ],
    });
    const days = await usage("day");
    expect(days).toHaveLength(1);
    expect(days[0]).toMatchObject({ start: at(-12 * HOUR_MS), requests: 5 });
    expect(await usage("hour")).toHaveLength(2); // reading the usage is not counted
  });

  test("counts requests over a limit and all keys of an account together, but not other accounts", async () => {
    const { key: small, account } = await service.newAccountWithKey("enterprise", { perMinute: 2, perDay: 9 }, [
      "read",
    ]);
    const { key: second } = await service.app.keys.issueKey(account.id, "second", ["read"], service.clock.now());
    for (const by of [small, second, small, second, second]) await get("/pets", by);
    expect((await get("/usage", second)).json[0].operations).toEqual([
      { operation: "listPets", status: 200, requests: 2 },
      { operation: "listPets", status: 429, requests: 3 },
    ]);
    expect(await usage("day")).toEqual([]);
  });

  test("counts one key, saved or not, and marks deprecated operations", async () => {
    const { key: second, record } = await service.app.keys.issueKey(accountId, "second", ["read"], service.clock.now());
    await get("/pets");
    await get("/pets/99");
    await get("/pets", second);
    const of = async (keyId: string, granularity: string) =>
      (await get(`/usage?granularity=${granularity}&keyId=${keyId}`)).json.map(
        (one: { operations: unknown }) => one.operations,
      );
    const own = [{ operation: "listPets", status: 200, requests: 1 }];
    const listed = { operation: "listPets", status: 200, requests: 2 };
    const missing = { operation: "getPet", status: 404, requests: 1, deprecated: true };
    for (const granularity of ["hour", "day"]) {
      expect(await of(record.id, granularity)).toEqual([own]);
      expect((await usage(granularity))[0].operations).toEqual([missing, listed]);
      expect(await of("key_unknown", granularity)).toEqual([]);
    }
    service = await service.restart();
    for (const granularity of ["hour", "day"]) {
      expect(await of(record.id, granularity)).toEqual([own]);
      expect((await usage(granularity))[0].operations).toEqual([missing, listed]);
    }
  });

  test("covers thirty days in hours and days", async () => {
    await get("/pets");
    service.clock.advance(30 * DAY_MS);
    expect([await usage("hour"), await usage("day")].map(({ length }) => length)).toEqual([1, 1]);
    service.clock.advance(HOUR_MS);
    expect([await usage("hour"), await usage("day")].map(({ length }) => length)).toEqual([0, 1]);
    service.clock.advance(DAY_MS);
    expect(await usage("day")).toHaveLength(0);
  });

  test.each(["hour", "day"] as const)("is read page by page in each %s", async (granularity) => {
    const length = { hour: HOUR_MS, day: DAY_MS }[granularity];
    for (let interval = 0; interval < 7; interval++) {
      await get("/pets");
      service.clock.advance(interval % 2 === 0 ? length : 2 * length);
    }
    const whole = await usage(granularity);
    expect(whole).toHaveLength(7);
    const seen: unknown[] = [];
    let path: string | undefined = `/usage?granularity=${granularity}&limit=2`;
    while (path) {
      const { json, headers } = await get(path);
      seen.push(...json);
      path = nextOf({ headers });
    }
    expect(seen).toEqual(whole);
  });

  test("survives a restart", async () => {
    await get("/pets");
    service = await service.restart();
    await get("/pets");
    expect((await usage("hour"))[0].operations).toEqual([{ operation: "listPets", status: 200, requests: 2 }]);
  });
});

describe("usage", () => {
  const operation = { name: "listPets" } as Operation;
  const caller = callerWith();
  const rows = query<[], { rows: bigint }>("SELECT count(*) AS rows FROM usage_counts");
  const accountsIn = query<[], { account_id: string }>(
    "SELECT DISTINCT account_id FROM usage_counts ORDER BY account_id",
  );
  let storage: OpenStorage;
  let store: UsageStore;
  let clock: ManualClock;
  beforeEach(async () => {
    storage = await service.store.open();
    store = new UsageStore(storage);
    clock = new ManualClock();
    await service.store.run(`
      ${numbers(999, 0)} INSERT INTO accounts (id, name, plan, created_at) SELECT 'acc_' || n, 'Test', 'pro', 0 FROM numbers
    `);
  });
  afterEach(() => storage.close());

  /** The usage of a shop, stored or not. */
  const pageOf = async (counter: UsageCounter, shop: ShopName) =>
    (await storage.read(counter.page(shop, "hour", { before: undefined, limit: 9 }))).items;
  const accountsKept = async () => (await storage.read(all(accountsIn))).map(({ account_id }) => account_id);
  const rowCount = async () => Number((await storage.read(first(rows)))?.rows);
  const shopOf = (account: string) => ({ accountId: account, mode: caller.mode });
  const requestsOf = async (account: string) =>
    (
      await storage.read(
        store.page(shopOf(account), "day", { before: undefined, limit: 9, now: clock.now(), unsaved: () => [] }),
      )
    ).items[0]?.requests;

  test("is saved in parts if many accounts are active, without loss or duplicates", async () => {
    const counter = new UsageCounter(store, clock);
    const accounts = Array.from({ length: 1_000 }, (_, index) => `acc_${index}`);
    for (let time = 0; time < 3; time++) {
      for (const account of accounts) counter.count({ ...caller, accountId: account }, operation, 200);
    }
    expect(counter.size).toEqual({ counts: 1_000, uncounted: 0 });
    await counter.save();
    expect(counter.size).toEqual({ counts: 750, uncounted: 0 });
    expect([await requestsOf("acc_0"), await requestsOf("acc_999")]).toEqual([3, undefined]);
    expect(await pageOf(counter, shopOf("acc_999"))).toMatchObject([{ operations: [{ status: 200, requests: 3 }] }]);
    await counter.saveAll();
    expect(counter.size).toEqual({ counts: 0, uncounted: 0 });
    for (const account of accounts) expect([account, await requestsOf(account)]).toEqual([account, 3]);
    expect(await rowCount()).toBe(2_000); // for keys and shops
  });

  test("is read exactly once at any moment, also during a save", async () => {
    const counter = new UsageCounter(store, clock);
    const seen = async () => (await pageOf(counter, shopOf("acc_1")))[0]?.requests;
    for (let request = 1; request <= 3; request++) {
      counter.count(caller, operation, 200);
      expect(await seen()).toBe(request);
      const progress = { isSaved: false };
      const saved = counter.save().then(() => {
        progress.isSaved = true;
      });
      while (!progress.isSaved) {
        const reads: Promise<unknown>[] = [];
        for (let turn = 0; turn < 20; turn++) {
          reads.push(seen());
          await new Promise((resolve) => setImmediate(resolve));
        }
        expect(new Set(await Promise.all(reads))).toEqual(new Set([request]));
      }
      await saved;
      expect(await seen()).toBe(request);
    }
  });

  test("is counted separately for the live shop and the sandbox, saved or not", async () => {
    const counter = new UsageCounter(store, clock);
    const live = { ...caller, mode: "live" as const, keyId: "key_2" };
    const requests = async (shop: ShopName) => (await pageOf(counter, shop)).map((interval) => interval.requests);
    for (let time = 0; time < 3; time++) counter.count(caller, operation, 200);
    counter.count(live, operation, 200);
    expect([await requests(caller), await requests(live)]).toEqual([[3], [1]]);
    await counter.save();
    expect([await requests(caller), await requests(live)]).toEqual([[3], [1]]);
    expect(counter.size).toEqual({ counts: 0, uncounted: 0 });
  });

  test("is deleted with the account, in parts, even during a save", async () => {
    const counter = new UsageCounter(store, clock);
    const count = (account: string, name = `key of ${account}`) => {
      for (const mode of modes)
        counter.count({ ...caller, mode, accountId: account, keyId: `${mode} ${name}` }, operation, 200);
    };
    const far = clock.now() + 900 * DAY_MS;
    for (const moment of [clock.now(), clock.now() + 10 * DAY_MS, far, clock.now() + 11 * DAY_MS]) {
      clock.setWall(moment);
      count("acc_1");
      count("acc_2");
      await counter.saveAll();
    }
    for (let status = 1; status < 600; status++) counter.count(caller, operation, status);
    for (let index = 0; index < 600; index++) count("acc_1", `key_${index}`);
    await counter.saveAll();
    expect((await store.callersOf("listPets", clock.now())).length).toBe(1_205);
    count("acc_1");
    count("acc_2");
    const saved = counter.save();
    count("acc_1");
    count("acc_2");
    await service.store.run("UPDATE accounts SET deleted_at = 0 WHERE id = 'acc_1'");
    await counter.forget("acc_1");
    await saved;
    await counter.saveAll();
    expect(await accountsKept()).toEqual(["acc_2"]);
    expect(await requestsOf("acc_2")).toBe(3);
  });

  test.skipIf(!onPostgres)("is saved by two processes at once without a deadlock", async () => {
    // A transaction that waits for another one in a circle is rolled back, and runs again.
    const rolledBack = query<[], { rollbacks: bigint }>(
      "SELECT xact_rollback AS rollbacks FROM pg_stat_database WHERE datname = current_database()",
    );
    const other = await service.store.open();
    const stores = [store, new UsageStore(other)];
    const shops = Array.from({ length: 40 }, (_, index) => shopOf(`acc_${index}`));
    const inTurn = [shops, shops.toReversed()];
    const hour = Math.floor(clock.now() / HOUR_MS);
    const counted = { keyId: "key_1", hour, operation: "listPets", status: 200, requests: 1 };
    const rounds = 40;
    for (let round = 0; round < rounds; round++) {
      const inBoth = (work: (one: UsageStore, own: readonly ShopName[]) => Promise<void>) =>
        Promise.all(stores.map((one, index) => work(one, inTurn[index] ?? [])));
      const counts = (own: readonly ShopName[]) => own.map((shop) => ({ ...counted, shop }));
      await inBoth((one, own) => one.add(counts(own), () => {}));
    }
    expect(await requestsOf("acc_0")).toBe(2 * rounds);
    await Promise.all([storage.close(), other.close()]); // a connection reports its statistics when it ends
    storage = await service.store.open();
    // If one process pauses with its locks, the other may have waited for too long.
    expect(Number((await storage.read(first(rolledBack)))?.rollbacks)).toBeLessThanOrEqual(1);
  });

  test("tells the callers of an operation, the latest first, then the most frequent", async () => {
    const counter = new UsageCounter(store, clock);
    const by = (keyId: string) => counter.count({ ...caller, keyId }, operation, 200);
    by("key_early");
    await counter.saveAll();
    clock.advance(2 * HOUR_MS);
    by("key_often");
    clock.advance(DAY_MS);
    for (const keyId of ["key_late", "key_often"]) by(keyId);
    counter.count({ ...caller, keyId: "key_other" }, undefined, 404);
    await counter.saveAll();
    const hour = clock.now() - (clock.now() % HOUR_MS);
    expect(await store.callersOf("listPets", clock.now())).toEqual(
      [
        ["key_often", 2, hour],
        ["key_late", 1, hour],
        ["key_early", 1, hour - DAY_MS - 2 * HOUR_MS],
      ].map(([keyId, calls, lastHour]) => ({ accountId: caller.accountId, keyId, calls, lastHour })) as never,
    );
  });

  test("is kept if the store fails, and saved later", async () => {
    let isFull = true;
    const write = storage.write.bind(storage);
    storage.write = (body) => (isFull ? Promise.reject(new Error("full")) : write(body));
    const counter = new UsageCounter(store, clock);
    counter.count(caller, undefined, 404);
    counter.count(caller, operation, 200);
    expect((await failureOf(counter.save()))?.message).toBe("full");
    counter.count(caller, operation, 200);
    expect((await failureOf(counter.saveAll()))?.message).toBe("full");
    const unsaved = await pageOf(counter, shopOf("acc_1"));
    expect(unsaved[0]?.operations).toEqual([
      { status: 404, requests: 1 },
      { operation: "listPets", status: 200, requests: 2 },
    ]);
    isFull = false;
    await counter.saveAll();
    expect(await pageOf(counter, shopOf("acc_1"))).toEqual(unsaved);
  });

  test("uses bounded memory; known operations are still counted", async () => {
    const counter = new UsageCounter(store, clock);
    for (let index = 0; index < 200_010; index++) {
      counter.count({ ...caller, accountId: `acc_${index}` }, operation, 200);
    }
    counter.count({ ...caller, accountId: "acc_0" }, operation, 200);
    expect(counter.size).toEqual({ counts: 200_000, uncounted: 10 });
    expect(await pageOf(counter, shopOf("acc_0"))).toMatchObject([{ requests: 2 }]);
    expect(await pageOf(counter, shopOf("acc_200009"))).toEqual([]);
    const before = heapStats().objectTypeCounts["Map"] ?? 0;
    for (let index = 0; index < 1_000; index++)
      counter.count({ ...caller, accountId: `more_${index}` }, operation, 200);
    expect((heapStats().objectTypeCounts["Map"] ?? 0) - before).toBeLessThan(100);
    expect(counter.size.uncounted).toBe(1_010);
    await counter.save();
    expect(counter.size.counts).toBe(199_750);
    expect(await requestsOf("acc_0")).toBe(2);
  });

  test("is deleted in parts when it is too old", async () => {
    const counter = new UsageCounter(store, clock);
    for (let index = 0; index < 700; index++) {
      counter.count({ ...caller, accountId: `acc_${index}`, keyId: `key_${index}` }, operation, 200);
    }
    await counter.saveAll();
    const sweep = async () => {
      await store.sweep(clock.now() as ExpiryTime);
      return rowCount();
    };
    expect(await rowCount()).toBe(1_400);
    clock.advance(31 * DAY_MS);
    expect(await sweep()).toBe(1_400);
    clock.advance(DAY_MS);
    expect([await sweep(), await sweep(), await sweep()]).toEqual([900, 400, 0]);
  });
});

test("the store has at most 32 days for each account and key", async () => {
  const rows = query<[accountId: string], { days: bigint }>(
    "SELECT count(*) AS days FROM usage_counts WHERE account_id = $1 GROUP BY key_id",
  );
  for (let day = 0; day < 40; day++) {
    await get("/pets");
    service.clock.advance(DAY_MS);
    await usage("hour");
  }
  const storage = await service.store.open();
  await service.app.stop();
  const store = new UsageStore(storage);
  for (let round = 0; round < 5; round++) await store.sweep(service.clock.now() as ExpiryTime); // each call deletes some rows
  const kept = (await storage.read(all(rows, accountId))).map(({ days }) => Number(days));
  expect([kept.length, Math.max(...kept) <= 32]).toEqual([2, true]);
  await storage.close();
});
