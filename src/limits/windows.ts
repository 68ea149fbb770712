import type { Quota } from "../contract/caller.ts";
import type { Admission, WindowStatus } from "../http/interfaces.ts";
import {
  aheadBy,
  type ClockReading,
  DAY_MS,
  MINUTE_MS,
  realSeconds,
  remainingUntil,
  retryAfterOf,
  type StoredEnd,
  storedEnd,
} from "../timing/clock.ts";

/** The UTC calendar day of a wall time, as days since 1970-01-01. */
function dayOf(wall: number): number {
  return Math.floor(wall / DAY_MS);
}

/** How many requests were admitted on a day. */
export interface DayCount {
  readonly day: number;
  readonly used: number;
}

/** Stands for a missing day. */
export const noDay: DayCount = { day: 0, used: 0 };

/**
 * The number of earlier days whose counts are kept. A clock that is set wrong, passes midnight and is then corrected
 * shows at most this many other days before it returns.
 */
const EARLIER_DAYS = 2;

/** The stored state of the two windows. */
export interface WindowState {
  readonly minuteEnd: StoredEnd;
  readonly minuteUsed: number;
  readonly day: number;
  readonly dayUsed: number;
  /** Earlier days with requests, most recently used first. */
  readonly earlierDays: readonly DayCount[];
}

/** The state of the windows of a shop, and how many milliseconds its clock is ahead of real time. */
export interface ShopState extends WindowState {
  readonly ahead: number;
}

/**
 * The two windows of one shop or address: a minute that starts with the first request, and the UTC calendar day. The
 * most recently used days are kept too, so that their counts continue if the wall clock jumps over midnight and back.
 */
export class Windows {
  #minuteEnds = Number.NEGATIVE_INFINITY; // monotonic
  #minuteEndsWall = 0; // the same time in Unix milliseconds; within a window, only a jump of the clock changes it
  #minuteUsed = 0;
  #day = Number.NEGATIVE_INFINITY;
  #dayUsed = 0;
  #earlierDays: readonly DayCount[] = [];
  #jumps = 0;
  /** True if a request was counted since the last `save`. */
  changed = false;
  /** How many milliseconds the clock of the shop is ahead of real time. All times in this class use that clock. */
  #ahead: number;

  constructor(ahead = 0) {
    this.#ahead = ahead;
  }

  /** Restores saved windows. `opened` is the time when the limiter started. */
  static restore({ ahead, ...state }: ShopState, reading: ClockReading, opened: ClockReading): Windows {
    const windows = new Windows(ahead);
    const now = aheadBy(reading, ahead);
    const rest = remainingUntil(state.minuteEnd, MINUTE_MS, now, aheadBy(opened, ahead));
    if (rest > 0) windows.#startMinute(now, rest, state.minuteUsed);
    windows.#day = state.day;
    windows.#dayUsed = state.dayUsed;
    windows.#earlierDays = state.earlierDays;
    return windows;
  }

