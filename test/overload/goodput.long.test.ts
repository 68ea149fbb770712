// What is left of the best goodput at twice the load, and how soon all is normal again. A busy machine spoils the
// measurement.
import { describe, expect, test } from "bun:test";
import type { LoadLimits } from "../../src/http/overload/load-limits.ts";
import { cpuTimeOf } from "../harness/cpu-time.ts";
import { animal, CALM, Measured, ROUND_SECONDS } from "./measured.ts";

/** The promises: what is left of the best goodput, and the seconds to be normal again. */
const LEFT = 0.9;
const NORMAL_WITHIN = 5;
/** What must be left even where others disturb the measurement; the control leaves far less. */
const LEFT_WHERE_BUSY = 0.7;
/** The machine is busy if the service waited for a processor for more of the time than this. */
const BUSY = 0.1;
/** The control must be found out in one of this many attempts: thousands of readers need a quiet machine. */
const ATTEMPTS = 5;
/** A bound for a measurement that hangs, in milliseconds. */
const LONGEST = 300_000;

describe("at twice the load", () => {
  const requests = [
    ["adding an animal", "POST", "/pets", animal],
    ["reading an animal", "GET", "/pets/1", undefined],
    ["listing 100 animals", "GET", "/pets?limit=100", undefined],
  ] as const;

  test.each(requests)(
    "%s keeps its goodput, and all is soon normal again",
    async (_what, method, path, body) => {
      await using measured = await Measured.start();
      measured.of(method, path, body);
      const before = await measured.load(CALM);
      const { byClock, byCpuTime, waited } = await measured.shareLeft();
      if (waited < BUSY) expect(byClock).toBeGreaterThanOrEqual(LEFT);
      else expect(byCpuTime).toBeGreaterThanOrEqual(LEFT_WHERE_BUSY);
      const seconds = await measured.secondsUntilNormal(before);
      console.log(`normal again after ${seconds.toFixed(1)} s`);
      expect(seconds).toBeLessThanOrEqual(NORMAL_WITHIN);
    },
    LONGEST,
  );

  test(
    "control: reading an animal does not keep its goodput if all excess requests are rejected",
    async () => {
      await using measured = await Measured.start({ refuseOneIn: 1 });
      const { byCpuTime } = await measured.of("GET", "/pets/1").shareLeft();
      expect(byCpuTime).toBeLessThan(LEFT_WHERE_BUSY);
    },
    LONGEST,
  );
});

describe("the slowest of the writes among thousands of reads", () => {
  const READERS = 3_000;

  /** The longest that a create took, in milliseconds of the service's CPU time. */
  async function slowestCreate(limits?: Partial<LoadLimits>): Promise<number> {
    await using measured = await Measured.start(limits);
    const { service } = measured;
    const { pid } = service.program.child;
    const state = { isOver: false };
    const readers = measured.of("GET", "/pets/1").load({ connections: READERS, seconds: ROUND_SECONDS });
    void readers.finally(() => (state.isOver = true));
    let slowest = 0;
    while (!state.isOver) {
      const before = cpuTimeOf(pid);
      await (await service.call("/pets", animal)).text();
      slowest = Math.max(slowest, cpuTimeOf(pid) - before);
    }
    return slowest;
  }

  test(
    "takes less than half the CPU time that it takes without `maxTurnMs`",
    async () => {
      let [bounded, control] = [0, 0];
      for (let attempt = 0; attempt < ATTEMPTS && control <= 2 * bounded; attempt++) {
        bounded = await slowestCreate();
        control = await slowestCreate({ maxTurnMs: Number.MAX_SAFE_INTEGER });
        console.log(`slowest create: ${Math.round(bounded)} ms, without a bound ${Math.round(control)} ms`);
      }
      expect(control).toBeGreaterThan(2 * bounded);
    },
    LONGEST,
  );
});
