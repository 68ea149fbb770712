// When the server loses its data, the counts in the store remain.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { callerOf } from "../../../test/conformance/limiter-model.ts";
import { DistantStorage } from "../../../test/harness/distant-storage.ts";
import { development } from "../../../test/harness/key-environments.ts";
import { openProcess, type TestProcess } from "../../../test/harness/limiter-process.ts";
import { ManualClock } from "../../../test/harness/manual-clock.ts";
import { newTestStore, type TestStore } from "../../../test/harness/test-store.ts";
import { hasValkey, ValkeyServer } from "../../../test/harness/valkey-server.ts";
import type { Caller, Quota } from "../../contract/caller.ts";
import { AccountStore } from "../../domains/accounts/accounts.store.ts";
import { KeyStore } from "../../domains/keys/keys.store.ts";
import type { Storage } from "../../storage/storage.ts";
import { LimitStore } from "../limits.store.ts";

const PREFIX = "loss:";

describe.skipIf(!hasValkey)("when Valkey loses its data", () => {
  let server: ValkeyServer;
  let store: TestStore;
  let opened: Storage;
  let storage: DistantStorage;
  let clock: ManualClock;
  let process: TestProcess;
  beforeAll(async () => {
    server = await ValkeyServer.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    await server.command("FLUSHALL");
    store = await newTestStore();
    opened = await store.open();
    storage = new DistantStorage(opened);
    clock = new ManualClock();
    process = await start();
  });
  afterEach(async () => {
    await process.close();
    await opened.close();
    await store.remove();
  });

  const start = () =>
    openProcess(server.url, { clock, prefix: PREFIX, callTimeout: 30_000, backup: new LimitStore(storage) });

  async function newCaller(quota: Quota): Promise<Caller> {
    const { id } = await new AccountStore(storage).createAccount("Loss", "enterprise", quota, clock.now());
    const { record } = await new KeyStore(storage, development).issueKey(id, "loss", ["read"], clock.now());
    return callerOf(id, record.id, quota);
  }

  /** Sends requests and saves their counts. Returns the number of admitted requests. */
  async function send(caller: Caller, times: number): Promise<number> {
    const answers = await Promise.all(Array.from({ length: times }, async () => process.limiter.admit(caller)));
    await process.limiter.save();
    return answers.filter(({ verdict }) => verdict === "admitted").length;
  }

  const losses: [string, () => Promise<unknown>][] = [
    ["is flushed", () => server.command("FLUSHALL")],
    [
      "is started again, empty, and this process too",
      async () => {
        await process.close();
        await server.kill();
        await server.restart();
        process = await start();
      },
    ],
  ];

  describe.each(losses)("and it %s", (_how, lose) => {
    test("a used-up minute stays used up", async () => {
      const caller = await newCaller({ perMinute: 100, perDay: 1_000 });
      expect(await send(caller, 150)).toBe(100);
      await lose();
      expect(await send(caller, 300)).toBe(0);
      clock.advance(60_000);
      expect(await send(caller, 300)).toBe(100);
    });

    test("below a tenth of the day's limit, at most a hundredth of it is lost", async () => {
      const caller = await newCaller({ perMinute: 100_000, perDay: 1_000 });
      let admitted = 0;
      for (let count = 0; count < 99; count++) admitted += await send(caller, 1);
      await lose();
      admitted += await send(caller, 2_000);
      expect(admitted).toBeGreaterThanOrEqual(1_000);
      expect(admitted).toBeLessThan(1_010);
    });

    test("above it, at most the counts since the last save are lost", async () => {
      const caller = await newCaller({ perMinute: 100_000, perDay: 1_000 });
      let admitted = 0;
      for (let count = 0; count < 30; count++) admitted += await send(caller, 7);
      const unsaved = await Promise.all(Array.from({ length: 5 }, async () => process.limiter.admit(caller)));
      await lose();
      admitted += unsaved.length + (await send(caller, 2_000));
      expect(admitted).toBeGreaterThanOrEqual(1_000);
      expect(admitted).toBeLessThanOrEqual(1_005);
    });
  });

  describe.each(losses)("and it %s, in a sandbox whose clock was advanced", (_how, lose) => {
    test("the clock and the windows continue", async () => {
      const caller = await newCaller({ perMinute: 3, perDay: 100 });
      const live = { ...caller, keyId: "key_live", mode: "live" as const };
      await send(caller, 3);
      await process.limiter.setClockOffset(caller, 36 * 3_600_000);
      await send(caller, 4);
      const { day } = await process.limiter.limitStatus(caller);
      await lose();
      expect((await process.limiter.admit(live)).reset).toBe(clock.now() / 1_000 + 60);
      expect(await process.limiter.admit(caller)).toMatchObject({ verdict: "limited", retryAfter: 60 });
      expect((await process.limiter.limitStatus(caller)).day).toEqual(day);
      await process.limiter.setClockOffset(caller, 36 * 3_600_000 + 60_000);
      expect((await process.limiter.admit(caller)).verdict).toBe("admitted");
    });

    test("the clock continues, even without other data", async () => {
      const caller = await newCaller({ perMinute: 3, perDay: 1_000 });
      const nextMidnight = async () => (await process.limiter.limitStatus(caller)).day.reset;
      await process.limiter.setClockOffset(caller, 3_600_000);
      const reset = await nextMidnight();
      await lose();
      expect(await nextMidnight()).toBe(reset);
      expect(reset).toBe(clock.now() / 1_000 + 11 * 3_600);
    });
  });

  test("all unknown accounts of a turn are read in one query, once each", async () => {
    const callers = await Promise.all(Array.from({ length: 70 }, () => newCaller({ perMinute: 10, perDay: 100 })));
    const admitAll = () => Promise.all(callers.map(async (caller) => process.limiter.admit(caller)));
    for (const [lose, reads] of [
      [() => {}, 1],
      [() => {}, 0],
      [() => server.command("FLUSHALL"), 1],
    ] as const) {
      await lose();
      storage.reads = 0;
      await admitAll();
      expect(storage.reads).toBe(reads);
    }
  });

  test("the larger count is used, whichever process restores it", async () => {
    const caller = await newCaller({ perMinute: 100, perDay: 1_000 });
    const other = await start();
    await send(caller, 20);
    for (let count = 0; count < 30; count++) await other.limiter.admit(caller);
    await server.command("FLUSHALL");
    // The store has 20; only the other process knows of 50, and both of them find the account unknown.
    const [here, there] = await Promise.all([process.limiter.admit(caller), other.limiter.admit(caller)]);
    expect(Math.min(here.remaining, there.remaining)).toBeLessThan(50);
    expect((await process.limiter.admit(caller)).remaining).toBeLessThan(50);
    await other.close();
  });

  test("an unavailable store rejects the request", async () => {
    const caller = await newCaller({ perMinute: 100, perDay: 1_000 });
    await opened.close();
    expect(await Promise.resolve(process.limiter.admit(caller)).catch(({ name }: Error) => name)).toBe(
      "StorageUnavailable",
    );
    opened = await store.open();
  });
});
