// Processes that share a Valkey admit exactly the limit, whatever holds the processes themselves up, and hardly more while
// it comes and goes.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { environment, newKeyIn } from "../harness/keys.ts";
import { metricsText } from "../harness/metrics.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { ask, newAccount } from "../harness/processes.ts";
import { eventually, newDataDir, Program, serveSource } from "../harness/program.ts";
import { rounds } from "../harness/test-length.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";
import { hasValkey, ValkeyServer } from "../harness/valkey-server.ts";

const PROCESSES = 4;
const LIMIT = 100;
const REQUESTS = 400;
/** Programs that do nothing but take CPU time: more than this machine has cores. */
const BUSY = navigator.hardwareConcurrency + 3;
/** Responses after which a burst is disturbed: some are then decided, and most are not. */
const BEGUN = 20;

/** Seconds of a cycle in which the server answers first, and is then frozen. */
const [ANSWERS, FROZEN] = [3, 5];
/** A minute less its edges, or two cycles. */
const CYCLES_LAST = rounds(16, 57);
/** Requests a second, so many more than are admitted that the limit is reached, and so few that no key is banned. */
const RATE = 30;
const KEYS = 8;

const [bun = "", ...serve] = serveSource;
const command = [bun, "--preload", join(import.meta.dir, "long-turn.ts"), ...serve];

const stopped = (milliseconds: number) => async (program: Program) => {
  program.child.kill("SIGSTOP");
  await Bun.sleep(milliseconds);
  program.child.kill("SIGCONT");
};

describe.skipIf(postgresMissing !== undefined || !hasValkey)("four processes", () => {
  let postgres: PostgresServer;
  let valkey: ValkeyServer;
  let settings: Record<string, string>;
  let programs: Program[];
  beforeAll(async () => {
    [postgres, valkey] = await Promise.all([PostgresServer.start(), ValkeyServer.start()]);
    settings = {
      ...environment,
      PETSTORE_DATABASE_URL: postgres.url(await postgres.newDatabase()),
      PETSTORE_VALKEY_URL: valkey.url,
    };
    programs = [];
    while (programs.length < PROCESSES) programs.push(await Program.start(newDataDir(), settings, command));
  });
  afterAll(async () => {
    await Promise.all(programs.map((program) => program.end()));
    await Promise.all([postgres.remove(), valkey.stop()]);
  });

  /** Resolves when all count together. */
  const together = () =>
    eventually(
      () => Promise.all(programs.map(({ base }) => metricsText(base))),
      (texts) =>
        texts.every(
          (text) =>
            text.includes("petstore_limiter_degraded 0") && text.includes(`petstore_limiter_processes ${PROCESSES}`),
        ),
    );

  /** How many of a burst over these processes are admitted. `disturb` is called with the first one when it has begun. */
  async function burst(over: readonly Program[], disturb: (program: Program) => unknown): Promise<number> {
    const { key } = await newKeyIn(newDataDir(), { quota: { ...unlimitedQuota, perMinute: LIMIT }, settings });
    await together();
    const begun = Promise.withResolvers<void>();
    let answered = 0;
    const sent = Array.from({ length: REQUESTS }, async (_, index) => {
      const response = await ask(over[index % over.length]?.base ?? "", key);
      await response.text();
      if (++answered === BEGUN) begun.resolve();
      return response.status;
    });
    await begun.promise;
    await disturb(over[0] as Program);
    return (await Promise.all(sent)).filter((status) => status === 200).length;
  }

  async function admitted(bursts: number, disturb: (program: Program) => unknown, processes = PROCESSES) {
    const counts: number[] = [];
    for (let count = 0; count < bursts; count++) counts.push(await burst(programs.slice(0, processes), disturb));
    return counts;
  }

  test.each([1, PROCESSES])(
    "admit exactly the limit in a burst over %d of them while all cores are busy",
    async (over) => {
      const bursts = rounds(1, 100);
      const loads = Array.from({ length: BUSY }, () => Bun.spawn([bun, "-e", "for (;;);"]));
      try {
        expect(await admitted(bursts, () => {}, over)).toEqual(Array(bursts).fill(LIMIT));
      } finally {
        for (const load of loads) load.kill();
      }
    },
  );

  test.each([
    ["one is stopped for 150 ms", rounds(1, 100), stopped(150)],
    ["one is stopped for a second", rounds(1, 100), stopped(1_000)],
    ["the event loop of one has a long turn", rounds(1, 100), ({ child }: Program) => child.kill("SIGUSR2")],
  ] as const)("admit exactly the limit in a burst while %s", async (_what, bursts, disturb) => {
    expect(await admitted(bursts, disturb)).toEqual(Array(bursts).fill(LIMIT));
  });

  test("admit at most 1.3 times the limit of a minute while Valkey is frozen for 5 of every 8 s", async () => {
    const perMinute = rounds(120, 400);
    const { key, account, keys: store, storage } = await newAccount(settings, { ...unlimitedQuota, perMinute });
    const keys = [key];
    while (keys.length < KEYS) keys.push((await store.issueKey(account.id, "more", ["read"], Date.now())).key);
    await together();
    const statuses: Promise<number>[] = [];
    const send = async (index: number) => {
      const response = await ask(programs[index % PROCESSES]?.base ?? "", keys[index % KEYS] as string);
      await response.text();
      return response.status;
    };
    const load = setInterval(() => void statuses.push(send(statuses.length)), 1_000 / RATE);
    const end = performance.now() + 1_000 * CYCLES_LAST;
    while (performance.now() < end) {
      await Bun.sleep(1_000 * ANSWERS);
      valkey.freeze();
      await Bun.sleep(1_000 * FROZEN);
      valkey.thaw();
    }
    clearInterval(load);
    const all = await Promise.all(statuses);
    expect(new Set(all)).toEqual(new Set([200, 429]));
    const count = all.filter((status) => status === 200).length;
    console.log(`${count} of ${perMinute} admitted`);
    expect(count).toBeLessThanOrEqual(1.3 * perMinute);
    await storage.close();
  });
});
