/** The compiler shows this name if anything but a step is yielded. The usual mistake is `yield` without the star. */
declare const yieldStarIsNeeded: unique symbol;

/** One step of a transaction. Only the store creates steps and knows their content, so nothing else can be yielded. */
export interface Step {
  readonly [yieldStarIsNeeded]: true;
}

/**
 * The steps of a read or a change, with their result. It is a generator, so that the same code works for synchronous
 * and asynchronous engines. The steps of a change are one transaction, which an engine may run again, so it must have no
 * side effects except steps. Each step of a read may see a later state of the store than the one before.
 */
export type Transaction<T> = Generator<Step, T, unknown>;
