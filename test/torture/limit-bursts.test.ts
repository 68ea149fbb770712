// Two processes that share one healthy Valkey admit exactly the limit, whatever holds the processes themselves up.
// A limiter that judges the server by the clock alone would admit up to 167 of 100.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { environment, newKeyIn } from "../harness/keys.ts";
import { metricsText } from "../harness/metrics.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { ask } from "../harness/processes.ts";
import { eventually, newDataDir, Program, serveSource } from "../harness/program.ts";
import { rounds } from "../harness/test-length.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";
import { hasValkey, ValkeyServer } from "../harness/valkey-server.ts";

const LIMIT = 100;
const REQUESTS = 400;
/** Programs that do nothing but take CPU time: more than this machine has cores. */
const BUSY = navigator.hardwareConcurrency + 3;
/** Responses after which a burst is disturbed: some are then decided, and most are not. */
const BEGUN = 20;

const [bun = "", ...serve] = serveSource;
const command = [bun, "--preload", join(import.meta.dir, "long-turn.ts"), ...serve];

const stopped = (milliseconds: number) => async (program: Program) => {
  program.child.kill("SIGSTOP");
  await Bun.sleep(milliseconds);
  program.child.kill("SIGCONT");
};

describe.skipIf(postgresMissing !== undefined || !hasValkey)("a burst over two processes", () => {
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
    for (let count = 0; count < 2; count++) programs.push(await Program.start(newDataDir(), settings, command));
  });
  afterAll(async () => {
    await Promise.all(programs.map((program) => program.end()));
    await Promise.all([postgres.remove(), valkey.stop()]);
  });

  const quota = { ...unlimitedQuota, perMinute: LIMIT };
  const newKey = async () => (await newKeyIn(newDataDir(), { quota, settings })).key;

  /** Resolves when both count together. */
  const together = () =>
    eventually(
      () => Promise.all(programs.map(({ base }) => metricsText(base))),
      (texts) =>
        texts.every(
          (text) => text.includes("petstore_limiter_degraded 0") && text.includes("petstore_limiter_processes 2"),
        ),
    );

  /** How many of a burst are admitted. `disturb` is called when it has begun. */
  async function burst(disturb: (program: Program) => unknown): Promise<number> {
    const key = await newKey();
    await together();
    const begun = Promise.withResolvers<void>();
    let answered = 0;
    const sent = Array.from({ length: REQUESTS }, async (_, index) => {
      const response = await ask(programs[index % 2]?.base ?? "", key);
      await response.text();
      if (++answered === BEGUN) begun.resolve();
      return response.status;
    });
    await begun.promise;
    await disturb(programs[0] as Program);
    return (await Promise.all(sent)).filter((status) => status === 200).length;
  }

  async function admitted(bursts: number, disturb: (program: Program) => unknown): Promise<number[]> {
    const counts: number[] = [];
    for (let count = 0; count < bursts; count++) counts.push(await burst(disturb));
    return counts;
  }

  test("admits exactly the limit while all cores are busy", async () => {
    const bursts = rounds(3, 100);
    const loads = Array.from({ length: BUSY }, () => Bun.spawn([bun, "-e", "for (;;);"]));
    try {
      expect(await admitted(bursts, () => {})).toEqual(Array(bursts).fill(LIMIT));
    } finally {
      for (const load of loads) load.kill();
    }
  });

  test.each([
    ["one process is stopped for 150 ms", rounds(3, 50), stopped(150)],
    ["one process is stopped for a second", rounds(2, 50), stopped(1_000)],
    ["the event loop of one process has a long turn", rounds(3, 50), ({ child }: Program) => child.kill("SIGUSR2")],
  ] as const)("admits exactly the limit while %s", async (_what, bursts, disturb) => {
    expect(await admitted(bursts, disturb)).toEqual(Array(bursts).fill(LIMIT));
  });
});
