/** Time, as tests can set it. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Runs something once this many milliseconds have passed, unless what is returned is called before. */
  after(milliseconds: number, run: () => void): () => void;
}

/** The longest time that timers can wait for. */
const MAX_TIMER = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.min(milliseconds, MAX_TIMER));
    return () => clearTimeout(timer);
  },
};

/** Does something with a signal that is aborted with its parent, or after a time. */
export async function within<T>(
  clock: Clock,
  milliseconds: number,
  parent: AbortSignal | undefined,
  reason: (() => unknown) | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const follow = () => controller.abort(parent?.reason);
  if (parent?.aborted) follow();
  parent?.addEventListener("abort", follow);
  const cancel = clock.after(milliseconds, () => controller.abort(reason?.()));
  try {
    return await work(controller.signal);
  } finally {
    cancel();
    parent?.removeEventListener("abort", follow);
  }
}

/** Waits, or fails with the reason of a signal that is aborted. */
export function sleep(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    const cancel = clock.after(milliseconds, done);
    signal.addEventListener("abort", () => {
      cancel();
      fail(signal.reason);
    });
  });
}
