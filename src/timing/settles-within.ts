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
