import type { ShopName } from "../contract/caller.ts";
import type { Admission, LimitStatus } from "../http/interfaces.ts";
import { DAY_MS } from "../timing/clock.ts";
import {
  type ClockReading,
  realSeconds,
  remainingUntil,
  retryAfterOf,
  type StoredEnd,
  storedEnd,
} from "./clock-reading.ts";

/** For this long after the first 429, in milliseconds, requests are not strikes: they may already have been sent. */
export const GRACE = 1_000;
/** The length of the first ban of a key, in milliseconds. */
export const FIRST_BAN = 60_000;
/** The length of the longest ban, in milliseconds. */
export const MAX_BAN = 3_600_000;
/** If a key was not banned for this long, in milliseconds, its next ban is a first ban again. */
export const FORGOTTEN_AFTER = DAY_MS;

/** A stored ban. `level` counts the bans of a key from 1. */
export interface Ban {
  readonly end: StoredEnd;
  readonly level: number;
}

/** The number of strikes that leads to a ban. `perMinute` is the minute limit of the key's account. */
export function strikesForBan(perMinute: number): number {
  return Math.max(20, Math.floor(perMinute / 2));
}

/** The lengths of bans, in seconds. */
export const banSchedule: LimitStatus["banSchedule"] = {
  first: FIRST_BAN / 1000,
  longest: MAX_BAN / 1000,
  forgottenAfter: FORGOTTEN_AFTER / 1000,
};

/** How long a ban of this level lasts, in milliseconds: a minute, doubling up to an hour. */
export function banLength(level: number): number {
  return Math.min(MAX_BAN, FIRST_BAN * 2 ** (level - 1));
}

/**
 * The corrected ban if the stored one ends later than possible; otherwise undefined. This happens if the wall clock was
 * ahead when the ban began, and the machine has rebooted since. Without the correction, the ban would hold after each
 * start until that end.
 */
export function correctedBan({ end, level }: Ban, opened: ClockReading): Ban | undefined {
  const longest = banLength(level);
  if (end.boot === opened.boot || end.wall - opened.wall <= longest) return undefined;
  return { end: storedEnd(longest, opened), level };
}

/**
 * Strikes and bans of one key, by the clock of its shop. A request that is denied before the `Retry-After` of a 429 has
 * passed is a strike. Enough strikes lead to a ban.
 */
export class KeyBans {
  /** The shop of the key. */
  readonly shop: ShopName;
  #deniedSince = 0; // monotonic, as the next two
  #deniedUntil = Number.NEGATIVE_INFINITY;
  #banEnds = Number.NEGATIVE_INFINITY;
  #banEndsWall = Number.NEGATIVE_INFINITY; // Unix milliseconds
  #banLevel = 0;
  #strikes = 0;
  #jumps = 0;

  constructor({ accountId, mode }: ShopName) {
    this.shop = { accountId, mode };
  }

  /** The state of a key with a stored ban, at the time `opened`. */
  static restore(shop: ShopName, ban: Ban, opened: ClockReading): KeyBans {
    const keyBans = new KeyBans(shop);
    keyBans.#banLevel = ban.level;
    keyBans.#startBan(opened, remainingUntil(ban.end, banLength(ban.level), opened, opened));
    return keyBans;
  }

  /** When the current ban ends, in Unix seconds; undefined if there is none. */
  banEnds(reading: ClockReading): number | undefined {
    if (reading.monotonic >= this.#banEnds) return undefined;
    if (reading.jumps !== this.#jumps) this.#startBan(reading, this.#banEnds - reading.monotonic);
    return realSeconds(this.#banEndsWall, reading.ahead);
  }

  /** The current ban as a response to a request, which shows this limit; undefined if there is none. */
  currentBan(limit: number, reading: ClockReading): Admission | undefined {
    const reset = this.banEnds(reading);
    if (reset === undefined) return undefined;
    const retryAfter = retryAfterOf(this.#banEnds - reading.monotonic);
    return { verdict: "banned", limit, remaining: 0, reset, retryAfter };
  }

  /** Records that a request was admitted: the key's next 429 is a first one again. */
  noteAdmitted(): void {
    this.#deniedUntil = Number.NEGATIVE_INFINITY;
  }

  /** Records a denial of a key whose account has this minute limit. Returns the ban if this strike causes one. */
  noteDenied(retryAfter: number, perMinute: number, reading: ClockReading): Ban | undefined {
    const until = reading.monotonic + retryAfter * 1000;
    if (reading.monotonic >= this.#deniedUntil) {
      this.#strikes = 0;
      this.#deniedSince = reading.monotonic;
      this.#deniedUntil = until;
    } else {
      // Parallel requests get different times. Waiting for any of them must be enough.
      this.#deniedUntil = Math.min(this.#deniedUntil, until);
      if (reading.monotonic - this.#deniedSince >= GRACE) this.#strikes++;
    }
    if (this.#strikes < strikesForBan(perMinute)) return undefined;
    this.#banLevel = this.#isForgotten(reading) ? 1 : this.#banLevel + 1;
    const length = banLength(this.#banLevel);
    this.#startBan(reading, length);
    this.#deniedUntil = Number.NEGATIVE_INFINITY; // after the ban, the next 429 is a first one again
    return { end: storedEnd(length, reading), level: this.#banLevel };
  }

  /** The strikes and ban of the key, without counting a request. `perMinute` is the minute limit of its account. */
  limitStatus(perMinute: number, reading: ClockReading): Omit<LimitStatus, "minute" | "day"> {
    return {
      strikes: reading.monotonic < this.#deniedUntil ? this.#strikes : 0,
      strikesForBan: strikesForBan(perMinute),
      banEnds: this.banEnds(reading),
      nextBan: banLength(this.#isForgotten(reading) ? 1 : this.#banLevel + 1) / 1000,
      banSchedule,
    };
  }

  /** True once this state has no effect any more. */
  isSpent(reading: ClockReading): boolean {
    return reading.monotonic >= this.#deniedUntil && this.#isForgotten(reading);
  }

  #startBan(reading: ClockReading, length: number): void {
    this.#banEnds = reading.monotonic + length;
    this.#banEndsWall = reading.wall + length;
    this.#jumps = reading.jumps;
  }

  #isForgotten(reading: ClockReading): boolean {
    return reading.monotonic - this.#banEnds >= FORGOTTEN_AFTER;
  }
}
