import { type Quota, type SeparateQuota, sandboxQuota } from "../../contract/quota.ts";
import type { Admission, Caller, Limiter, LimitStatus, ShopName } from "../../http/interfaces.ts";
import { StorageUnavailable } from "../../storage/errors.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import { type MemoryLimiter, requireSandbox } from "../memory-limiter.ts";
import { admissionAt, admissionFrom, type Decision, limitStatusOf, separateAdmission } from "./decision.ts";
import { LastKnownLimits, type ValkeyBackup } from "./last-known-limits.ts";
import { LocalFallback } from "./local-fallback.ts";
import { type PendingQuestion, SharedQuestion } from "./pending-question.ts";
import type { WaitStart } from "./running-time.ts";
import { ServerWatch } from "./server-watch.ts";
import type { Share } from "./share.ts";
import type { ValkeyCounts } from "./valkey-counts.ts";

export interface ValkeyLimiterOptions {
  readonly counts: ValkeyCounts;
  /** Decides while the server is unreachable. It limits addresses by this process's share of `addressQuota`. */
  readonly local: MemoryLimiter;
  readonly share: Share;
  readonly addressQuota: Quota;
  /** Restores what the server has lost. */
  readonly backup: ValkeyBackup;
  /** Called when the local fallback starts, with the reason, and when it ends. */
  readonly onFallback: (isActive: boolean, reason?: Error) => void;
  /**
   * How long a request waits for the server before it is decided locally, in milliseconds of this process's running
   * time. Default: 50.
   */
  readonly callTimeout?: number;
}

/** A call to the server that waits for its reply. */
interface Call {
  readonly questions: readonly PendingQuestion[];
  readonly since: WaitStart;
  /** Called when the limiter stops waiting for the reply. */
  readonly giveUp?: () => void;
}

/**
 * The limiter for several processes, which share their counts in a Valkey or Redis server. All requests of one turn of
 * the event loop share one call to the server. While the server is down or too slow, each process decides locally on
 * its share of the remaining requests, and no request fails or waits for the server.
 */
export class ValkeyLimiter implements Limiter {
  readonly #options: ValkeyLimiterOptions;
  readonly #lastKnown: LastKnownLimits;
  readonly #fallback: LocalFallback;
  readonly #watch: ServerWatch;
  /** The questions of this turn. `#counting` finds those that count requests, by key or address. */
  #turn: PendingQuestion[] = [];
  readonly #counting = new Map<Caller | string, SharedQuestion<Admission>>();
  readonly #calls = new Set<Call>();
  /** Questions about shops that the server does not know. Their saved counts will be loaded. */
  #unknown: PendingQuestion[] = [];
  #isInFallback = false;

  private constructor(options: ValkeyLimiterOptions) {
    this.#options = options;
    this.#lastKnown = new LastKnownLimits(options.backup);
    this.#fallback = new LocalFallback(options.local, options.share, options.addressQuota, this.#lastKnown);
    const watched = {
      isInFallback: () => this.#isInFallback,
      oldestCall: () => this.#calls.values().next().value,
      startFallback: (reason: Error) => this.#startFallback(reason),
      endFallback: () => this.#endFallback(),
    };
    this.#watch = new ServerWatch(options.counts, options.share, watched, options.callTimeout);
  }

  /** Opens it. It starts in local fallback if the server does not reply in time. */
  static async open(options: ValkeyLimiterOptions): Promise<ValkeyLimiter> {
    const limiter = new ValkeyLimiter(options);
    await limiter.#watch.probe();
    return limiter;
  }

  /** True during the local fallback. */
  get isInFallback(): boolean {
    return this.#isInFallback;
  }

