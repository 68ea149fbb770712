import type { Quota } from "../contract/quota.ts";
import type { Admission, Caller, Limiter, LimitStatus } from "../http/ports.ts";
import { RecentMap } from "../storage/recent-map.ts";
import type { Clock } from "../timing/clock.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import { ClockReader, type ClockReading, storedEnd } from "./clock-reading.ts";
import { type Ban, correctedBan, KeyBans, strikesUntilBan } from "./key-bans.ts";
import type { LimitStore } from "./limits.store.ts";
import { Windows } from "./windows.ts";

/** Bounds of the memory. Each entry is about 0.3 KB. */
const ACCOUNTS = 100_000;
const ADDRESSES = 100_000;
/** How often entries that hold nothing any more are looked for, in milliseconds. */
const SWEEP = 60_000;
/** Accounts written in one transaction: a bound on how long it blocks others. */
const BATCH = 250;

/** Where a limiter keeps what outlives its process. */
export type KeptLimits = Pick<LimitStore, "windows" | "saveWindows" | "bans" | "saveBans">;

/** For a limiter of which nothing outlives its process. */
export const nothingKept: KeptLimits = {
  windows: () => undefined,
  saveWindows: async () => {},
  bans: () => [],
  saveBans: async () => {},
};

/** Counts of an account that somebody else has made. */
export interface StartingCounts {
  readonly minuteRest: number;
  readonly minuteUsed: number;
  readonly day: number;
  readonly dayUsed: number;
}

/**
 * The limiter of one process: decides in memory, at once, and writes what has changed to the store
 * when `save` is called, which has to happen twice a second. A killed process forgets at most what
 * it counted since then. A ban is written at once, and told when it is on disk.
 */
export class MemoryLimiter implements Limiter {
  readonly #store: KeptLimits;
  readonly #clock: ClockReader;
  readonly #opened: ClockReading;
  readonly #addressQuota: Quota;
  readonly #accounts = new Map<string, Windows>();
  readonly #loading = new Map<string, Promise<Windows>>();
  readonly #addresses = new RecentMap<string, Windows>(ADDRESSES);
  /** The windows of requests that cost no quota, by account. */
  readonly #free = new RecentMap<string, Windows>(ACCOUNTS);
  readonly #keyBans = new Map<string, KeyBans>();
  readonly #changed = new Map<string, Windows>();
  readonly #unsavedBans = new Map<string, Ban>();
  /** Bans that are being written for the first time, by key. */
  readonly #savingBans = new Map<string, Promise<void>>();
  #swept = Number.NEGATIVE_INFINITY;

  private constructor(store: KeptLimits, clock: Clock, addressQuota: Quota) {
    this.#store = store;
    this.#clock = new ClockReader(clock);
    this.#opened = this.#clock.now();
    this.#addressQuota = addressQuota;
  }

