// While the server is unreachable, no request fails or waits for long. Afterwards the limiter recovers by itself.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { callerOf } from "../../../test/conformance/limiter-model.ts";
import { failureOf } from "../../../test/harness/failure-of.ts";
import { openProcess, type TestProcess } from "../../../test/harness/limiter-process.ts";
import { eventually } from "../../../test/harness/program.ts";
import { hasValkey, ValkeyCluster, ValkeyServer } from "../../../test/harness/valkey-server.ts";
import { addressQuota, type Caller } from "../../contract/caller.ts";
import type { LimiterAdmission } from "../../contract/limits.ts";
import { StorageUnavailable } from "../../storage/errors.ts";

const PROCESSES = 4;

async function untilAlone(processes: readonly TestProcess[], isAlone: boolean): Promise<void> {
  for (const { counts } of processes) {
    await eventually(() => counts.isAlone === isAlone);
  }
}

const LIMIT = 100;
let caller = callerOf("acc_0", "key_0", {});
let accounts = 0;
/** A new account without counts. The limit is that of each second key alone. */
function nextCaller() {
  const limits = ++accounts % 2 ? { perMinute: LIMIT } : { perMinute: 10 * LIMIT, limitPerMinute: LIMIT };
  caller = callerOf(`acc_${accounts}`, `key_${accounts}`, { ...limits, perDay: 100_000 });
}

/** Waits until each process knows of all others. */
async function untilTogether(processes: readonly TestProcess[]): Promise<void> {
  await untilAlone(processes, false);
  await eventually(() => processes.every(({ counts }) => counts.processes === PROCESSES));
}

async function send({ limiter }: TestProcess, times: number): Promise<LimiterAdmission[]> {
  return Promise.all(Array.from({ length: times }, async () => limiter.admit(caller)));
}

const admitted = (answers: readonly LimiterAdmission[]) =>
  answers.filter(({ verdict }) => verdict === "admitted").length;

describe.skipIf(!hasValkey)("while Valkey is unreachable", () => {
  let server: ValkeyServer;
  let processes: TestProcess[];
  beforeAll(async () => {
    server = await ValkeyServer.start();
    processes = await Promise.all(
      Array.from({ length: PROCESSES }, () => openProcess(server.url, { prefix: "faults:" })),
    );
  });
  afterAll(async () => {
    await Promise.all(processes.map(({ close }) => close()));
    await server.stop();
  });

  const faults: [string, () => unknown, () => unknown][] = [
    ["killed", () => server.kill(), () => server.restart()],
    ["frozen", () => server.freeze(), () => server.thaw()],
    // Each decision and each probe writes.
    [
      "slower than 250 ms",
      () => server.command("CLIENT", "PAUSE", 600_000, "WRITE"),
      () => server.command("CLIENT", "UNPAUSE"),
    ],
    ["out of memory", () => outOfMemory(1), () => outOfMemory(0)],
    [
      "made a replica",
      () => server.command("REPLICAOF", "127.0.0.1", 1),
      () => server.command("REPLICAOF", "NO", "ONE"),
    ],
  ];
  const outOfMemory = (bytes: number) => server.command("CONFIG", "SET", "maxmemory", bytes);

  test.each(faults)(
    "%s, each process counts each request for all, and then together with the others what was counted alone",
    async (_how, begin, end) => {
      nextCaller();
      await untilTogether(processes);
      await begin();
      const first = await send(processes[0] as TestProcess, 10);
      expect(first.every(({ limit }) => limit === LIMIT)).toBe(true);
      await untilAlone(processes, true);
      nextCaller();
      const answers = (await Promise.all(processes.map((process) => send(process, 60)))).flat();
      expect(admitted(answers)).toBe(LIMIT);
      for (const { verdict, limit, remaining, reset, retryAfter } of answers) {
        expect(limit).toBe(LIMIT);
        expect(remaining % PROCESSES).toBe(0);
        expect(reset).toBeGreaterThan(Date.now() / 1_000);
        expect(retryAfter > 0).toBe(verdict === "limited");
      }
      await end();
      await untilAlone(processes, false);
      const again = (await Promise.all(processes.map((process) => send(process, 60)))).flat();
      expect(admitted(again)).toBe(0);
    },
  );

  test("the processes admit what an account had left according to the last answer", async () => {
    const who = callerOf("acc_known", "key_known", { perMinute: 100, perDay: 100_000 });
    const sendAll = (times: number) =>
      Promise.all(processes.flatMap(({ limiter }) => Array.from({ length: times }, async () => limiter.admit(who))));
    await untilTogether(processes);
    expect(admitted(await sendAll(10))).toBe(40);
    for (const { limiter } of processes) expect((await limiter.limitStatus(who)).minute.used).toBe(40);
    await server.kill();
    await untilAlone(processes, true);
    for (const { limiter } of processes) {
      expect((await limiter.limitStatus(who)).minute).toMatchObject({ limit: 100, used: 40, remaining: 60 });
      expect(await limiter.admitSeparately(who, "plan")).toMatchObject({ limit: 100, remaining: 60 });
    }
    expect(admitted(await sendAll(60))).toBe(60);
    for (const { limiter } of processes) expect((await limiter.limitStatus(who)).minute.remaining).toBe(0);
    await server.restart();
    await untilAlone(processes, false);
  });

  test("GET /key shows the figures that requests are then admitted by", async () => {
    await untilTogether(processes);
    const [process, other] = processes as [TestProcess, TestProcess];
    // The minute, the day, or both are nearly used; of the last one, this process knows nothing.
    const cases = [
      [100, 100_000, 30],
      [100, 60, 30],
      [30, 50, 20],
      [28, 28, 13],
      [60, 1_000, 60],
      [100, 120, 0],
    ] as const;
    const callers = cases.map(([perMinute, perDay], index) =>
      callerOf(`acc_shown_${index}`, `key_shown_${index}`, { perMinute, perDay }),
    );
    for (const [index, [, , used]] of cases.entries()) {
      const who = callers[index] as Caller;
      for (let count = 0; count < used; count++) await other.limiter.admit(who);
      if (used > 0) await process.limiter.limitStatus(who);
    }
    await server.kill();
    await untilAlone(processes, true);
    for (const who of callers) {
      const shown = await process.limiter.limitStatus(who);
      const { minute, day } = shown;
      expect([minute.limit, day.limit]).toEqual([who.perMinute, who.perDay]);
      expect([minute.used + minute.remaining, day.used + day.remaining]).toEqual([minute.limit, day.limit]);
      const window = minute.remaining < day.remaining ? minute : day;
      const header = await process.limiter.admitSeparately(who, "plan");
      expect(header).toMatchObject({ limit: window.limit, remaining: window.remaining, reset: window.reset });
      for (let left = window.remaining; left > 0; left -= PROCESSES) {
        expect(await process.limiter.admit(who)).toMatchObject({
          verdict: "admitted",
          limit: window.limit,
          remaining: left - PROCESSES,
          reset: window.reset,
        });
      }
      expect(await process.limiter.admit(who)).toMatchObject({
        verdict: "limited",
        limit: window.limit,
        remaining: 0,
        reset: window.reset,
      });
      const after = await process.limiter.limitStatus(who);
      expect(Math.min(after.minute.remaining, after.day.remaining)).toBe(0);
      expect(after.strikes).toBe(0);
    }
    await server.restart();
    await untilAlone(processes, false);
  });

  test.each(faults.slice(0, 2))(
    "%s, no account is forgotten, and it can be when the server is back",
    async (_how, begin, end) => {
      const { limiter } = processes[0] as TestProcess;
      const forget = () => failureOf(limiter.forget("acc_forgotten"));
      await untilTogether(processes);
      await begin();
      expect(await forget()).toBeInstanceOf(StorageUnavailable); // before the limiter notices the fault
      await untilAlone(processes, true);
      expect(await forget()).toBeInstanceOf(StorageUnavailable);
      await end();
      await eventually(forget, (refused) => refused === undefined);
      await untilAlone(processes, false);
    },
  );

  test("a service can start", async () => {
    await server.kill();
    const late = await openProcess(server.url, { prefix: "faults:" });
    expect(late.counts.isAlone).toBe(true);
    expect(late.changes).toEqual([true]);
    expect(await late.limiter.admitAddress("192.0.2.1")).toMatchObject({
      verdict: "admitted",
      ...limitOf(addressQuota),
    });
    await server.restart();
    await untilAlone([late], false);
    await late.close();
  });
});

