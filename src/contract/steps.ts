/** The compiler shows this name if anything but a step is yielded. The usual mistake is `yield` without the star. */
declare const yieldStarIsNeeded: unique symbol;

/** What a step does: it queries the store, changes it, or waits for something other than the store. */
export type StepKind = "query" | "change" | "wait";

/** A step of a transaction. Only the store creates steps and knows their content, so nothing else can be yielded. */
export interface Step<K extends StepKind = StepKind> {
  readonly [yieldStarIsNeeded]: K;
}

declare const onlyTheStoreKnows: unique symbol;

/** Says that the same request gets the same page until the version of the shop is raised. Only the store knows it. */
export interface Lasting {
  readonly [onlyTheStoreKnows]: true;
}

/**
 * Steps with their result. They are a generator, so that the same code works for synchronous and asynchronous engines.
 */
export type Steps<T, K extends StepKind = StepKind> = Generator<Step<K>, T, unknown>;

/** Steps that only query the store: part of a read or of a change. */
export type Query<T> = Steps<T, "query">;

/**
 * The steps of a read, which may also wait but change nothing. Each step may see a later state of the store than the one
 * before.
 */
export type Read<T> = Steps<T, "query" | "wait">;

/**
 * The steps of a change, which never wait, because they hold locks. They are one transaction, which an engine may run
 * again, so it must have no side effects except steps.
 */
export type Change<T> = Steps<T, "query" | "change">;
