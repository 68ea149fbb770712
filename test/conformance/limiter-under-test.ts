import type { Caller } from "../../src/contract/caller.ts";
import type { Admission } from "../../src/http/interfaces.ts";
import type { WindowLimiter } from "../../src/limits/limiter.ts";
import { MINUTE_MS } from "../../src/timing/clock.ts";
import { ManualClock, NOON } from "../harness/manual-clock.ts";
import { callerOf } from "./limiter-model.ts";

/** A limiter without any state, and how to close it. */
export interface RunningLimiter {
  readonly limiter: WindowLimiter;
  close(): Promise<void>;
}

/** Opens an implementation that reads the time from the given clock and shares no counts with others. */
export type OpenLimiter = (clock: ManualClock) => Promise<RunningLimiter>;

export const SECOND = 1_000;
export const HOUR = 60 * MINUTE_MS;
export const noonSecond = NOON / SECOND;
export const midnightSecond = Date.UTC(2026, 10, 22) / SECOND;

/** A limiter of a test, with its clock. */
export class LimiterUnderTest {
  readonly clock: ManualClock;
  readonly limiter: WindowLimiter;
  readonly close: () => Promise<void>;

  static async start(open: OpenLimiter, wall = NOON): Promise<LimiterUnderTest> {
    const clock = new ManualClock(wall);
    return new LimiterUnderTest(clock, await open(clock));
  }

  private constructor(clock: ManualClock, running: RunningLimiter) {
    this.clock = clock;
    this.limiter = running.limiter;
    this.close = () => running.close();
  }

  async sendOne(who: Caller): Promise<Admission> {
    return this.limiter.admit(who);
  }

  async send(who: Caller, times: number): Promise<Admission[]> {
    const admissions: Admission[] = [];
    for (let time = 0; time < times; time++) admissions.push(await this.limiter.admit(who));
    return admissions;
  }

  async sendFrom(address: string, times: number): Promise<Admission[]> {
    const admissions: Admission[] = [];
    for (let time = 0; time < times; time++) admissions.push(await this.limiter.admitAddress(address));
    return admissions;
  }

  /** Uses up the minute, continues a second after the first 429, and gives the response to the last strike. */
  async offend(who: Caller): Promise<Admission> {
    await this.send(who, who.perMinute + 1);
    this.clock.advance(SECOND);
    return (await this.send(who, 20)).at(-1) as Admission;
  }
}

/** The same account's caller in the other mode, with another key. */
export function inOtherMode(who: Caller): Caller {
  const mode = who.mode === "live" ? "test" : "live";
  return { ...who, mode, keyId: `${who.keyId}_${mode}` };
}

/** A caller with a small quota; all can be given. */
export function caller(quota: Partial<Caller> = {}, keyId = "key_1", accountId = "acc_1"): Caller {
  return callerOf(accountId, keyId, { perMinute: 3, perDay: 1_000, ...quota });
}

export function verdicts(admissions: readonly Admission[]): Admission["verdict"][] {
  return admissions.map(({ verdict }) => verdict);
}
