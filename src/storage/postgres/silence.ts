import { NoConnection } from "./errors.ts";

/** How often to check whether the server has responded, in milliseconds. */
const CHECK_INTERVAL = 250;
/** If more time than this has passed since the previous check, in milliseconds, the check does not count. */
const ON_TIME = 1.5 * CHECK_INTERVAL;

/**
 * Calls `giveUp`, once or more, when `isSilent` has returned true at each check for `limit` milliseconds, or up to half
 * a second longer. A late check does not count: this process was frozen, and a response may have arrived unread.
 */
export function watchForSilence(limit: number, isSilent: () => boolean, giveUp: () => void): Timer {
  let silence = 0;
  let checkedAt = performance.now();
  const timer = setInterval(() => {
    const passed = performance.now() - checkedAt;
    checkedAt += passed;
    if (!isSilent()) silence = 0;
    else if (passed < ON_TIME) silence += passed;
    if (silence >= limit) giveUp();
  }, CHECK_INTERVAL);
  timer.unref();
  return timer;
}

/** The error for work that was not done because the server is silent. */
export function silentServer(): NoConnection {
  return new NoConnection("The database does not answer.");
}

/** Settles like `work`, or rejects with `StorageUnavailable` if it takes longer than `limit` milliseconds. */
export async function withSilenceLimit<T>(work: Promise<T>, limit: number): Promise<T> {
  const silent = Promise.withResolvers<never>();
  const watch = watchForSilence(
    limit,
    () => true,
    () => silent.reject(silentServer()),
  );
  try {
    return await Promise.race([work, silent.promise]);
  } finally {
    clearInterval(watch);
  }
}
