import { RecentMap, ShopMap } from "../../collections/maps.ts";
import { type Caller, type Quota, sandboxQuota } from "../../contract/caller.ts";
import type { Admission, LimitStatus, WindowStatus } from "../../http/interfaces.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import type { MemoryLimiter } from "../memory-limiter.ts";
import { MAX_SHOPS, type StartingCounts } from "../shop-windows.ts";
import { windowStatus } from "../windows.ts";
import type { KnownShop, LastKnownLimits } from "./last-known-limits.ts";
import type { Share } from "./share.ts";
import type { Question } from "./valkey-counts.ts";

const newStarted = () => new ShopMap<true, RecentMap<string, true>>(() => new RecentMap(MAX_SHOPS / 2));
const newUnconfirmed = () => new ShopMap<number>(() => new Map());

/**
 * Decides locally while the server is unreachable. Each process gets a share of every limit: a share of the requests
 * that the account had left according to the last reply, not of its whole limit.
 */
export class LocalFallback {
  readonly #limiter: MemoryLimiter;
  readonly #share: Share;
  readonly #addressQuota: Quota;
  readonly #lastKnown: LastKnownLimits;
  /** Shops with requests since the server became unreachable. */
  #started = newStarted();
  /** Requests that the server may have counted, although its reply was lost. */
  #unconfirmed = newUnconfirmed();

  /** `limiter` limits addresses by this process's share of `addressQuota`. */
  constructor(limiter: MemoryLimiter, share: Share, addressQuota: Quota, lastKnown: LastKnownLimits) {
    this.#limiter = limiter;
    this.#share = share;
    this.#addressQuota = addressQuota;
    this.#lastKnown = lastKnown;
  }

  /** Call it when the server becomes unreachable, with the unanswered questions. */
  begin(unanswered: readonly Question[]): void {
    this.#started = newStarted();
    this.#unconfirmed = newUnconfirmed();
    for (const { caller, requests } of unanswered) {
      if (caller) this.#unconfirmed.set(caller, (this.#unconfirmed.get(caller) ?? 0) + requests);
    }
  }

  admit(caller: Caller): MaybePromise<Admission> {
    this.#startFromLastKnown(caller);
    return this.#limiter.admit({ ...caller, ...this.#share.of(caller) }, caller);
  }

  /** Counts a request with `SeparateQuota` `plan`. */
  countPlan(caller: Caller): Admission {
    return this.#limiter.countPlan(caller);
  }

  /** Counts a request with `SeparateQuota` `sandbox`. */
  countSandbox(caller: Caller): Admission {
    return this.#limiter.countSandbox(caller, this.#share.of(sandboxQuota), sandboxQuota);
  }

  limitStatus(caller: Caller): MaybePromise<LimitStatus> {
    this.#startFromLastKnown(caller);
    return whenReady(this.#limiter.limitStatus({ ...caller, ...this.#share.of(caller) }), (status) => ({
      ...status,
      minute: withLimit(caller.perMinute, status.minute),
      day: withLimit(caller.perDay, status.day),
    }));
  }

  forget(accountId: string): Promise<void> {
    for (const shops of [this.#started, this.#unconfirmed]) shops.deleteAccount(accountId);
    return this.#limiter.forget(accountId);
  }

  admitAddress(address: string): Admission {
    return this.#limiter.admitAddress(address, this.#addressQuota);
  }

  peekAddress(address: string): Admission {
    return this.#limiter.peekAddress(address, this.#addressQuota);
  }

  /** On the first request since the server became unreachable, starts from the last known counts of the shop. */
  #startFromLastKnown(caller: Caller): void {
    if (this.#started.get(caller)) return;
    this.#started.set(caller, true);
    const known = this.#lastKnown.shop(caller);
    if (known) this.#limiter.startFrom(caller, this.#usedOfShare(caller, known));
  }

  /** The used part of this process's share, so that its share of the remaining requests is left. */
  #usedOfShare(caller: Caller, known: KnownShop): StartingCounts {
    const { processes } = this.#share;
    const share = this.#share.of(caller);
    const unconfirmed = this.#unconfirmed.get(caller) ?? 0;
    const used = (limit: number, ownLimit: number, usedByAll: number) =>
      ownLimit - Math.floor(Math.max(0, limit - usedByAll - unconfirmed) / processes);
    const minuteRest = known.minuteEnds - (performance.now() + known.clockAtZero);
    return {
      ahead: known.ahead,
      minuteRest,
      minuteUsed: used(caller.perMinute, share.perMinute, known.minuteUsed),
      day: known.day,
      dayUsed: used(caller.perDay, share.perDay, known.dayUsed),
    };
  }
}

/** The window with the whole limit, of which this process still admits the remaining requests of its share. */
function withLimit(limit: number, { remaining, reset }: WindowStatus): WindowStatus {
  return windowStatus(limit, limit - remaining, reset);
}
