import type { Clock } from "../clock.ts";
import type { Admission } from "../http/ports.ts";
import type { Quota } from "../quota.ts";

export const MINUTE = 60_000;
export const DAY = 86_400_000;
/** A difference between the two clocks that grows by more than this is a jump of the wall clock. */
const JUMP = 2_000;

/** A moment, read once for a whole decision. */
export interface Moment {
  /** Wall clock, unix milliseconds. */
  readonly wall: number;
  /** Monotonic milliseconds. */
  readonly monotonic: number;
  /** Counts the jumps of the wall clock so far. */
  readonly jumps: number;
}

/**
 * Reads the clocks and notices when the wall clock jumps. What lasts a stated time (a minute, a ban)
 * ends by the monotonic clock, so that no jump ends or lengthens it.
 */
export class Moments {
  readonly #clock: Clock;
  #offset: number;
  #jumps = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offset = clock.now() - clock.monotonic();
  }

  now(): Moment {
    const wall = this.#clock.now();
    const monotonic = this.#clock.monotonic();
    if (Math.abs(wall - monotonic - this.#offset) > JUMP) {
      this.#offset = wall - monotonic;
      this.#jumps++;
    }
    return { wall, monotonic, jumps: this.#jumps };
  }
}

/** The UTC calendar day of a wall time, as days since 1970-01-01. */
function dayOf(wall: number): number {
  return Math.floor(wall / DAY);
}

/** The state of two windows as it is kept in the store; times in unix milliseconds. */
export interface WindowState {
  readonly minuteEndsAt: number;
  readonly minuteUsed: number;
  readonly day: number;
  readonly dayUsed: number;
  readonly previousDay: number;
  readonly previousDayUsed: number;
}

/**
 * The two windows of one account or address: a minute that starts with the first request, and the
 * UTC calendar day. A second day is kept too, so that a wall clock that jumps over midnight and back
 * finds its count again.
 */
export class Windows {
  #minuteEnds = Number.NEGATIVE_INFINITY; // monotonic
  #minuteReset = 0; // the same moment in unix seconds: constant within the window
  #minuteUsed = 0;
  #day = Number.NEGATIVE_INFINITY;
  #dayUsed = 0;
  #previousDay = Number.NEGATIVE_INFINITY;
  #previousDayUsed = 0;
  #jumps = 0;
  /** True if a request was counted since `save` was called last. */
  changed = false;

  /** Windows as they were when the process ended. */
  static restore(state: WindowState, moment: Moment): Windows {
    const windows = new Windows();
    // Clamped: a wall clock that was set back while nothing ran must not lengthen the window.
    const rest = Math.min(state.minuteEndsAt - moment.wall, MINUTE);
    if (rest > 0) windows.#startMinute(moment, rest, state.minuteUsed);
    windows.#day = state.day;
    windows.#dayUsed = state.dayUsed;
    windows.#previousDay = state.previousDay;
    windows.#previousDayUsed = state.previousDayUsed;
    return windows;
  }

  /** The state to keep, which from now on counts as unchanged. */
  save(moment: Moment): WindowState {
    this.changed = false;
    return {
      minuteEndsAt: Math.round(moment.wall + Math.max(0, this.#minuteEnds - moment.monotonic)),
      minuteUsed: this.#minuteUsed,
      day: this.#day,
      dayUsed: this.#dayUsed,
      previousDay: Number.isFinite(this.#previousDay) ? this.#previousDay : 0,
      previousDayUsed: this.#previousDayUsed,
    };
  }

  /** Counts one request if both windows have room for it, and says how they stand. */
  admit(quota: Quota, moment: Moment): Admission {
    this.#roll(moment);
    if (this.#minuteUsed >= quota.perMinute || this.#dayUsed >= quota.perDay) return this.#limited(quota, moment);
    if (this.#minuteUsed === 0) this.#startMinute(moment, MINUTE, 0);
    this.#minuteUsed++;
    this.#dayUsed++;
    this.changed = true;
    return this.#standing("admitted", quota, moment);
  }

  /** Says how the windows stand, counting nothing. */
  peek(quota: Quota, moment: Moment): Admission {
    this.#roll(moment);
    return this.#standing("admitted", quota, moment);
  }

  #roll(moment: Moment): void {
    if (moment.monotonic >= this.#minuteEnds) {
      this.#minuteUsed = 0;
      this.#startMinute(moment, MINUTE, 0);
    } else if (moment.jumps !== this.#jumps) {
      this.#startMinute(moment, this.#minuteEnds - moment.monotonic, this.#minuteUsed);
    }
    const today = dayOf(moment.wall);
    if (today === this.#day) return;
    const comesBack = today === this.#previousDay;
    const used = comesBack ? this.#previousDayUsed : 0;
    // Of two other days the nearer one is kept: a clock that is put right can bring it back.
    if (comesBack || Math.abs(today - this.#day) <= Math.abs(today - this.#previousDay)) {
      this.#previousDay = this.#day;
      this.#previousDayUsed = this.#dayUsed;
    }
    this.#day = today;
    this.#dayUsed = used;
  }

  #startMinute(moment: Moment, length: number, used: number): void {
    this.#minuteEnds = moment.monotonic + length;
    this.#minuteReset = Math.ceil((moment.wall + length) / 1000);
    this.#minuteUsed = used;
    this.#jumps = moment.jumps;
  }

  /** The window with the least remaining; the day where both have the same. */
  #standing(verdict: Admission["verdict"], quota: Quota, moment: Moment): Admission {
    const minuteLeft = Math.max(0, quota.perMinute - this.#minuteUsed);
    const dayLeft = Math.max(0, quota.perDay - this.#dayUsed);
    return minuteLeft < dayLeft
      ? { verdict, limit: quota.perMinute, remaining: minuteLeft, reset: this.#minuteReset, retryAfter: 0 }
      : { verdict, limit: quota.perDay, remaining: dayLeft, reset: endOfDay(moment), retryAfter: 0 };
  }

  /** Of two windows that are used up, the one that ends later tells when to come back. */
  #limited(quota: Quota, moment: Moment): Admission {
    const ofDay = {
      verdict: "limited" as const,
      limit: quota.perDay,
      remaining: 0,
      reset: endOfDay(moment),
      retryAfter: Math.max(1, Math.ceil((DAY - (moment.wall - this.#day * DAY)) / 1000)),
    };
    const ofMinute = {
      verdict: "limited" as const,
      limit: quota.perMinute,
      remaining: 0,
      reset: this.#minuteReset,
      retryAfter: Math.max(1, Math.ceil((this.#minuteEnds - moment.monotonic) / 1000)),
    };
    if (this.#dayUsed < quota.perDay) return ofMinute;
    if (this.#minuteUsed < quota.perMinute) return ofDay;
    return ofMinute.retryAfter > ofDay.retryAfter ? ofMinute : ofDay;
  }
}

function endOfDay(moment: Moment): number {
  return ((dayOf(moment.wall) + 1) * DAY) / 1000;
}
