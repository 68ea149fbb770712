import { microtasksDone } from "./waiting.ts";

/** Who pays for the time of some work: a shop, by its internal number. All work that is of no shop counts as one. */
export type Payer = number | undefined;

/** What a payer may use of a turn of the event loop before others go first, in milliseconds. */
export const SHARE = 2;
/** The same of a shop that has been alone for `ALONE_AFTER`: to put off its work takes time, and nobody gains. */
export const SHARE_ALONE = 10;
/** In milliseconds. */
export const ALONE_AFTER = 1_000;

/** Each lets work of a payer go on. */
interface PutOff {
  readonly first: (() => void)[];
  readonly last: (() => void)[];
}

/**
 * What each shop has used of a turn of the event loop, in time. One that has used its share is put off, and those put off
 * take turns: together they get one share of each turn. What a shop uses beyond its share is a debt, which later turns
 * pay off. So commits, timers, health checks and other shops wait for a few milliseconds, whatever a shop asks for.
 */
export class Turns {
  readonly #now: () => number;
  /** What is not paid off, in milliseconds. */
  readonly #used = new Map<Payer, number>();
  /** Work that was put off, by payer. The one whose turn is next comes first. */
  readonly #putOff = new Map<Payer, PutOff>();
  /** Until when time is charged, by the clock of `#now`. */
  #charged = Number.NEGATIVE_INFINITY;
  #isScheduled = false;
  #share = SHARE;
  /** When the last turn was that two shops have used or wait for. */
  #sharedAt: number;

  /** `now` is a monotonic clock, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#sharedAt = now();
  }

  /**
   * Charges a payer for the work since then, without what was already charged to somebody: call it at the end of each
   * piece of work. Returns the milliseconds.
   */
  charge(payer: Payer, since: number): number {
    const now = this.#now();
    const time = now - Math.max(since, this.#charged);
    this.#charged = now;
    this.#used.set(payer, (this.#used.get(payer) ?? 0) + time);
    this.#schedule();
    return time;
  }

  /** True if the payer has used its share. */
  isInDebt(payer: Payer): boolean {
    return (this.#used.get(payer) ?? 0) >= this.#share;
  }

  /** Resolves when work of the payer may begin; undefined if it may at once. */
  turn(payer: Payer): Promise<void> | undefined {
    return this.#mustWait(payer) ? this.pause(payer) : undefined;
  }

  /**
   * Between two pieces of work of a payer: lets other payers go first. Short work that holds much memory goes before the
   * payer's other work: otherwise all of it would begin before any ends.
   */
  pause(payer: Payer, place: keyof PutOff = "last"): Promise<void> {
    return new Promise((resolve) => {
      this.#putOff.getOrInsertComputed(payer, () => ({ first: [], last: [] }))[place].push(resolve);
      this.#schedule();
    });
  }

  /** Does a piece of work when it is the payer's turn, and charges it. For `place`, see `pause`. */
  async run<T>(payer: Payer, work: () => T, place?: keyof PutOff): Promise<T> {
    if (this.#mustWait(payer)) await this.pause(payer, place);
    const since = this.#now();
    try {
      return work();
    } finally {
      this.charge(payer, since);
    }
  }

  #mustWait(payer: Payer): boolean {
    return this.isInDebt(payer) || this.#putOff.has(payer);
  }

  /** How many shops have used this turn, or are put off. */
  get #shops(): number {
    const payers = new Set([...this.#used.keys(), ...this.#putOff.keys()]);
    payers.delete(undefined);
    return payers.size;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => void this.#endTurn());
  }

  async #endTurn(): Promise<void> {
    this.#isScheduled = false;
    const now = this.#now();
    if (this.#used.size + this.#putOff.size > 1 && this.#shops > 1) this.#sharedAt = now;
    this.#share = now - this.#sharedAt > ALONE_AFTER ? SHARE_ALONE : SHARE;
    for (const [payer, used] of this.#used) {
      if (used > this.#share) this.#used.set(payer, used - this.#share);
      else this.#used.delete(payer);
    }
    const end = now + this.#share;
    const putOff = [...this.#putOff];
    for (const [payer, { first, last }] of putOff) {
      if (this.isInDebt(payer)) continue;
      const later: PutOff = { first: [], last: [] }; // what pauses again waits for the next turn
      this.#putOff.set(payer, later);
      while (first.length + last.length > 0 && !this.isInDebt(payer) && this.#now() < end) {
        (first.shift() ?? last.shift())?.();
        await microtasksDone(); // then it is charged
      }
      this.#putOff.delete(payer);
      const left = { first: [...first, ...later.first], last: [...last, ...later.last] };
      if (left.first.length + left.last.length > 0) this.#putOff.set(payer, left); // now the last
      if (this.#now() >= end) break;
    }
    if (this.#used.size > 0 || this.#putOff.size > 0) this.#schedule();
  }
}

/** Those of this process. */
export const turns = new Turns();