describe.skipIf(!hasValkey)("after Valkey has lost its data", () => {
  test("new windows begin with what was admitted during the outage", async () => {
    const server = await ValkeyServer.start();
    // It notices at once that the server is killed. A server that is only slow, as on a busy machine, it waits for.
    const process = await openProcess(server.url, { callTimeout: 30_000 });
    const who = callerOf("acc_lost", "key_lost", { perMinute: 100, perDay: 100_000 });
    const admitAll = async (times: number) =>
      admitted(await Promise.all(Array.from({ length: times }, async () => process.limiter.admit(who))));
    expect(await admitAll(150)).toBe(100);
    await server.command("FLUSHALL");
    expect(await admitAll(60)).toBe(60);
    await server.kill();
    await untilAlone([process], true);
    expect(await admitAll(30)).toBe(30);
    await server.restart();
    await untilAlone([process], false);
    expect((await process.limiter.limitStatus(who)).minute.used).toBe(30);
    expect(await admitAll(150)).toBe(70);
    await process.close();
    await server.stop();
  });
});

const limitOf = ({ perMinute }: { perMinute: number }) => ({ limit: perMinute });

describe.skipIf(!hasValkey)("a Valkey cluster", () => {
  test("decides requests while it loses a master, and its replica takes over", async () => {
    const cluster = await ValkeyCluster.start(1_000);
    const process = await openProcess(cluster.url, { prefix: "cluster:" });
    const many = Array.from({ length: 30 }, (_, index) =>
      callerOf(`acc_m${index}`, `key_m${index}`, { perMinute: 1e9, perDay: 1e9 }),
    );
    const round = () => Promise.all(many.map(async (who) => process.limiter.admit(who)));
    await round();
    await cluster.masters[0]?.kill();
    await eventually(
      async () => [process.counts.isAlone, (await round()).every(({ verdict }) => verdict === "admitted")],
      ([isAlone, isServed]) => isServed === true && isAlone === true,
    );
    await eventually(
      async () => [process.counts.isAlone, (await round()).every(({ verdict }) => verdict === "admitted")],
      ([isAlone, isServed]) => isServed === true && isAlone === false,
    );
    await process.close();
    await cluster.stop();
  });
});
