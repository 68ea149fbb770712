/** The compiler shows this name if something else is yielded. The name is the usual fix: write `yield*`. */
declare const yieldStarIsNeeded: unique symbol;

/**
 * One step of a change. Only the store creates steps and knows their content, so nothing else can be yielded in a
 * change.
 */
export interface ChangeStep {
  readonly [yieldStarIsNeeded]: true;
}

/** The steps of a change, which the store runs as one transaction, and what comes of them. */
export type Change<T> = Generator<ChangeStep, T, never>;