  /** A limiter that knows the bans of the store, and corrects those that end later than they can. */
  static async open(store: KeptLimits, clock: Clock, addressQuota: Quota): Promise<MemoryLimiter> {
    const limiter = new MemoryLimiter(store, clock, addressQuota);
    for (const [keyId, ban] of await store.bans(limiter.#opened)) {
      limiter.#keyBans.set(keyId, KeyBans.restore(ban, limiter.#opened));
      const corrected = correctedBan(ban, limiter.#opened);
      if (corrected) limiter.#unsavedBans.set(keyId, corrected);
    }
    return limiter;
  }

  admit(caller: Caller): MaybePromise<Admission> {
    const windows = this.#accounts.get(caller.accountId);
    if (windows) return this.#decide(caller, windows);
    return whenReady(this.#load(caller.accountId), (loaded) => this.#decide(caller, loaded));
  }

  admitFree(caller: Caller): MaybePromise<Admission> {
    const admission = windowsIn(this.#free, caller.accountId).admit(caller, this.#clock.now());
    if (admission.verdict === "limited") return admission;
    return this.#look(caller, (windows, keyBans, reading) => {
      const ban = keyBans?.banned(caller.perMinute, reading);
      return ban ? { ...ban, verdict: "admitted", retryAfter: 0 } : windows.peek(caller, reading);
    });
  }

  peek(caller: Caller): MaybePromise<LimitStatus> {
    return this.#look(caller, (windows, keyBans = new KeyBans(), reading) => ({
      ...windows.limitStatus(caller, reading),
      ...keyBans.limitStatus(caller.perMinute, reading),
    }));
  }

  admitAddress(address: string): Admission {
    // Whoever has more addresses than fit here gains nothing by making others be forgotten: each
    // address would have been admitted as often without that.
    return windowsIn(this.#addresses, address).admit(this.#addressQuota, this.#clock.now());
  }

  peekAddress(address: string): Admission {
    const windows = this.#addresses.get(address) ?? new Windows();
    return windows.peek(this.#addressQuota, this.#clock.now());
  }

  /** Goes on with these counts of an account, whatever was counted here. `minuteRest` is the rest of its minute in milliseconds. */
  startFrom(accountId: string, { minuteRest, ...counts }: StartingCounts): void {
    const reading = this.#clock.now();
    const state = { ...counts, minuteEnd: storedEnd(minuteRest, reading), earlierDays: [] };
    this.#accounts.set(accountId, Windows.restore(state, reading, this.#opened));
  }

  /** Writes what has changed since the last call, and lets go of what is no longer needed. */
  async save(): Promise<void> {
    const bans = [...this.#unsavedBans];
    if (bans.length > 0) await this.#saveBans(bans);
    const changed = [...this.#changed];
    for (let start = 0; start < changed.length; start += BATCH) {
      await this.#saveWindows(changed.slice(start, start + BATCH));
    }
    this.#sweep(this.#clock.now());
  }

  /** Entries held in memory, for the metrics. */
  get size(): { accounts: number; addresses: number; keys: number } {
    return { accounts: this.#accounts.size, addresses: this.#addresses.size, keys: this.#keyBans.size };
  }

  /** Looks at what is known of a caller, once a ban that is being written is on disk. */
  #look<T>(
    caller: Caller,
    view: (windows: Windows, keyBans: KeyBans | undefined, reading: ClockReading) => T,
  ): MaybePromise<T> {
    const saving = this.#savingBans.get(caller.keyId);
    if (saving) return saving.then(() => this.#look(caller, view));
    return whenReady(this.#accounts.get(caller.accountId) ?? this.#load(caller.accountId), (windows) =>
      view(windows, this.#keyBans.get(caller.keyId), this.#clock.now()),
    );
  }

  #decide(caller: Caller, windows: Windows): MaybePromise<Admission> {
    const reading = this.#clock.now();
    const keyBans = this.#keyBans.get(caller.keyId);
    const ban = keyBans?.banned(caller.perMinute, reading);
    if (ban) return this.#savingBans.get(caller.keyId)?.then(() => this.#decide(caller, windows)) ?? ban;
    const waitsForSave = windows.changed;
    const admission = windows.admit(caller, reading);
    if (admission.verdict === "limited") return this.#deny(caller, admission, reading);
    keyBans?.admitted();
    if (!waitsForSave) this.#changed.set(caller.accountId, windows);
    return admission;
  }

  #deny(caller: Caller, admission: Admission, reading: ClockReading): MaybePromise<Admission> {
    let keyBans = this.#keyBans.get(caller.keyId);
    if (!keyBans) {
      keyBans = new KeyBans();
      this.#keyBans.set(caller.keyId, keyBans);
    }
    const ban = keyBans.denied(admission.retryAfter, strikesUntilBan(caller.perMinute), reading);
    if (!ban) return admission;
    this.#unsavedBans.set(caller.keyId, ban);
    // Nobody is told of a ban that a kill could still undo. What cannot be written now is written by
    // the next `save`.
    const saving = this.#saveBans([[caller.keyId, ban]])
      .catch(() => {})
      .finally(() => this.#savingBans.delete(caller.keyId));
    this.#savingBans.set(caller.keyId, saving);
    return saving.then(() => keyBans.banned(caller.perMinute, this.#clock.now()) ?? admission);
  }

  /** The windows of an account that is not in memory. Requests that come meanwhile share one read. */
  #load(accountId: string): MaybePromise<Windows> {
    const loading = this.#loading.get(accountId);
    if (loading) return loading;
    const loaded = whenReady(this.#store.windows(accountId), (state) => {
      this.#loading.delete(accountId);
      const windows = state ? Windows.restore(state, this.#clock.now(), this.#opened) : new Windows();
      this.#accounts.set(accountId, windows);
      return windows;
    });
    if (loaded instanceof Promise) {
      this.#loading.set(accountId, loaded);
      loaded.catch(() => this.#loading.delete(accountId)); // the next request tries again
    }
    return loaded;
  }

  async #saveBans(bans: readonly (readonly [string, Ban])[]): Promise<void> {
    await this.#store.saveBans(bans);
    for (const [keyId, ban] of bans) {
      if (this.#unsavedBans.get(keyId) === ban) this.#unsavedBans.delete(keyId);
    }
  }

  async #saveWindows(entries: readonly [string, Windows][]): Promise<void> {
    const reading = this.#clock.now();
    for (const [id] of entries) this.#changed.delete(id);
    try {
      await this.#store.saveWindows(entries.map(([id, windows]) => [id, windows.save(reading)]));
    } catch (error) {
      for (const [id, windows] of entries) this.#changed.set(id, windows);
      throw error;
    }
  }

  #sweep(reading: ClockReading): void {
    // What is saved can be read again: no window is lost by letting it go.
    for (const [accountId] of this.#accounts) {
      if (this.#accounts.size <= ACCOUNTS) break;
      if (!this.#changed.has(accountId)) this.#accounts.delete(accountId);
    }
    if (reading.monotonic - this.#swept < SWEEP) return;
    this.#swept = reading.monotonic;
    for (const [keyId, keyBans] of this.#keyBans) {
      if (keyBans.isSpent(reading) && !this.#unsavedBans.has(keyId)) this.#keyBans.delete(keyId);
    }
  }
}

/** The windows of a name, which are made where there are none. */
function windowsIn(map: RecentMap<string, Windows>, name: string): Windows {
  const known = map.get(name);
  if (known) return known;
  const made = new Windows();
  map.set(name, made);
  return made;
}
