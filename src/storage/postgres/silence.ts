import { StorageUnavailable } from "../errors.ts";

/** How often it is looked whether the server has answered, in milliseconds. */
const LOOK = 250;
/** A look that comes later than this after the one before tells nothing of the server. */
const ON_TIME = 1.5 * LOOK;

/**
 * Calls `giveUp`, once or more, when `isSilent` has said at each look that the server owes an answer, for `limit`
 * milliseconds or up to half a second longer. Only looks that came on time count: one that is late shows that
 * this process stood still, and what the server sent may be there unread.
 */
export function watchForSilence(limit: number, isSilent: () => boolean, giveUp: () => void): Timer {
  let silence = 0;
  let lookedAt = performance.now();
  const timer = setInterval(() => {
    const passed = performance.now() - lookedAt;
    lookedAt += passed;
    if (!isSilent()) silence = 0;
    else if (passed < ON_TIME) silence += passed;
    if (silence >= limit) giveUp();
  }, LOOK);
  timer.unref();
  return timer;
}

/** The error of work of which nothing was done, because the server is silent. */
export function silentServer(): StorageUnavailable {
  return new StorageUnavailable("The database does not answer.");
}

/** Settles as the work does; rejects with `StorageUnavailable` where the server is silent for `limit` milliseconds. */
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
