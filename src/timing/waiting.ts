/** Settles when all callers so far have had their turn. */
let last: Promise<void> = Promise.resolve();

/**
 * Waits for a turn of the event loop in which no other caller continues. Long work calls it after each part: the process
 * then does one part between two requests, however many such works there are.
 */
export function nextTurn(): Promise<void> {
  last = last.then(() => new Promise<void>((resolve) => setImmediate(resolve)));
  return last;
}

/** Resolves in this turn of the event loop, when all microtasks are done, also those that others make. */
export function microtasksDone(): Promise<void> {
  // The queue of `nextTick` comes after that of microtasks, from within which it is filled.
  return Promise.resolve().then(() => new Promise((resolve) => process.nextTick(resolve)));
}

/** True as soon as the work is done, false after the timeout. Rejects if the work does. Late work is not cancelled. */
export async function settlesWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), milliseconds);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The number of timer ticks that make up the time of `settlesWhileRunning`. */
const TICKS = 20;

/**
 * Like `settlesWithin`, but the timeout is in milliseconds in which the event loop has run. While the loop is blocked,
 * or the process gets no CPU time, it cannot see that the work is done. Such a delay counts as one tick, however long
 * it takes.
 */
export async function settlesWhileRunning(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  let ticks = 0;
  const timer = setInterval(() => {
    if (++ticks === TICKS) late.resolve(false);
  }, milliseconds / TICKS);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearInterval(timer);
  }
}

/** A pause between two runs of periodic work. */
export class Pause {
  readonly #length: number;
  #endsAt = Number.NEGATIVE_INFINITY;

  /** `length` is in milliseconds. */
  constructor(length: number) {
    this.#length = length;
  }

  /** Starts the pause. `now` is in Unix milliseconds. */
  start(now: number): void {
    this.#endsAt = now + this.#length;
  }

  /** True if no pause runs. It is also over if the clock was set back by its length or more. */
  isOver(now: number): boolean {
    return now >= this.#endsAt || now <= this.#endsAt - 2 * this.#length;
  }
}
