/**
 * A value or a promise of it. The embedded store returns values immediately, and a request that never
 * waits is served clearly faster. A store on the network returns promises.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Calls a function with the value: immediately, or when the promise resolves. */
export function whenReady<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R>;
/**
 * Also passes `context`. Where every request passes, `next` is a function of the module that gets what it needs as
 * `context`: a closure would be allocated each time.
 */
export function whenReady<T, R, C>(
  value: MaybePromise<T>,
  next: (value: T, context: C) => MaybePromise<R>,
  context: C,
): MaybePromise<R>;
export function whenReady<T, R, C>(
  value: MaybePromise<T>,
  next: (value: T, context?: C) => MaybePromise<R>,
  context?: C,
): MaybePromise<R> {
  return value instanceof Promise ? later(value, next, context) : next(value, context);
}

/** Separate from `whenReady`, so that only the waiting path has a closure. */
function later<T, R, C>(
  promise: Promise<T>,
  next: (value: T, context?: C) => MaybePromise<R>,
  context?: C,
): Promise<R> {
  return promise.then((value) => next(value, context));
}
