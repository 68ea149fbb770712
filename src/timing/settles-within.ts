/** True as soon as the work is done, false after the timeout. Late work is not cancelled. */
export async function settlesWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), milliseconds);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The deadline of `settlesWhileRunning` is counted in so many steps. */
const STEPS = 20;

/**
 * True as soon as the work is done, false after `milliseconds` in which the event loop has run. A loop that was blocked,
 * or a process that had no processor, has not yet seen whether the work is done: it adds one step of the deadline
 * however long that took.
 */
export async function settlesWhileRunning(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  let steps = 0;
  const timer = setInterval(() => {
    if (++steps === STEPS) late.resolve(false);
  }, milliseconds / STEPS);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearInterval(timer);
  }
}
