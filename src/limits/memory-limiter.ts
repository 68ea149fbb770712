import { RecentMap, ShopMap } from "../collections/maps.ts";
import { type Caller, type Quota, type SeparateQuota, type ShopName, sandboxQuota } from "../contract/caller.ts";
import type { Admission, Limiter, LimitStatus } from "../http/interfaces.ts";
import type { Clock } from "../timing/clock.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import { aheadBy, ClockReader, type ClockReading } from "./clock-reading.ts";
import { correctedBan, KeyBans } from "./key-bans.ts";
import type { LimitStore } from "./limits.store.ts";
import { MAX_SHOPS, ShopWindows, type StartingCounts, type WindowStorage } from "./shop-windows.ts";
import { UnsavedBans } from "./unsaved-bans.ts";
import { Windows } from "./windows.ts";

/** The most addresses in memory. Each takes about 0.3 KB. */
const MAX_ADDRESSES = 100_000;
/** How often unused entries are removed, in milliseconds. */
const SWEEP = 60_000;

/** The storage of a limiter's state across restarts. */
export type LimiterStorage = WindowStorage & Pick<LimitStore, "bans" | "saveBans" | "forget">;

/** For a limiter whose state does not survive the process. */
export const noStorage: LimiterStorage = {
  windows: () => undefined,
  saveWindows: async () => {},
  saveClockOffset: async () => {},
  storedLimits: async () => new ShopMap(() => new Map()),
  bans: () => [],
  saveBans: async () => {},
  forget: async () => {},
};

/**
 * The limiter of one process. It decides in memory and writes changes to the store when `save` is called,
 * twice a second. A killed process loses only what it counted since the last save. A ban is written
 * immediately, and the response is sent when the ban is on disk.
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
  readonly #keyBans = new Map<string, KeyBans>();
  readonly #unsavedBans: UnsavedBans;
  #lastSave: Promise<void> = Promise.resolve();
  #sweptAt = Number.NEGATIVE_INFINITY;

  private constructor(store: LimiterStorage, clock: ClockReader, opened: ClockReading, addressQuota: Quota) {
    this.#store = store;
    this.#clock = clock;
    this.#addressQuota = addressQuota;
    this.#shops = new ShopWindows(store, clock, opened);
    this.#unsavedBans = new UnsavedBans(store);
  }

  /** Opens a limiter with the bans of the store. Corrects bans that end later than possible. */
  static async open(store: LimiterStorage, clock: Clock, addressQuota: Quota): Promise<MemoryLimiter> {
    const reader = new ClockReader(clock);
    const opened = reader.now();
    const limiter = new MemoryLimiter(store, reader, opened, addressQuota);
    for (const { keyId, shop, ban, ahead } of await store.bans(opened)) {
      const openedOfShop = aheadBy(opened, ahead);
      limiter.#shops.noteAheadAtStart(shop, ahead);
      limiter.#keyBans.set(keyId, KeyBans.restore(shop, ban, openedOfShop));
      const corrected = correctedBan(ban, openedOfShop);
      if (corrected) limiter.#unsavedBans.add({ keyId, shop, ban: corrected });
    }
    return limiter;
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
    return this.#read(caller, (windows, keyBans, reading) => {
      const ban = keyBans?.currentBan(caller.perMinute, reading);
      return ban ? { ...ban, verdict: "admitted", retryAfter: 0 } : windows.peek(caller, reading);
    });
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
    return this.#read(caller, (windows, keyBans = new KeyBans(caller), reading) => ({
      ...windows.limitStatus(caller, reading),
      ...keyBans.limitStatus(caller.perMinute, reading),
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

  /** The ban of a key was lifted: forgets it, with its strikes. */
  forgetBan(keyId: string): void {
    this.#keyBans.delete(keyId);
    this.#unsavedBans.delete(keyId);
  }

  async forget(accountId: string): Promise<void> {
    // Wait for running writes, which would recreate deleted rows.
    await Promise.allSettled([this.#lastSave, this.#unsavedBans.settled()]);
    for (const entries of [this.#shops, this.#planWindows, this.#unsavedBans]) entries.deleteAccount(accountId);
    this.#sandboxWindows.delete(accountId);
    for (const [keyId, { shop }] of this.#keyBans) if (shop.accountId === accountId) this.#keyBans.delete(keyId);
    await this.#store.forget(accountId);
  }

  /** Writes the changes since the last call and drops entries that are no longer needed. */
  save(): Promise<void> {
    this.#lastSave = this.#save();
    return this.#lastSave;
  }

  async #save(): Promise<void> {
    await this.#unsavedBans.save();
    this.#sweep(this.#clock.now());
    await this.#shops.save();
  }

  /** Entries held in memory, for the metrics. */
  get size(): { shops: number; addresses: number; keys: number } {
    return { shops: this.#shops.size, addresses: this.#addresses.size, keys: this.#keyBans.size };
  }

  /** Reads the state of a caller. If a ban of the key is being written, waits for that first. */
  #read<T>(
    caller: Caller,
    view: (windows: Windows, keyBans: KeyBans | undefined, reading: ClockReading) => T,
  ): MaybePromise<T> {
    const writing = this.#unsavedBans.writing(caller.keyId);
    if (writing) return writing.then(() => this.#read(caller, view));
    return whenReady(this.#shops.get(caller) ?? this.#shops.load(caller), (windows) =>
      view(windows, this.#keyBans.get(caller.keyId), windows.at(this.#clock.now())),
    );
  }

  #decide(caller: Caller, windows: Windows, shown: Quota): MaybePromise<Admission> {
    const reading = windows.at(this.#clock.now());
    const keyBans = this.#keyBans.get(caller.keyId);
    const ban = keyBans?.currentBan(shown.perMinute, reading);
    if (ban) {
      this.#shops.noteRefused(caller);
      const writing = this.#unsavedBans.writing(caller.keyId);
      return writing ? writing.then(() => this.#decide(caller, windows, shown)) : ban;
    }
    const wasChanged = windows.changed;
    const admission = windows.admit(caller, reading, shown);
    if (admission.verdict === "limited") return this.#deny(caller, admission, windows, reading, shown);
    keyBans?.noteAdmitted();
    if (!wasChanged) this.#shops.noteChanged(caller);
    return admission;
  }

  #deny(
    caller: Caller,
    admission: Admission,
    windows: Windows,
    reading: ClockReading,
    shown: Quota,
  ): MaybePromise<Admission> {
    this.#shops.noteRefused(caller);
    let keyBans = this.#keyBans.get(caller.keyId);
    if (!keyBans) {
      keyBans = new KeyBans(caller);
      this.#keyBans.set(caller.keyId, keyBans);
    }
    const ban = keyBans.noteDenied(admission.retryAfter, caller.perMinute, reading);
    if (!ban) return admission;
    const written = this.#unsavedBans.write({ keyId: caller.keyId, shop: keyBans.shop, ban });
    return written.then(() => keyBans.currentBan(shown.perMinute, windows.at(this.#clock.now())) ?? admission);
  }

  #sweep(reading: ClockReading): void {
    if (reading.monotonic - this.#sweptAt < SWEEP) return;
    this.#sweptAt = reading.monotonic;
    for (const [keyId, keyBans] of this.#keyBans) {
      const now = this.#shops.get(keyBans.shop)?.at(reading) ?? reading;
      if (keyBans.isSpent(now) && !this.#unsavedBans.has(keyId)) this.#keyBans.delete(keyId);
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
