import type { Caller } from "../../contract/caller.ts";
import type { Admission } from "../../http/interfaces.ts";
import { StorageUnavailable } from "../../storage/errors.ts";
import type { Decision } from "./decision.ts";
import type { LastKnownLimits } from "./last-known-limits.ts";
import type { PendingQuestion } from "./pending-question.ts";
import type { WaitStart } from "./running-time.ts";
import { ServerWatch } from "./server-watch.ts";
import type { Share } from "./share.ts";
import type { ValkeyCounts } from "./valkey-counts.ts";

/** A call to the server that waits for its reply. */
interface Call {
  readonly questions: readonly PendingQuestion[];
  readonly since: WaitStart;
  /** Called when the reply is no longer waited for. */
  readonly giveUp?: () => void;
}

export interface ServerCallsOptions {
  readonly counts: ValkeyCounts;
  readonly share: Share;
  /** Gets each decision on a shop. Has the saved counts of shops that the server does not know. */
  readonly lastKnown: LastKnownLimits;
  /** How long to wait for the server, in milliseconds of this process's running time. Default: 50. */
  readonly callTimeout?: number;
  /** Called when the local fallback starts, with the reason and the unanswered questions. */
  readonly fallbackStarted: (reason: Error, unanswered: readonly PendingQuestion[]) => void;
  readonly fallbackEnded: () => void;
}

/**
 * Sends the questions of each turn of the event loop to the server, in as few calls as possible. If the server is down or
 * too slow, the local fallback starts: all questions are decided locally until the server replies in time again.
 */
export class ServerCalls {
  readonly #options: ServerCallsOptions;
  readonly #watch: ServerWatch;
  /** The questions of this turn. */
  #turn: PendingQuestion[] = [];
  /**
   * The questions of this turn that several requests may share: of an API key, by the caller object that the
   * authenticator keeps, and of an address. Another object of the same key only means another question.
   */
  #shared = new Map<Caller | string, PendingQuestion<Admission>>();
  readonly #calls = new Set<Call>();
  /** Questions about shops that the server does not know. Their saved counts will be loaded. */
  #unknown: PendingQuestion[] = [];
  #isInFallback = false;

  constructor(options: ServerCallsOptions) {
    this.#options = options;
    const watched = {
      isInFallback: () => this.#isInFallback,
      oldestCall: () => this.#calls.values().next().value,
      startFallback: (reason: Error) => this.#startFallback(reason),
      endFallback: () => this.#endFallback(),
    };
    this.#watch = new ServerWatch(options.counts, options.share, watched, options.callTimeout);
  }

  /** Starts the local fallback if the server does not reply in time. */
  probe(): Promise<void> {
    return this.#watch.probe();
  }

  stop(): void {
    this.#watch.stop();
  }

  /** True during the local fallback. */
  get isInFallback(): boolean {
    return this.#isInFallback;
  }

  /** Asks a question at the end of this turn of the event loop. */
  ask(question: PendingQuestion): void {
    if (this.#turn.push(question) === 1) setImmediate(this.#endTurn);
  }

  /** The question of this turn about an API key or an address, if there is one. */
  shared(client: Caller | string): PendingQuestion<Admission> | undefined {
    return this.#shared.get(client);
  }

  /** Asks a question that other requests of this turn can share. */
  askShared(client: Caller | string, question: PendingQuestion<Admission>): PendingQuestion<Admission> {
    this.#shared.set(client, question);
    this.ask(question);
    return question;
  }

  /** Waits for other work of the server, at most as long as for a reply. Rejects with `StorageUnavailable`. */
  async run(work: Promise<void>): Promise<void> {
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    const call = { questions: [], since: this.#watch.start(), giveUp: () => reject(serverFailed()) };
    this.#calls.add(call);
    try {
      await Promise.race([work, givenUp]);
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      throw serverFailed(error);
    } finally {
      this.#calls.delete(call);
    }
  }

  readonly #endTurn = (): void => {
    const turn = this.#turn;
    this.#turn = [];
    // Not `clear`: a map keeps cleared entries alive until the next full garbage collection.
    this.#shared = new Map();
    const { counts } = this.#options;
    this.#send(turn, (questions) => counts.decide(questions), this.#restoreLater);
  };

  /** `onUnknown` gets the questions about shops that the server does not know. */
  #send(
    all: readonly PendingQuestion[],
    decide: (questions: readonly PendingQuestion[]) => Promise<(Decision | undefined)[]>,
    onUnknown: (questions: readonly PendingQuestion[]) => void,
  ): void {
    if (this.#isInFallback) {
      for (const question of all) question.decideLocally();
      return;
    }
    for (const questions of this.#options.counts.splitIntoCalls(all, ({ owner }) => owner)) {
      const call = { questions, since: this.#watch.start() };
      this.#calls.add(call);
      decide(questions).then(
        (decisions) => {
          if (!this.#calls.delete(call)) return;
          const unknown = this.#receive(questions, decisions);
          if (unknown.length > 0) onUnknown(unknown);
        },
        (error: unknown) => {
          if (this.#calls.has(call)) this.#startFallback(error as Error);
        },
      );
    }
  }

  /** Settles questions. Returns those about shops that the server does not know. */
  #receive(
    questions: readonly PendingQuestion[],
    decisions: readonly (Decision | undefined)[],
  ): readonly PendingQuestion[] {
    const unknown: PendingQuestion[] = [];
    for (const [index, question] of questions.entries()) {
      const decision = decisions[index];
      if (!decision) unknown.push(question);
      else {
        if (question.caller) this.#options.lastKnown.note(question.caller, decision);
        question.settle(decision);
      }
    }
    return unknown;
  }

  readonly #restoreLater = (unknown: readonly PendingQuestion[]): void => {
    if (this.#unknown.length === 0) setImmediate(() => void this.#restoreUnknown());
    this.#unknown.push(...unknown);
  };

  /** Restores saved counts of shops that the server does not have, and sends the questions again. */
  async #restoreUnknown(): Promise<void> {
    const unknown = this.#unknown;
    this.#unknown = [];
    const { counts, lastKnown } = this.#options;
    try {
      const stored = await lastKnown.load(unknown.flatMap(({ caller }) => caller ?? []));
      this.#send(unknown, (questions) => counts.seedAndDecide(questions, stored), this.#evicted);
    } catch (error) {
      for (const question of unknown) question.fail(error as Error);
    }
  }

  readonly #evicted = (unknown: readonly PendingQuestion[]): void => {
    this.#startFallback(new Error("The server does not have an account that was just restored. It may evict keys."));
    for (const question of unknown) question.decideLocally();
  };

  #startFallback(reason: Error): void {
    const calls = [...this.#calls];
    const unanswered = calls.flatMap(({ questions }) => questions);
    this.#calls.clear();
    for (const { giveUp } of calls) giveUp?.();
    if (!this.#isInFallback) {
      this.#isInFallback = true;
      this.#options.fallbackStarted(reason, unanswered);
    }
    for (const question of unanswered) question.decideLocally();
  }

  #endFallback(): void {
    if (!this.#isInFallback) return;
    this.#isInFallback = false;
    this.#options.fallbackEnded();
  }
}

/** The error for a change that the server did not make: because of `cause`, or because it does not answer. */
export function serverFailed(cause?: unknown): StorageUnavailable {
  const reason = cause === undefined ? "does not answer." : `failed: ${(cause as Error).message}`;
  return new StorageUnavailable(`The server that counts limits for all processes ${reason}`, { cause });
}
