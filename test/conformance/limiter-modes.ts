import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { caller, inOtherMode, LimiterUnderTest, type OpenLimiter, SECOND, verdicts } from "./limiter-under-test.ts";

/** The part of the suite for limiters that is about the two shops of an account. */
export function modesConformance(open: OpenLimiter): void {
  describe("the two shops of an account", () => {
    const other = inOtherMode(caller());
    let under: LimiterUnderTest;
    beforeEach(async () => {
      under = await LimiterUnderTest.start(open);
    });
    afterEach(() => under.close());

    test("have windows of their own, each according to the plan", async () => {
      await under.send(caller(), 4);
      expect(verdicts(await under.send(other, 4))).toEqual(["admitted", "admitted", "admitted", "limited"]);
      under.clock.advance(60 * SECOND);
      await under.send(other, 1);
      expect((await under.limiter.peek(other)).day.used).toBe(4);
      expect((await under.limiter.peek(caller())).day.used).toBe(3);
    });

    test("have keys whose strikes and bans leave the other shop alone", async () => {
      await under.offend(caller());
      expect((await under.sendOne(caller())).verdict).toBe("banned");
      expect((await under.sendOne(other)).verdict).toBe("admitted");
      expect(await under.limiter.peek(other)).toMatchObject({ strikes: 0, banEnds: undefined });
    });

    test("are admitted free requests for themselves", async () => {
      for (let request = 0; request < 4; request++) await under.limiter.admitFree(caller());
      expect((await under.limiter.admitFree(caller())).verdict).toBe("limited");
      expect((await under.limiter.admitFree(other)).verdict).toBe("admitted");
    });
  });
}
