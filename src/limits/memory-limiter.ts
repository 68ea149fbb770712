import { RecentMap } from "../collections/recent-map.ts";
import { entriesOf, ShopMap } from "../collections/shop-map.ts";
import { type Quota, type SeparateQuota, sandboxQuota } from "../contract/quota.ts";
import type { Admission, Caller, Limiter, LimitStatus, ShopName } from "../http/interfaces.ts";
import type { Clock } from "../timing/clock.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import { aheadBy, ClockReader, type ClockReading, storedEnd } from "./clock-reading.ts";
import { correctedBan, KeyBans } from "./key-bans.ts";
import { type LimitStore, SAVE_BATCH } from "./limits.store.ts";
import { UnsavedBans } from "./unsaved-bans.ts";
import { Windows } from "./windows.ts";

/** Bounds of the memory. Each entry is about 0.3 KB. */
export const MAX_SHOPS = 100_000;
const MAX_ADDRESSES = 100_000;
/** How often unused entries are removed, in milliseconds. */
const SWEEP = 60_000;

/** The storage of a limiter's state across restarts. */
export type LimiterStorage = Pick<
  LimitStore,
  "windows" | "saveWindows" | "saveClockOffset" | "shops" | "bans" | "saveBans" | "forget"
>;

/** For a limiter whose state does not survive the process. */
export const noStorage: LimiterStorage = {
  windows: () => undefined,
  saveWindows: async () => {},
  saveClockOffset: async () => {},
  shops: async () => new ShopMap(() => new Map()),
  bans: () => [],
  saveBans: async () => {},
  forget: async () => {},
};

/** Counts of a shop from another source, by the shop's clock. */
export interface StartingCounts {
  /** Milliseconds that the clock is ahead of real time. */
  readonly ahead: number;
  readonly minuteRest: number;
  readonly minuteUsed: number;
  readonly day: number;
  readonly dayUsed: number;
}

/**
 * The limiter of one process. It decides in memory and writes changes to the store when `save` is called,
 * twice a second. A killed process loses only what it counted since the last save. A ban is written
 * immediately, and the response is sent when the ban is on disk.
 */
export class MemoryLimiter implements Limiter {
  readonly #store: LimiterStorage;
  readonly #clock: ClockReader;
  /** When the limiter started. */
  readonly #opened: ClockReading;
  readonly #addressQuota: Quota;
  readonly #shops = new ShopMap<Windows>(() => new Map());
  readonly #loading = new ShopMap<Promise<Windows>>(() => new Map());
  readonly #addresses = new RecentMap<string, Windows>(MAX_ADDRESSES);
  /** The windows of operations such as `getUsage`, by shop: `SeparateQuota` `plan`. */
  readonly #separate = new ShopMap<Windows, RecentMap<string, Windows>>(() => new RecentMap(MAX_SHOPS / 2));
  /** The windows of operations on sandboxes, such as `resetSandbox`, by account: `SeparateQuota` `sandbox`. */
  readonly #forSandboxes = new RecentMap<string, Windows>(MAX_SHOPS);
  readonly #keyBans = new Map<string, KeyBans>();
  /**
   * How far the clocks of shops with bans were ahead when the limiter started. It matters only to a limiter that reads
   * bans from the store, but no windows: the local fallback.
   */
  readonly #aheadAtStart = new ShopMap<number>(() => new Map());
  readonly #changed = new ShopMap<Windows>(() => new Map());
  /** Accounts whose sandboxes had a request refused since the last save. */
  readonly #refusedSandboxes = new Set<string>();
  readonly #unsavedBans: UnsavedBans;
  #saved: Promise<void> = Promise.resolve();
  #swept = Number.NEGATIVE_INFINITY;

  private constructor(store: LimiterStorage, clock: Clock, addressQuota: Quota) {
    this.#store = store;
    this.#unsavedBans = new UnsavedBans(store);
    this.#clock = new ClockReader(clock);
    this.#opened = this.#clock.now();
    this.#addressQuota = addressQuota;
  }

