/**
 * A value that is there at once, or later. The embedded store answers at once, and a request that
 * never waits is served clearly faster; a store across the network answers later.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with the value: now if it is there, otherwise when it arrives. */
export function whenReady<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
