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
