/** The compiler shows this name if a change yields anything but a step. The usual mistake is `yield` without the star. */
declare const yieldStarIsNeeded: unique symbol;

/**
 * One step of a change. Only the store creates steps and knows their content, so nothing else can be yielded in a
 * change.
 */
export interface ChangeStep {
  readonly [yieldStarIsNeeded]: true;
}

/** The steps of a change, which the store runs as one transaction, with their result. To the store, it is a `Transaction`. */
export type Change<T> = Generator<ChangeStep, T, never>;
