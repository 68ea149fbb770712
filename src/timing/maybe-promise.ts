/**
 * A value or a promise of it. The embedded store returns values immediately, and a request that never
 * waits is served clearly faster. A store on the network returns promises.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Calls a function with the value: immediately, or when the promise resolves. */
export function whenReady<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
