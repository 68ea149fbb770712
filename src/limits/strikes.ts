import { strikesForBan } from "../contract/bans.ts";
import type { ShopName } from "../contract/caller.ts";
import type { ClockReading } from "../timing/clock.ts";

/** For this long after the first 429, in milliseconds, requests are not strikes: they may already have been sent. */
export const GRACE = 1_000;

/**
 * The strikes of one key, by the clock of its shop. A request that is denied before the `Retry-After` of a 429 has passed
 * is a strike. The last of the strikes that lead to a ban forgets them all.
 */
export class Strikes {
  /** The shop of the key. */
  readonly shop: ShopName;
  #deniedSince = 0; // monotonic, as the next one
  #deniedUntil = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor({ accountId, mode }: ShopName) {
    this.shop = { accountId, mode };
  }

  /** Forgets them: the key's next 429 is a first one again. */
  forget(): void {
    this.#deniedUntil = Number.NEGATIVE_INFINITY;
  }

  /** Records a denial of a key whose account has this minute limit. Returns true for the last strike before a ban. */
  noteDenied(retryAfter: number, perMinute: number, reading: ClockReading): boolean {
    const until = reading.monotonic + retryAfter * 1000;
    if (reading.monotonic >= this.#deniedUntil) {
      this.#count = 0;
      this.#deniedSince = reading.monotonic;
      this.#deniedUntil = until;
      return false;
    }
    // Parallel requests get different times. Waiting for any of them must be enough.
    this.#deniedUntil = Math.min(this.#deniedUntil, until);
    if (reading.monotonic - this.#deniedSince < GRACE) return false;
    this.#count++;
    if (this.#count < strikesForBan(perMinute)) return false;
    this.forget();
    return true;
  }

  /** How many strikes count at this time. */
  countAt(reading: ClockReading): number {
    return this.isSpent(reading) ? 0 : this.#count;
  }

  /** True once this state has no effect any more. */
  isSpent(reading: ClockReading): boolean {
    return reading.monotonic >= this.#deniedUntil;
  }
}