  /** Converts a reading to the clock of the shop. */
  at(reading: ClockReading): ClockReading {
    return aheadBy(reading, this.#ahead);
  }

  /** Sets the clock of the shop at least this many milliseconds ahead of real time. It never moves back. */
  setClockOffset(ahead: number): void {
    this.#ahead = Math.max(this.#ahead, ahead);
  }

  /** Returns the state to save, and marks it as unchanged. */
  save(reading: ClockReading): WindowState {
    this.changed = false;
    const now = this.at(reading);
    return {
      minuteEnd: storedEnd(this.#minuteEnds - now.monotonic, now),
      minuteUsed: this.#minuteUsed,
      day: this.#day,
      dayUsed: this.#dayUsed,
      earlierDays: this.#earlierDays,
    };
  }

  /**
   * Counts one request if both windows have room for it. Returns the resulting status, with the limits of `shown`.
   */
  admit(quota: Quota, reading: ClockReading, shown = quota): Admission {
    this.#startNewWindows(reading);
    if (this.#minuteUsed >= quota.perMinute || this.#dayUsed >= quota.perDay) {
      return this.#denial(quota, reading, shown);
    }
    if (this.#minuteUsed === 0) this.#startMinute(reading, MINUTE_MS, 0);
    this.#minuteUsed++;
    this.#dayUsed++;
    this.changed = true;
    return this.#admission(quota, reading, shown);
  }

  /** Like `admit`, without counting a request. */
  peek(quota: Quota, reading: ClockReading, shown = quota): Admission {
    this.#startNewWindows(reading);
    return this.#admission(quota, reading, shown);
  }

  /** Returns the status of each window without counting a request. */
  limitStatus(quota: Quota, reading: ClockReading): { minute: WindowStatus; day: WindowStatus } {
    this.#startNewWindows(reading);
    return {
      minute: windowStatus(quota.perMinute, this.#minuteUsed, realSeconds(this.#minuteEndsWall, reading.ahead)),
      day: windowStatus(quota.perDay, this.#dayUsed, endOfDay(reading)),
    };
  }

  #startNewWindows(reading: ClockReading): void {
    if (reading.monotonic >= this.#minuteEnds) {
      this.#minuteUsed = 0;
      this.#startMinute(reading, MINUTE_MS, 0);
    } else if (reading.jumps !== this.#jumps) {
      this.#startMinute(reading, this.#minuteEnds - reading.monotonic, this.#minuteUsed);
    }
    const today = dayOf(reading.wall);
    if (today !== this.#day) this.#startDay(today);
  }

  #startDay(today: number): void {
    const seen = [{ day: this.#day, used: this.#dayUsed }, ...this.#earlierDays];
    this.#earlierDays = seen.filter(({ day, used }) => used > 0 && day !== today).slice(0, EARLIER_DAYS);
    this.#day = today;
    this.#dayUsed = seen.find(({ day }) => day === today)?.used ?? 0;
  }

  #startMinute(reading: ClockReading, length: number, used: number): void {
    this.#minuteEnds = reading.monotonic + length;
    this.#minuteEndsWall = reading.wall + length;
    this.#minuteUsed = used;
    this.#jumps = reading.jumps;
  }

  /** The status of the window with the fewest remaining requests; of the day in a tie. */
  #admission(quota: Quota, reading: ClockReading, shown: Quota): Admission {
    const minuteLeft = Math.max(0, quota.perMinute - this.#minuteUsed);
    const dayLeft = Math.max(0, quota.perDay - this.#dayUsed);
    return minuteLeft < dayLeft
      ? {
          verdict: "admitted",
          limit: shown.perMinute,
          remaining: minuteLeft,
          reset: realSeconds(this.#minuteEndsWall, reading.ahead),
          retryAfter: 0,
        }
      : { verdict: "admitted", limit: shown.perDay, remaining: dayLeft, reset: endOfDay(reading), retryAfter: 0 };
  }

  /** If both windows are used up, the one that ends later determines `Retry-After`. */
  #denial(quota: Quota, reading: ClockReading, shown: Quota): Admission {
    const ofDay = {
      verdict: "limited" as const,
      limit: shown.perDay,
      remaining: 0,
      reset: endOfDay(reading),
      retryAfter: retryAfterOf(DAY_MS - (reading.wall - this.#day * DAY_MS)),
    };
    const ofMinute = {
      verdict: "limited" as const,
      limit: shown.perMinute,
      remaining: 0,
      reset: realSeconds(this.#minuteEndsWall, reading.ahead),
      retryAfter: retryAfterOf(this.#minuteEnds - reading.monotonic),
    };
    if (this.#dayUsed < quota.perDay) return ofMinute;
    if (this.#minuteUsed < quota.perMinute) return ofDay;
    return ofMinute.retryAfter > ofDay.retryAfter ? ofMinute : ofDay;
  }
}

/** After a change of plan, `used` can exceed `limit`. */
export function windowStatus(limit: number, used: number, reset: number): WindowStatus {
  return { limit, used, remaining: Math.max(0, limit - used), reset };
}

function endOfDay(reading: ClockReading): number {
  return realSeconds((dayOf(reading.wall) + 1) * DAY_MS, reading.ahead);
}
