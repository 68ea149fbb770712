import type { Quota } from "../../contract/quota.ts";
import type { Caller } from "../../http/interfaces.ts";
import type { MaybePromise } from "../../timing/maybe-promise.ts";
import type { Decision } from "./decision.ts";
import type { CountKind, Question } from "./valkey-counts.ts";

/** How a waiting request gets its answer. */
interface Answers<T> {
  /** Derives the answer from the server's decision. `position` is the place among the waiting requests, from 0. */
  readonly read: (decision: Decision, position: number) => T;
  /** Decides without the server. */
  readonly decideLocally: () => MaybePromise<T>;
}

/** A question that waits for the server's reply. */
export interface PendingQuestion extends Question {
  readonly caller: Caller | undefined;
  settle(decision: Decision): void;
  decideLocally(): void;
  fail(error: Error): void;
}

/** A question that requests of a turn can share, and the requests that wait for its reply, in the order of arrival. */
export class SharedQuestion<T> implements PendingQuestion {
  readonly owner: string;
  readonly kind: CountKind;
  readonly caller: Caller | undefined;
  readonly quota: Quota;
  requests = 0;
  readonly #answers: Answers<T>;
  readonly #waiting: { resolve: (answer: MaybePromise<T>) => void; reject: (error: Error) => void }[] = [];

  /** About the counts of `owner`. Those of a shop need its `caller`, who is also its `quota`. */
  constructor(
    owner: string,
    caller: Caller | undefined,
    quota: Quota,
    answers: Answers<T>,
    kind: CountKind = caller?.mode ?? "address",
  ) {
    this.owner = owner;
    this.kind = kind;
    this.caller = caller;
    this.quota = quota;
    this.#answers = answers;
  }

  /** Counts one more request. Resolves with the decision on it. */
  count(): Promise<T> {
    this.requests++;
    return this.peek();
  }

  /** Resolves with the decision without counting a request. */
  peek(): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
    });
  }

  settle(decision: Decision): void {
    for (const [position, { resolve }] of this.#waiting.entries()) resolve(this.#answers.read(decision, position));
  }

  decideLocally(): void {
    for (const { resolve } of this.#waiting) resolve(this.#answers.decideLocally());
  }

  fail(error: Error): void {
    for (const { reject } of this.#waiting) reject(error);
  }
}
