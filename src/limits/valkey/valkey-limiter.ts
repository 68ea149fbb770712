import { randomUUID } from "node:crypto";
import { type FreeQuota, type Quota, sandboxQuota } from "../../contract/quota.ts";
import type { Admission, Caller, Limiter, LimitStatus, ShopName } from "../../http/ports.ts";
import { StorageUnavailable } from "../../storage/storage.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import { type MemoryLimiter, requireSandbox } from "../memory-limiter.ts";
import { admissionAt, type Decision, figures, limitStatusOf } from "./decision.ts";
import { KeptShops, type ValkeyBackup } from "./kept-shops.ts";
import { LocalFallback } from "./local-fallback.ts";
import { type Asked, Pending } from "./pending.ts";
import { RunningTime, readArrived, type WaitStart } from "./running-time.ts";
import type { Share } from "./share.ts";
import type { ValkeyCounts } from "./valkey-counts.ts";

const PATIENCE = 50;
/** How often the server is looked at, in milliseconds. */
const LOOK = 250;
/** How long a server may be silent before it is connected to again, in milliseconds. */
const SILENCE = 1_000;

export interface ValkeyLimiterOptions {
  readonly counts: ValkeyCounts;
  /** Decides while the server is away; on addresses, by their share of `addressQuota`. */
  readonly local: MemoryLimiter;
  readonly share: Share;
  readonly addressQuota: Quota;
  /** What the server is given back when it has lost its data. */
  readonly backup: ValkeyBackup;
  /** Told when this process begins to decide alone, with the reason, and when it ends. */
  readonly changed: (alone: boolean, reason?: Error) => void;
  /**
   * How long a request waits for the server before it is decided here, in milliseconds in which this process runs;
   * 50 if absent.
   */
  readonly patience?: number;
}

/** A call to the server that is not answered. */
interface Call {
  readonly asked: readonly Asked[];
  readonly since: WaitStart;
  /** Called where the answer is waited for no longer. */
  readonly giveUp?: () => void;
}

/**
 * The limiter of many processes: they count together in a Valkey or Redis server. All requests of one turn of the
 * event loop are one call to it. While it is away, or too slow, each process decides alone on its share of what is
 * left, and no request fails or waits for it.
 */
export class ValkeyLimiter implements Limiter {
  readonly #options: ValkeyLimiterOptions;
  readonly #patience: number;
  readonly #process = randomUUID();
  readonly #kept: KeptShops;
  readonly #local: LocalFallback;
  readonly #time: RunningTime;
  readonly #looks: Timer;
  /** What is asked in this turn, and of it what requests are counted by, by key or address. */
  #turn: Asked[] = [];
  readonly #counting = new Map<Caller | string, Pending<Admission>>();
  readonly #calls = new Set<Call>();
  /** Shops that the server does not know and that are looked up. */
  #unknown: Asked[] = [];
  #isDegraded = false;
  /** When the look that is under way began, and when the last one was answered or the connection given up. */
  #lookingSince: WaitStart | undefined;
  #heard: WaitStart;

  private constructor(options: ValkeyLimiterOptions) {
    this.#options = options;
    this.#patience = options.patience ?? PATIENCE;
    this.#kept = new KeptShops(options.backup);
    this.#local = new LocalFallback(options.local, options.share, options.addressQuota, this.#kept);
    this.#time = new RunningTime(() => this.#watch());
    this.#heard = this.#time.start();
    this.#looks = setInterval(() => void this.#look(), LOOK);
  }

  /** Opens it. It begins alone where the server does not answer in time. */
  static async open(options: ValkeyLimiterOptions): Promise<ValkeyLimiter> {
    const limiter = new ValkeyLimiter(options);
    await limiter.#look();
    return limiter;
  }

  /** True while this process decides alone. */
  get isDegraded(): boolean {
    return this.#isDegraded;
  }

