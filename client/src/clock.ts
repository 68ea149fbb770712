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

/** What each signal ends, and its listener. */
const followed = new WeakMap<AbortSignal, { readonly runs: Set<() => void>; readonly listener: () => void }>();

/**
 * Calls `run` when the signal is aborted. The returned function takes that back. A signal gets one listener, however many
 * calls it ends: Node warns of a leak from eleven on.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  let entry = followed.get(signal);
  if (!entry) {
    const runs = new Set<() => void>();
    entry = { runs, listener: () => runs.forEach((one) => one()) };
    followed.set(signal, entry);
    signal.addEventListener("abort", entry.listener);
  }
  const { runs, listener } = entry;
  runs.add(run);
  return () => {
    runs.delete(run);
    if (runs.size > 0) return;
    followed.delete(signal);
    signal.removeEventListener("abort", listener);
  };
}

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
  const leave = parent && onAbort(parent, () => controller.abort(parent.reason));
  const cancel = clock.after(milliseconds, () => controller.abort(lateReason?.()));
  try {
    return await work(controller.signal);
  } finally {
    cancel();
    leave?.();
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
