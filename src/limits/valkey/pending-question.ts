import { type Caller, type Quota, sandboxQuota } from "../../contract/caller.ts";
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

interface WaitingRequest<T> {
  resolve(answer: MaybePromise<T>): void;
  reject(error: Error): void;
}

/** A question to the server, and the requests that wait for its reply, in the order of arrival. */
export class PendingQuestion<T = unknown> implements Question {
  readonly owner: string;
  readonly kind: CountKind;
  readonly caller: Caller | undefined;
  readonly quota: Quota;
  requests = 0;
  readonly #answers: Answers<T>;
  readonly #waiting: WaitingRequest<T>[] = [];

  private constructor(owner: string, kind: CountKind, caller: Caller | undefined, quota: Quota, answers: Answers<T>) {
    this.owner = owner;
    this.kind = kind;
    this.caller = caller;
    this.quota = quota;
    this.#answers = answers;
  }

  /** About the windows of a shop, and the strikes of a key. */
  static ofShop<T>(caller: Caller, answers: Answers<T>): PendingQuestion<T> {
    return new PendingQuestion(caller.accountId, caller.mode, caller, caller, answers);
  }

  static ofAddress<T>(address: string, quota: Quota, answers: Answers<T>): PendingQuestion<T> {
    return new PendingQuestion(address, "address", undefined, quota, answers);
  }

  /** About the sandbox quota of an account. */
  static ofSandboxQuota<T>(accountId: string, answers: Answers<T>): PendingQuestion<T> {
    return new PendingQuestion(accountId, "sandbox", undefined, sandboxQuota, answers);
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
    for (const [position, request] of this.#waiting.entries()) request.resolve(this.#answers.read(decision, position));
  }

  decideLocally(): void {
    for (const request of this.#waiting) request.resolve(this.#answers.decideLocally());
  }

  fail(error: Error): void {
    for (const request of this.#waiting) request.reject(error);
  }
}
