/** A clock that tests can replace. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Calls `run` after this many milliseconds. The returned function cancels it. */
  after(milliseconds: number, run: () => void): () => void;
}

/** The longest delay of `setTimeout`, in milliseconds. */
const MAX_TIMER = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.min(milliseconds, MAX_TIMER));
    return () => clearTimeout(timer);
  },
};

/** Runs `work` with a signal that is aborted with its parent, or after a timeout with `lateReason`. */
export async function within<T>(
  clock: Clock,
  milliseconds: number,
  parent: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
  lateReason?: () => unknown,
): Promise<T> {
  parent?.throwIfAborted();
  const controller = new AbortController();
  const follow = () => controller.abort(parent?.reason);
  parent?.addEventListener("abort", follow);
  const cancel = clock.after(milliseconds, () => controller.abort(lateReason?.()));
  try {
    return await work(controller.signal);
  } finally {
    cancel();
    parent?.removeEventListener("abort", follow);
  }
}

/**
 * Waits this long, or until `work` ends. Returns the result of `work`; undefined if it takes longer or fails. Rejects
 * with the abort reason of the signal.
 */
export async function waitFor<T>(
  clock: Clock,
  milliseconds: number,
  signal: AbortSignal,
  work?: () => Promise<T>,
): Promise<T | undefined> {
  const result = await within(
    clock,
    milliseconds,
    signal,
    (over) =>
      new Promise<T | undefined>((done) => {
        const end = () => done(undefined);
        over.addEventListener("abort", end);
        work?.().then(done, end);
      }),
  );
  signal.throwIfAborted();
  return result;
}
