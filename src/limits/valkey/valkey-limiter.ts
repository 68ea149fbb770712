import { type Caller, type Quota, type SeparateQuota, type ShopName, sandboxQuota } from "../../contract/caller.ts";
import type { Admission, Limiter, LimitStatus } from "../../http/interfaces.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import { type MemoryLimiter, requireSandbox } from "../memory-limiter.ts";
import { admissionAt, admissionFrom, limitStatusOf, separateAdmission } from "./decision.ts";
import { LastKnownLimits, type ValkeyBackup } from "./last-known-limits.ts";
import { LocalFallback } from "./local-fallback.ts";
import { PendingQuestion } from "./pending-question.ts";
import { ServerCalls, serverFailed } from "./server-calls.ts";
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

/**
 * The limiter for several processes, which share their counts in a Valkey or Redis server. All requests of one turn of
 * the event loop share one call to the server. While the server is down or too slow, each process decides locally on
 * its share of the remaining requests, and no request fails or waits for the server.
 */
export class ValkeyLimiter implements Limiter {
  readonly #counts: ValkeyCounts;
  readonly #addressQuota: Quota;
  readonly #lastKnown: LastKnownLimits;
  readonly #fallback: LocalFallback;
  readonly #calls: ServerCalls;

  private constructor({ counts, local, share, addressQuota, backup, onFallback, ...timeout }: ValkeyLimiterOptions) {
    this.#counts = counts;
    this.#addressQuota = addressQuota;
    this.#lastKnown = new LastKnownLimits(backup);
    this.#fallback = new LocalFallback(local, share, addressQuota, this.#lastKnown);
    this.#calls = new ServerCalls({
      counts,
      share,
      lastKnown: this.#lastKnown,
      fallbackStarted: (reason, unanswered) => {
        this.#fallback.begin(unanswered);
        onFallback(true, reason);
      },
      fallbackEnded: () => onFallback(false),
      ...timeout,
    });
  }

  /** Opens it. It starts in local fallback if the server does not reply in time. */
  static async open(options: ValkeyLimiterOptions): Promise<ValkeyLimiter> {
    const limiter = new ValkeyLimiter(options);
    await limiter.#calls.probe();
    return limiter;
  }

  /** True during the local fallback. */
  get isInFallback(): boolean {
    return this.#calls.isInFallback;
  }

  admit(caller: Caller): MaybePromise<Admission> {
    if (this.isInFallback) return this.#fallback.admit(caller);
    return (this.#calls.shared(caller) ?? this.#calls.askShared(caller, this.#shopQuestion(caller))).count();
  }

  admitSeparately(caller: Caller, quota: SeparateQuota): MaybePromise<Admission> {
    // Each process always counts the requests of `plan` alone.
    const counted = quota === "sandbox" ? this.#countSandbox(caller) : this.#fallback.countPlan(caller);
    // The answer shows the counts that all processes share.
    return whenReady(counted, (admission) =>
      admission.verdict === "limited" ? admission : whenReady(this.limitStatus(caller), separateAdmission),
    );
  }

  limitStatus(caller: Caller): MaybePromise<LimitStatus> {
    if (this.isInFallback) return this.#fallback.limitStatus(caller);
    const question = PendingQuestion.ofShop(caller, {
      read: (decision) => limitStatusOf(decision, caller),
      decideLocally: () => this.#fallback.limitStatus(caller),
    });
    this.#calls.ask(question);
    return question.peek();
  }

  async setClockOffset(sandbox: ShopName, ahead: number): Promise<void> {
    requireSandbox(sandbox);
    // During a local fallback, other processes would not notice the change. Save first: the server may lose its data.
    if (this.isInFallback) throw serverFailed();
    await this.#lastKnown.saveClockOffset(sandbox, ahead);
    await this.#calls.run(this.#counts.setClockOffset(sandbox, ahead));
    this.#lastKnown.noteClockOffset(sandbox, ahead);
  }

  async forget(accountId: string): Promise<void> {
    if (this.isInFallback) throw serverFailed();
    await this.#fallback.forget(accountId);
    await this.#lastKnown.forget(accountId);
    await this.#calls.run(this.#counts.forget(accountId));
  }

  admitAddress(address: string): MaybePromise<Admission> {
    if (this.isInFallback) return this.#fallback.admitAddress(address);
    return (this.#calls.shared(address) ?? this.#calls.askShared(address, this.#addressQuestion(address))).count();
  }

  peekAddress(address: string): MaybePromise<Admission> {
    if (this.isInFallback) return this.#fallback.peekAddress(address);
    const question = PendingQuestion.ofAddress(address, this.#addressQuota, {
      read: (decision) => admissionFrom(decision, this.#addressQuota),
      decideLocally: () => this.#fallback.peekAddress(address),
    });
    this.#calls.ask(question);
    return question.peek();
  }

  /** Saves the counts that the server needs if it loses its data. Call it twice a second. */
  save(): Promise<void> {
    return this.#lastKnown.save();
  }

  close(): void {
    this.#calls.stop();
    this.#counts.close();
  }

  #shopQuestion(caller: Caller): PendingQuestion<Admission> {
    return PendingQuestion.ofShop(caller, {
      read: (decision, position) => admissionAt(decision, caller, position),
      decideLocally: () => this.#fallback.admit(caller),
    });
  }

  #addressQuestion(address: string): PendingQuestion<Admission> {
    return PendingQuestion.ofAddress(address, this.#addressQuota, {
      read: (decision, position) => admissionAt(decision, this.#addressQuota, position),
      decideLocally: () => this.#fallback.admitAddress(address),
    });
  }

  #countSandbox(caller: Caller): MaybePromise<Admission> {
    if (this.isInFallback) return this.#fallback.countSandbox(caller);
    const question = PendingQuestion.ofSandboxQuota(caller.accountId, {
      read: (decision, position) => admissionAt(decision, sandboxQuota, position),
      decideLocally: () => this.#fallback.countSandbox(caller),
    });
    this.#calls.ask(question);
    return question.count();
  }
}
