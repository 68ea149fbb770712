import { RecentMap, ShopMap } from "../collections/maps.ts";
import { type Caller, type Quota, type SeparateQuota, type ShopName, sandboxQuota } from "../contract/caller.ts";
import type { Admission, Limiter, LimitStatus } from "../http/interfaces.ts";
import { type Clock, ClockReader, type ClockReading } from "../timing/clock.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import type { LimitStore } from "./limits.store.ts";
import { MAX_SHOPS, ShopWindows, type StartingCounts, type WindowStorage } from "./shop-windows.ts";
import { Strikes } from "./strikes.ts";
import { Windows } from "./windows.ts";

/** The most addresses in memory. Each takes about 0.3 KB. */
const MAX_ADDRESSES = 100_000;
/** How often unused entries are removed, in milliseconds. */
const SWEEP = 60_000;

/** The storage of a limiter's state across restarts. */
export type LimiterStorage = WindowStorage & Pick<LimitStore, "forget">;

/** For a limiter whose state does not survive the process. */
export const noStorage: LimiterStorage = {
  windows: () => undefined,
  saveWindows: async () => {},
  saveClockOffset: async () => {},
  storedLimits: async () => new ShopMap(() => new Map()),
  forget: async () => {},
};

/**
 * The limiter of one process. It decides in memory and writes changes to the store when `save` is called,
 * twice a second. A killed process loses only what it counted since the last save, and the strikes of keys.
 */
