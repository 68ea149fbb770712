/** The compiler names it where something else is yielded. Its name is the usual remedy: the star of `yield*` is missing. */
declare const yieldStarIsNeeded: unique symbol;

/**
 * One step of a change. Only the store makes steps and knows what is in them, so that nothing else can be yielded
 * in a change.
 */
export interface ChangeStep {
  readonly [yieldStarIsNeeded]: true;
}

/** The steps of a change, which the store runs as one transaction, and what comes of them. */
export type Change<T> = Generator<ChangeStep, T, never>;
