// What is left of the best goodput at twice the load, and how soon all is normal again. A busy machine spoils the
// measurement.
import { describe, expect, test } from "bun:test";
import { animal, CALM, Measured } from "./measured.ts";

/** The promises: what is left of the best goodput, and the seconds to be normal again. */
const LEFT = 0.9;
const NORMAL_WITHIN = 5;
/** What must be left even where others disturb the measurement. */
const LEFT_WHERE_BUSY = 0.7;
/** The machine is busy if the service waited for a processor for more of the time than this. */
const BUSY = 0.1;
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
});