  admit(caller: Caller): MaybePromise<Admission> {
    if (this.#isDegraded) return this.#local.admit(caller);
    let pending = this.#counting.get(caller);
    if (!pending) {
      pending = new Pending(caller.accountId, caller, caller, {
        read: (decision, position) => admissionAt(decision, caller, position),
        decideHere: () => this.#local.admit(caller),
      });
      this.#counting.set(caller, pending);
      this.#ask(pending);
    }
    return pending.count();
  }

  admitFree(caller: Caller, quota: FreeQuota): MaybePromise<Admission> {
    const counted = quota === "sandbox" ? this.#countForSandbox(caller) : this.#local.countFree(caller);
    // The figures are those that all processes count.
    return whenReady(counted, (admission) =>
      admission.verdict === "limited"
        ? admission
        : whenReady(this.peek(caller), (limitStatus) => freeAdmission(caller, limitStatus)),
    );
  }

  peek(caller: Caller): MaybePromise<LimitStatus> {
    if (this.#isDegraded) return this.#local.peek(caller);
    const pending = new Pending(caller.accountId, caller, caller, {
      read: (decision) => limitStatusOf(decision, caller),
      decideHere: () => this.#local.peek(caller),
    });
    this.#ask(pending);
    return pending.look();
  }

  async advanceTo(sandbox: ShopName, ahead: number): Promise<void> {
    requireSandbox(sandbox);
    // What each process decides alone could not follow. The store comes first: the server may lose what it is told.
    if (this.#isDegraded) throw unshared();
    await this.#kept.saveAhead(sandbox, ahead);
    await this.#whileShared(this.#options.counts.advanceTo(sandbox, ahead));
    this.#kept.noteAhead(sandbox, ahead);
  }

  async forget(accountId: string): Promise<void> {
    if (this.#isDegraded) throw unshared();
    await this.#local.forget(accountId);
    await this.#kept.forget(accountId);
    await this.#whileShared(this.#options.counts.forget(accountId));
  }

  admitAddress(address: string): MaybePromise<Admission> {
    if (this.#isDegraded) return this.#local.admitAddress(address);
    const { addressQuota } = this.#options;
    let pending = this.#counting.get(address);
    if (!pending) {
      pending = new Pending(address, undefined, addressQuota, {
        read: (decision, position) => admissionAt(decision, addressQuota, position),
        decideHere: () => this.#local.admitAddress(address),
      });
      this.#counting.set(address, pending);
      this.#ask(pending);
    }
    return pending.count();
  }

  peekAddress(address: string): MaybePromise<Admission> {
    if (this.#isDegraded) return this.#local.peekAddress(address);
    const { addressQuota } = this.#options;
    const pending = new Pending(address, undefined, addressQuota, {
      read: (decision) => figures(decision, addressQuota),
      decideHere: () => this.#local.peekAddress(address),
    });
    this.#ask(pending);
    return pending.look();
  }

  /** Writes what the server is given back if it loses its data. To be called twice a second. */
  save(): Promise<void> {
    return this.#kept.save();
  }

  close(): void {
    clearInterval(this.#looks);
    this.#time.stop();
    this.#options.counts.close();
  }

  #countForSandbox(caller: Caller): MaybePromise<Admission> {
    const decideHere = () => this.#local.countForSandbox(caller);
    if (this.#isDegraded) return decideHere();
    const answers = { read: sandboxAdmission, decideHere };
    const pending = new Pending(caller.accountId, undefined, sandboxQuota, answers, "sandbox");
    this.#ask(pending);
    return pending.count();
  }

  /** Waits for what the server does for one caller, as long as requests would wait for it. */
  async #whileShared(work: Promise<void>): Promise<void> {
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    const call = { asked: [], since: this.#time.start(), giveUp: () => reject(unshared()) };
    this.#calls.add(call);
    try {
      await Promise.race([work, givenUp]);
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      throw unshared(error);
    } finally {
      this.#calls.delete(call);
    }
  }

  #ask(pending: Asked): void {
    if (this.#turn.push(pending) === 1) setImmediate(this.#endTurn);
  }

  /** Sends what was asked in a turn of the event loop. */
  readonly #endTurn = (): void => {
    const turn = this.#turn;
    this.#turn = [];
    this.#counting.clear();
    const { counts } = this.#options;
    this.#sendAll(turn, (asked) => counts.decide(asked));
  };

  #sendAll(
    all: readonly Asked[],
    decide: (asked: readonly Asked[]) => Promise<(Decision | undefined)[]>,
    isSeeded = false,
  ): void {
    if (this.#isDegraded) {
      for (const pending of all) pending.decideHere();
      return;
    }
    for (const asked of this.#options.counts.calls(all, ({ owner }) => owner)) {
      const call = { asked, since: this.#time.start() };
      this.#calls.add(call);
      decide(asked).then(
        (decisions) => {
          if (this.#calls.delete(call)) this.#receive(asked, decisions, isSeeded);
        },
        (error: unknown) => {
          if (this.#calls.has(call)) this.#degrade(error as Error);
        },
      );
    }
  }

  #receive(asked: readonly Asked[], decisions: readonly (Decision | undefined)[], isSeeded: boolean): void {
    const unknown: Asked[] = [];
    for (const [index, pending] of asked.entries()) {
      const decision = decisions[index];
      if (!decision) unknown.push(pending);
      else {
        const noted = pending.shop && this.#kept.note(pending.shop, decision);
        void whenReady(noted, () => pending.settle(decision));
      }
    }
    if (unknown.length === 0) return;
    if (isSeeded) {
      this.#degrade(new Error("The server forgets accounts at once."));
      for (const pending of unknown) pending.decideHere();
    } else {
      if (this.#unknown.length === 0) setImmediate(() => void this.#seedUnknown());
      this.#unknown.push(...unknown);
    }
  }

  /** Gives the server what is kept of shops that it does not know, and asks it again. */
  async #seedUnknown(): Promise<void> {
    const unknown = this.#unknown;
    this.#unknown = [];
    try {
      const kept = await this.#kept.load(unknown.flatMap(({ shop }) => shop ?? []));
      const { counts } = this.#options;
      this.#sendAll(unknown, (asked) => counts.seedAndDecide(asked, kept), true);
    } catch (error) {
      for (const pending of unknown) pending.fail(error as Error);
    }
  }

  /** Requests that have waited long enough are decided here, and so are all others from now on. */
  #watch(): void {
    const [oldest] = this.#calls;
    if (oldest && this.#isOverdue(oldest.since)) void this.#judge(() => this.#calls.has(oldest));
    const since = this.#lookingSince;
    if (since !== undefined && this.#isOverdue(since)) void this.#judge(() => this.#lookingSince === since);
    if (this.#isDegraded && this.#time.isOver(this.#heard, Math.max(SILENCE, this.#patience))) {
      this.#heard = this.#time.start();
      this.#options.counts.reconnect();
    }
  }

  #isOverdue(since: WaitStart): boolean {
    return this.#time.isOver(since, this.#patience);
  }

  /** What has arrived counts, also if it was not read yet. */
  async #judge(isUnanswered: () => boolean): Promise<void> {
    if (this.#isDegraded) return;
    await readArrived();
    if (isUnanswered()) this.#degrade(tooSlow);
  }

  /** Looks whether the server answers in time, and how many processes count there. */
  async #look(): Promise<void> {
    if (this.#lookingSince !== undefined) return;
    const since = this.#time.start();
    this.#lookingSince = since;
    try {
      const { counts, share } = this.#options;
      share.heardOf(await counts.present(this.#process));
      this.#heard = this.#time.start();
      if (this.#isOverdue(since)) this.#degrade(tooSlow);
      else this.#endFallback();
    } catch (error) {
      this.#degrade(error as Error);
    } finally {
      this.#lookingSince = undefined;
    }
  }

  #degrade(reason: Error): void {
    const calls = [...this.#calls];
    const unanswered = calls.flatMap(({ asked }) => asked);
    this.#calls.clear();
    for (const { giveUp } of calls) giveUp?.();
    if (!this.#isDegraded) {
      this.#isDegraded = true;
      this.#local.begin(unanswered);
      this.#options.changed(true, reason);
    }
    for (const pending of unanswered) pending.decideHere();
  }

  #endFallback(): void {
    if (!this.#isDegraded) return;
    this.#isDegraded = false;
    this.#options.changed(false);
  }
}

const unshared = (cause?: unknown) =>
  new StorageUnavailable("The server that counts limits for all processes is away.", { cause });
const tooSlow = new Error("The server did not answer in time.");

function sandboxAdmission(decision: Decision, position: number): Admission {
  return admissionAt(decision, sandboxQuota, position);
}

/** The figures for a request that costs nothing: those of the ban, or of the window with the least remaining. */
function freeAdmission({ perMinute }: Caller, { minute, day, banEnds }: LimitStatus): Admission {
  const { limit, remaining, reset } = minute.remaining < day.remaining ? minute : day;
  return banEnds === undefined
    ? { verdict: "admitted", limit, remaining, reset, retryAfter: 0 }
    : { verdict: "admitted", limit: perMinute, remaining: 0, reset: banEnds, retryAfter: 0 };
}