  /** Opens a limiter with the bans of the store. Corrects bans that end later than possible. */
  static async open(store: LimiterStorage, clock: Clock, addressQuota: Quota): Promise<MemoryLimiter> {
    const limiter = new MemoryLimiter(store, clock, addressQuota);
    for (const { keyId, shop, ban, ahead } of await store.bans(limiter.#opened)) {
      const opened = aheadBy(limiter.#opened, ahead);
      if (ahead > 0) limiter.#aheadAtStart.set(shop, ahead);
      limiter.#keyBans.set(keyId, KeyBans.restore(shop, ban, opened));
      const corrected = correctedBan(ban, opened);
      if (corrected) limiter.#unsavedBans.add({ keyId, shop, ban: corrected });
    }
    return limiter;
  }

  admit(caller: Caller): MaybePromise<Admission> {
    const windows = this.#shops.get(caller);
    if (windows) return this.#decide(caller, windows);
    return whenReady(this.#load(caller), (loaded) => this.#decide(caller, loaded));
  }

  admitSeparately(caller: Caller, quota: SeparateQuota): MaybePromise<Admission> {
    const admission = quota === "sandbox" ? this.countForSandbox(caller, sandboxQuota) : this.countSeparately(caller);
    if (admission.verdict === "limited") return admission;
    return this.#read(caller, (windows, keyBans, reading) => {
      const ban = keyBans?.banned(caller.perMinute, reading);
      return ban ? { ...ban, verdict: "admitted", retryAfter: 0 } : windows.peek(caller, reading);
    });
  }

  /** Counts a request with `SeparateQuota` `sandbox` against the quota of its account, by real time. */
  countForSandbox({ accountId }: ShopName, quota: Quota): Admission {
    return windowsIn(this.#forSandboxes, accountId).admit(quota, this.#clock.now());
  }

  /** Counts a request with `SeparateQuota` `plan`. */
  countSeparately(caller: Caller): Admission {
    return windowsIn(this.#separate.of(caller), caller.accountId).admit(caller, this.#clock.now());
  }

  peek(caller: Caller): MaybePromise<LimitStatus> {
    return this.#read(caller, (windows, keyBans = new KeyBans(caller), reading) => ({
      ...windows.limitStatus(caller, reading),
      ...keyBans.limitStatus(caller.perMinute, reading),
    }));
  }

  async setClockOffset(sandbox: ShopName, ahead: number): Promise<void> {
    requireSandbox(sandbox);
    await this.#store.saveClockOffset(sandbox, ahead);
    // A read that is under way may have started before the write.
    const windows = this.#shops.get(sandbox) ?? (await this.#load(sandbox));
    windows.setClockOffset(ahead);
  }