export class MemoryLimiter implements Limiter {
  readonly #store: LimiterStorage;
  readonly #clock: ClockReader;
  readonly #addressQuota: Quota;
  readonly #shops: ShopWindows;
  readonly #addresses = new RecentMap<string, Windows>(MAX_ADDRESSES);
  /** The windows of `SeparateQuota` `plan`, for operations such as `getUsage`, by shop. */
  readonly #planWindows = new ShopMap<Windows, RecentMap<string, Windows>>(() => new RecentMap(MAX_SHOPS / 2));
  /** The windows of `SeparateQuota` `sandbox`, for operations such as `resetSandbox`, by account. */
  readonly #sandboxWindows = new RecentMap<string, Windows>(MAX_SHOPS);
  /** By key. */
  readonly #strikes = new Map<string, Strikes>();
  #lastSave: Promise<void> = Promise.resolve();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(store: LimiterStorage, clock: Clock, addressQuota: Quota) {
    this.#store = store;
    this.#clock = new ClockReader(clock);
    this.#addressQuota = addressQuota;
    this.#shops = new ShopWindows(store, this.#clock);
  }

  /**
   * `caller` has the limits that are enforced, and `shown` those that the client sees. They differ only in the local
   * fallback, in which a process enforces its share.
   */
  admit(caller: Caller, shown: Quota = caller): MaybePromise<Admission> {
    const windows = this.#shops.get(caller);
    if (windows) return this.#decide(caller, windows, shown);
    return whenReady(this.#shops.load(caller), (loaded) => this.#decide(caller, loaded, shown));
  }

  admitSeparately(caller: Caller, quota: SeparateQuota): MaybePromise<Admission> {
    const admission = quota === "sandbox" ? this.countSandbox(caller, sandboxQuota) : this.countPlan(caller);
    if (admission.verdict === "limited") return admission;
    return this.#read(caller, (windows, reading) => windows.peek(caller, reading));
  }

  /** Counts a request with `SeparateQuota` `sandbox` against the quota of its account, by real time. */
  countSandbox({ accountId }: ShopName, quota: Quota, shown = quota): Admission {
    return windowsIn(this.#sandboxWindows, accountId).admit(quota, this.#clock.now(), shown);
  }

  /** Counts a request with `SeparateQuota` `plan`. */
  countPlan(caller: Caller): Admission {
    return windowsIn(this.#planWindows.of(caller), caller.accountId).admit(caller, this.#clock.now());
  }

  limitStatus(caller: Caller): MaybePromise<LimitStatus> {
    return this.#read(caller, (windows, reading) => ({
      ...windows.limitStatus(caller, reading),
      strikes: this.#strikes.get(caller.keyId)?.countAt(reading) ?? 0,
    }));
  }

  async setClockOffset(sandbox: ShopName, ahead: number): Promise<void> {
    requireSandbox(sandbox);
    await this.#shops.setClockOffset(sandbox, ahead);
  }

  admitAddress(address: string, shown = this.#addressQuota): Admission {
    // A client with more addresses than fit here gains nothing by evicting other entries, because each of its
    // addresses has its own quota anyway.
    return windowsIn(this.#addresses, address).admit(this.#addressQuota, this.#clock.now(), shown);
  }

  peekAddress(address: string, shown = this.#addressQuota): Admission {
    const windows = this.#addresses.get(address) ?? new Windows();
    return windows.peek(this.#addressQuota, this.#clock.now(), shown);
  }

  /** Replaces the counts of a shop. */
  startFrom(shop: ShopName, counts: StartingCounts): void {
    this.#shops.startFrom(shop, counts);
  }

  async forget(accountId: string): Promise<void> {
    // Wait for running writes, which would recreate deleted rows.
    await Promise.allSettled([this.#lastSave]);
    for (const entries of [this.#shops, this.#planWindows]) entries.deleteAccount(accountId);
    this.#sandboxWindows.delete(accountId);
    for (const [keyId, { shop }] of this.#strikes) if (shop.accountId === accountId) this.#strikes.delete(keyId);
    await this.#store.forget(accountId);
  }

  /** Writes the changes since the last call and drops entries that are no longer needed. */
  save(): Promise<void> {
    this.#lastSave = this.#save();
    return this.#lastSave;
  }

  async #save(): Promise<void> {
    this.#sweep(this.#clock.now());
    await this.#shops.save();
  }

  /** Entries held in memory, for the metrics. */
  get size(): { shops: number; addresses: number; keys: number } {
    return { shops: this.#shops.size, addresses: this.#addresses.size, keys: this.#strikes.size };
  }

  /** Reads the state of a caller. */
  #read<T>(caller: Caller, view: (windows: Windows, reading: ClockReading) => T): MaybePromise<T> {
    return whenReady(this.#shops.get(caller) ?? this.#shops.load(caller), (windows) =>
      view(windows, windows.at(this.#clock.now())),
    );
  }

  #decide(caller: Caller, windows: Windows, shown: Quota): Admission {
    const reading = windows.at(this.#clock.now());
    const wasChanged = windows.changed;
    const admission = windows.admit(caller, reading, shown);
    if (admission.verdict === "limited") return this.#deny(caller, admission, reading);
    this.#strikes.get(caller.keyId)?.forget();
    if (!wasChanged) this.#shops.noteChanged(caller);
    return admission;
  }

  #deny(caller: Caller, admission: Admission, reading: ClockReading): Admission {
    this.#shops.noteRefused(caller);
    let strikes = this.#strikes.get(caller.keyId);
    if (!strikes) {
      strikes = new Strikes(caller);
      this.#strikes.set(caller.keyId, strikes);
    }
    const isLastStrike = strikes.noteDenied(admission.retryAfter, caller.perMinute, reading);
    return isLastStrike ? { ...admission, isLastStrike } : admission;
  }

  #sweep(reading: ClockReading): void {
    if (reading.monotonic - this.#sweptAt < SWEEP) return;
    this.#sweptAt = reading.monotonic;
    for (const [keyId, strikes] of this.#strikes) {
      const now = this.#shops.get(strikes.shop)?.at(reading) ?? reading;
      if (strikes.isSpent(now)) this.#strikes.delete(keyId);
    }
  }
}

/** The clock of a live shop is real time. */
export function requireSandbox({ mode }: ShopName): void {
  if (mode !== "test") throw new TypeError("Only the clock of a sandbox can be advanced.");
}

/** The windows of a name, created if they do not exist. */
function windowsIn(map: RecentMap<string, Windows>, name: string): Windows {
  const known = map.get(name);
  if (known) return known;
  const made = new Windows();
  map.set(name, made);
  return made;
}