  admit(caller: Caller): MaybePromise<Admission> {
    if (this.#isInFallback) return this.#fallback.admit(caller);
    let pending = this.#counting.get(caller);
    if (!pending) {
      pending = new SharedQuestion(caller.accountId, caller, caller, {
        read: (decision, position) => admissionAt(decision, caller, position),
        decideLocally: () => this.#fallback.admit(caller),
      });
      this.#counting.set(caller, pending);
      this.#ask(pending);
    }
    return pending.count();
  }

  admitSeparately(caller: Caller, quota: SeparateQuota): MaybePromise<Admission> {
    const counted = quota === "sandbox" ? this.#countSandbox(caller) : this.#fallback.countPlan(caller);
    // The answer shows the counts that all processes share.
    return whenReady(counted, (admission) =>
      admission.verdict === "limited"
        ? admission
        : whenReady(this.peek(caller), (limitStatus) => separateAdmission(caller, limitStatus)),
    );
  }

  peek(caller: Caller): MaybePromise<LimitStatus> {
    if (this.#isInFallback) return this.#fallback.peek(caller);
    const pending = new SharedQuestion(caller.accountId, caller, caller, {
      read: (decision) => limitStatusOf(decision, caller),
      decideLocally: () => this.#fallback.peek(caller),
    });
    this.#ask(pending);
    return pending.peek();
  }

  async setClockOffset(sandbox: ShopName, ahead: number): Promise<void> {
    requireSandbox(sandbox);
    // During a local fallback, other processes would not notice the change. Save first: the server may lose its data.
    if (this.#isInFallback) throw serverFailed();
    await this.#lastKnown.saveClockOffset(sandbox, ahead);
    await this.#withinCallTimeout(this.#options.counts.setClockOffset(sandbox, ahead));
    this.#lastKnown.noteClockOffset(sandbox, ahead);
  }

  /** Forgets the ban of a key, which was lifted on the server too. */
  forgetBan(keyId: string): void {
    this.#lastKnown.forgetBan(keyId);
  }

  async forget(accountId: string): Promise<void> {
    if (this.#isInFallback) throw serverFailed();
    await this.#fallback.forget(accountId);
    await this.#lastKnown.forget(accountId);
    await this.#withinCallTimeout(this.#options.counts.forget(accountId));
  }

  admitAddress(address: string): MaybePromise<Admission> {
    if (this.#isInFallback) return this.#fallback.admitAddress(address);
    const { addressQuota } = this.#options;
    let pending = this.#counting.get(address);
    if (!pending) {
      pending = new SharedQuestion(address, undefined, addressQuota, {
        read: (decision, position) => admissionAt(decision, addressQuota, position),
        decideLocally: () => this.#fallback.admitAddress(address),
      });
      this.#counting.set(address, pending);
      this.#ask(pending);
    }
    return pending.count();
  }

  peekAddress(address: string): MaybePromise<Admission> {
    if (this.#isInFallback) return this.#fallback.peekAddress(address);
    const { addressQuota } = this.#options;
    const pending = new SharedQuestion(address, undefined, addressQuota, {
      read: (decision) => admissionFrom(decision, addressQuota),
      decideLocally: () => this.#fallback.peekAddress(address),
    });
    this.#ask(pending);
    return pending.peek();
  }

  /** Saves the counts that the server needs if it loses its data. Call it twice a second. */
  save(): Promise<void> {
    return this.#lastKnown.save();
  }

  close(): void {
    this.#watch.stop();
    this.#options.counts.close();
  }

  #countSandbox(caller: Caller): MaybePromise<Admission> {
    const decideLocally = () => this.#fallback.countSandbox(caller);
    if (this.#isInFallback) return decideLocally();
    const answers = { read: sandboxAdmission, decideLocally };
    const pending = new SharedQuestion(caller.accountId, undefined, sandboxQuota, answers, "sandbox");
    this.#ask(pending);
    return pending.count();
  }

  /** Waits for work of the server, at most as long as a request waits for it. Rejects with `StorageUnavailable`. */
  async #withinCallTimeout(work: Promise<void>): Promise<void> {
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

  #ask(pending: PendingQuestion): void {
    if (this.#turn.push(pending) === 1) setImmediate(this.#endTurn);
  }

  /** Sends the questions of a turn of the event loop. */
  readonly #endTurn = (): void => {
    const turn = this.#turn;
    this.#turn = [];
    this.#counting.clear();
    const { counts } = this.#options;
    this.#sendAll(turn, (questions) => counts.decide(questions));
  };

  #sendAll(
    all: readonly PendingQuestion[],
    decide: (questions: readonly PendingQuestion[]) => Promise<(Decision | undefined)[]>,
    isSeeded = false,
  ): void {
    if (this.#isInFallback) {
      for (const pending of all) pending.decideLocally();
      return;
    }
    for (const questions of this.#options.counts.calls(all, ({ owner }) => owner)) {
      const call = { questions, since: this.#watch.start() };
      this.#calls.add(call);
      decide(questions).then(
        (decisions) => {
          if (this.#calls.delete(call)) this.#receive(questions, decisions, isSeeded);
        },
        (error: unknown) => {
          if (this.#calls.has(call)) this.#startFallback(error as Error);
        },
      );
    }
  }

  #receive(
    questions: readonly PendingQuestion[],
    decisions: readonly (Decision | undefined)[],
    isSeeded: boolean,
  ): void {
    const unknown: PendingQuestion[] = [];
    for (const [index, pending] of questions.entries()) {
      const decision = decisions[index];
      if (!decision) unknown.push(pending);
      else {
        const noted = pending.caller && this.#lastKnown.note(pending.caller, decision);
        void whenReady(noted, () => pending.settle(decision));
      }
    }
    if (unknown.length === 0) return;
    if (isSeeded) {
      this.#startFallback(new Error("The server does not have an account that was just restored. It may evict keys."));
      for (const pending of unknown) pending.decideLocally();
    } else {
      if (this.#unknown.length === 0) setImmediate(() => void this.#seedUnknown());
      this.#unknown.push(...unknown);
    }
  }

  /** Restores saved counts of shops that the server does not have, and sends the questions again. */
  async #seedUnknown(): Promise<void> {
    const unknown = this.#unknown;
    this.#unknown = [];
    try {
      const stored = await this.#lastKnown.load(unknown.flatMap(({ caller }) => caller ?? []));
      const { counts } = this.#options;
      this.#sendAll(unknown, (questions) => counts.seedAndDecide(questions, stored), true);
    } catch (error) {
      for (const pending of unknown) pending.fail(error as Error);
    }
  }

  #startFallback(reason: Error): void {
    const calls = [...this.#calls];
    const unanswered = calls.flatMap(({ questions }) => questions);
    this.#calls.clear();
    for (const { giveUp } of calls) giveUp?.();
    if (!this.#isInFallback) {
      this.#isInFallback = true;
      this.#fallback.begin(unanswered);
      this.#options.onFallback(true, reason);
    }
    for (const pending of unanswered) pending.decideLocally();
  }

  #endFallback(): void {
    if (!this.#isInFallback) return;
    this.#isInFallback = false;
    this.#options.onFallback(false);
  }
}

/** The error for a change that the server did not make: because of `cause`, or because it does not answer. */
function serverFailed(cause?: unknown): StorageUnavailable {
  const reason = cause === undefined ? "is away." : `failed: ${(cause as Error).message}`;
  return new StorageUnavailable(`The server that counts limits for all processes ${reason}`, { cause });
}

function sandboxAdmission(decision: Decision, position: number): Admission {
  return admissionAt(decision, sandboxQuota, position);
}