  admitAddress(address: string): Admission {
    // A client with more addresses than fit here gains nothing by evicting other entries, because each of its
    // addresses has its own quota anyway.
    return windowsIn(this.#addresses, address).admit(this.#addressQuota, this.#clock.now());
  }

  peekAddress(address: string): Admission {
    const windows = this.#addresses.get(address) ?? new Windows();
    return windows.peek(this.#addressQuota, this.#clock.now());
  }

  /** Replaces the counts of a shop. `minuteRest` is the rest of its minute in milliseconds. */
  startFrom(shop: ShopName, { minuteRest, ...counts }: StartingCounts): void {
    const reading = this.#clock.now();
    const minuteEnd = storedEnd(minuteRest, aheadBy(reading, counts.ahead));
    const state = { ...counts, minuteEnd, earlierDays: [] };
    this.#shops.set(shop, Windows.restore(state, reading, this.#opened));
  }

  /** The ban of a key was lifted: forgets it, with its strikes. */
  forgetBan(keyId: string): void {
    this.#keyBans.delete(keyId);
    this.#unsavedBans.delete(keyId);
  }

  async forget(accountId: string): Promise<void> {
    // Wait for running writes, which would recreate deleted rows.
    await Promise.allSettled([this.#saved, this.#unsavedBans.settled()]);
    for (const shops of [this.#shops, this.#changed, this.#separate]) shops.deleteAccount(accountId);
    this.#forSandboxes.delete(accountId);
    this.#aheadAtStart.deleteAccount(accountId);
    this.#unsavedBans.deleteAccount(accountId);
    for (const [keyId, { shop }] of this.#keyBans) if (shop.accountId === accountId) this.#keyBans.delete(keyId);
    await this.#store.forget(accountId);
  }

  /** Writes the changes since the last call and drops entries that are no longer needed. */
  save(): Promise<void> {
    this.#saved = this.#save();
    return this.#saved;
  }

  async #save(): Promise<void> {
    await this.#unsavedBans.save();
    const changed = [...entriesOf(this.#changed)].toSorted(inRowOrder);
    for (let start = 0; start < changed.length; start += SAVE_BATCH) {
      await this.#saveWindows(changed.slice(start, start + SAVE_BATCH));
    }
    this.#sweep(this.#clock.now());
    await this.#readClockOffsets();
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
    return whenReady(this.#shops.get(caller) ?? this.#load(caller), (windows) =>
      view(windows, this.#keyBans.get(caller.keyId), windows.at(this.#clock.now())),
    );
  }

  #decide(caller: Caller, windows: Windows): MaybePromise<Admission> {
    const reading = windows.at(this.#clock.now());
    const keyBans = this.#keyBans.get(caller.keyId);
    const ban = keyBans?.banned(caller.perMinute, reading);
    if (ban) {
      if (caller.mode === "test") this.#refusedSandboxes.add(caller.accountId);
      const writing = this.#unsavedBans.writing(caller.keyId);
      return writing ? writing.then(() => this.#decide(caller, windows)) : ban;
    }
    const wasChanged = windows.changed;
    const admission = windows.admit(caller, reading);
    if (admission.verdict === "limited") return this.#deny(caller, admission, windows, reading);
    keyBans?.admitted();
    if (!wasChanged) this.#changed.set(caller, windows);
    return admission;
  }

  #deny(caller: Caller, admission: Admission, windows: Windows, reading: ClockReading): MaybePromise<Admission> {
    if (caller.mode === "test") this.#refusedSandboxes.add(caller.accountId);
    let keyBans = this.#keyBans.get(caller.keyId);
    if (!keyBans) {
      keyBans = new KeyBans(caller);
      this.#keyBans.set(caller.keyId, keyBans);
    }
    const ban = keyBans.denied(admission.retryAfter, caller.perMinute, reading);
    if (!ban) return admission;
    const written = this.#unsavedBans.write({ keyId: caller.keyId, shop: keyBans.shop, ban });
    return written.then(() => keyBans.banned(caller.perMinute, windows.at(this.#clock.now())) ?? admission);
  }

  /** Loads the windows of a shop that is not in memory. Concurrent requests share one read. */
  #load(shop: ShopName): MaybePromise<Windows> {
    const loading = this.#loading.get(shop);
    if (loading) return loading;
    const loaded = whenReady(this.#store.windows(shop), (state) => {
      this.#loading.delete(shop);
      const windows = state
        ? Windows.restore(state, this.#clock.now(), this.#opened)
        : new Windows(this.#aheadAtStart.get(shop));
      this.#shops.set(shop, windows);
      return windows;
    });
    if (loaded instanceof Promise) {
      this.#loading.set(shop, loaded);
      loaded.catch(() => this.#loading.delete(shop)); // the next request tries again
    }
    return loaded;
  }

  async #saveWindows(entries: readonly [ShopName, Windows][]): Promise<void> {
    const reading = this.#clock.now();
    for (const [shop] of entries) this.#changed.delete(shop);
    try {
      await this.#store.saveWindows(entries.map(([shop, windows]) => [shop, windows.save(reading)]));
    } catch (error) {
      for (const [shop, windows] of entries) this.#changed.set(shop, windows);
      throw error;
    }
  }

  /**
   * Another process on the store may have advanced the clock of a sandbox, which can end what this process refuses. So
   * the clocks of sandboxes with refused requests are read again.
   */
  async #readClockOffsets(): Promise<void> {
    const accountIds = [...this.#refusedSandboxes];
    this.#refusedSandboxes.clear(); // after a failed read, the next refusal adds its sandbox again
    const mode = "test";
    for (const [accountId, { ahead }] of (await this.#store.shops(accountIds)).of({ mode })) {
      this.#shops.get({ accountId, mode })?.setClockOffset(ahead);
    }
  }

  #sweep(reading: ClockReading): void {
    // Saved windows can be loaded again, so they can be dropped.
    for (const [shop] of entriesOf(this.#shops)) {
      if (this.#shops.size <= MAX_SHOPS) break;
      if (!this.#changed.get(shop)) this.#shops.delete(shop);
    }
    if (reading.monotonic - this.#swept < SWEEP) return;
    this.#swept = reading.monotonic;
    for (const [keyId, keyBans] of this.#keyBans) {
      const now = this.#shops.get(keyBans.shop)?.at(reading) ?? reading;
      if (keyBans.isSpent(now) && !this.#unsavedBans.has(keyId)) this.#keyBans.delete(keyId);
    }
  }
}

/** The order of the stored rows. A transaction that changes neighbouring rows writes fewer pages. */
function inRowOrder(
  [{ accountId: one }]: readonly [ShopName, unknown],
  [{ accountId: other }]: readonly [ShopName, unknown],
) {
  if (one === other) return 0;
  return one < other ? -1 : 1;
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
