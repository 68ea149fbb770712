import { entriesOf, ShopMap } from "../../contract/shop-map.ts";
import type { Caller, ShopName } from "../../http/ports.ts";
import { RecentMap } from "../../storage/recent-map.ts";
import type { MaybePromise } from "../../timing/maybe-promise.ts";
import type { StoredEnd } from "../clock-reading.ts";
import type { KeyBan, LimitStore } from "../limits.store.ts";
import type { SavedShop } from "../saved-shops.store.ts";
import { DAY, type WindowState } from "../windows.ts";
import type { Decision } from "./decision.ts";

/** Shops and keys whose last figures are known here. */
const KNOWN = 100_000;
/** Shops written in one transaction: a bound on how long it blocks others. */
const BATCH = 250;

/** The backup of counts and bans that Valkey may lose. */
export type ValkeyBackup = Pick<LimitStore, "shops" | "saveWindows" | "saveAhead" | "saveBans" | "forget">;

/** For processes without a backup outside Valkey. */
export const noBackup: ValkeyBackup = {
  shops: async () => new ShopMap(() => new Map()),
  saveWindows: async () => {},
  saveAhead: async () => {},
  saveBans: async () => {},
  forget: async () => {},
};

/** The last counts of a shop that this process received, by the shop's clock. */
export interface KnownShop {
  /** Milliseconds that the clock is ahead of real time. */
  ahead: number;
  perDay: number;
  minuteEnds: number;
  minuteUsed: number;
  day: number;
  dayUsed: number;
  /** What to add to `performance.now()` for the clock. */
  clock: number;
  savedDay: number;
  savedUsed: number;
}

/** A ban that this process received. `until` is in the time of `performance.now()`. */
interface KnownBan {
  readonly ends: number;
  readonly until: number;
  /** How far the clock of the shop was ahead then. */
  readonly ahead: number;
  readonly limit: number;
  /** The ban is not announced before it is in the backup. */
  saving: Promise<void> | undefined;
}

/**
 * What this process was told by Valkey: it continues from there when Valkey is away, and writes it to the store, from
 * which Valkey gets it back when it has lost it. Of the day's count, what is written is at most a second old above a
 * tenth of the limit, and at most a hundredth of the limit behind below that; of the minute, what was so at that time.
 */
export class SavedShops {
  readonly #backup: ValkeyBackup;
  readonly #shops = new ShopMap<KnownShop, RecentMap<string, KnownShop>>(() => new RecentMap(KNOWN / 2));
  readonly #due = new ShopMap<KnownShop>(() => new Map());
  readonly #bans = new RecentMap<string, KnownBan>(KNOWN);
  readonly #unsavedBans = new Map<string, KeyBan>();
  #saved: Promise<void> = Promise.resolve();

  constructor(backup: ValkeyBackup) {
    this.#backup = backup;
  }

  /** The last counts of a shop; undefined if this process has received none recently. */
  shop(shop: ShopName): KnownShop | undefined {
    return this.#shops.get(shop);
  }

  /** The current ban of the caller's key, as far as this process knows: its limit and its rest in milliseconds. */
  ban(caller: Caller): { readonly limit: number; readonly rest: number } | undefined {
    const ban = this.#bans.get(caller.keyId);
    if (!ban) return undefined;
    const advanced = (this.#shops.get(caller)?.ahead ?? ban.ahead) - ban.ahead;
    const rest = ban.until - performance.now() - advanced;
    return rest > 0 ? { limit: ban.limit, rest } : undefined;
  }

  /** Records a decision. A ban is written immediately, before it is announced. */
  note(caller: Caller, decision: Decision): MaybePromise<void> {
    const { perDay } = caller;
    let known = this.#shops.get(caller);
    if (!known) {
      known = {
        perDay,
        ahead: 0,
        minuteEnds: 0,
        minuteUsed: 0,
        day: 0,
        dayUsed: 0,
        clock: 0,
        savedDay: 0,
        savedUsed: 0,
      };
      this.#shops.set(caller, known);
    }
    known.perDay = perDay;
    known.ahead = decision.ahead;
    known.minuteEnds = decision.minuteEnds;
    known.minuteUsed = decision.minuteUsed;
    known.day = Math.floor(decision.now / DAY);
    known.dayUsed = decision.dayUsed;
    known.clock = decision.now - performance.now();
    if (isDue(known)) this.#due.set(caller, known);
    return decision.now < decision.banEnds ? this.#noteBan(caller, decision) : undefined;
  }

  /** Keeps in the store how far the clock of a sandbox is ahead of real time. */
  saveAhead(sandbox: ShopName, ahead: number): Promise<void> {
    return this.#backup.saveAhead(sandbox, ahead);
  }

  /** Notes that the clock of a sandbox has been advanced. */
  noteAhead(sandbox: ShopName, ahead: number): void {
    const known = this.#shops.get(sandbox);
    if (!known || known.ahead >= ahead) return;
    known.clock += ahead - known.ahead;
    known.ahead = ahead;
  }

  /** The counts of shops that Valkey does not have, from the store and from this process. */
  async load(shops: readonly ShopName[]): Promise<ShopMap<SavedShop>> {
    const kept = await this.#backup.shops([...new Set(shops.map(({ accountId }) => accountId))]);
    for (const shop of shops) {
      const known = this.#shops.get(shop);
      if (known) kept.set(shop, withKnown(kept.get(shop), known));
    }
    return kept;
  }

  /** The ban of a key was lifted. */
  forgetBan(keyId: string): void {
    this.#bans.delete(keyId);
    this.#unsavedBans.delete(keyId);
  }

  /** Forgets both shops of an account, here and in the store. */
  async forget(accountId: string): Promise<void> {
    await Promise.allSettled([this.#saved]); // it comes before the deletion
    for (const shops of [this.#shops, this.#due]) shops.deleteAccount(accountId);
    for (const [keyId, { shop }] of this.#unsavedBans) {
      if (shop.accountId === accountId) this.#unsavedBans.delete(keyId);
    }
    await this.#backup.forget(accountId);
  }

  /** Writes what is due. To be called twice a second. */
  save(): Promise<void> {
    this.#saved = this.#save();
    return this.#saved;
  }

  async #save(): Promise<void> {
    await this.#saveBans([...this.#unsavedBans.values()]);
    const due = [...entriesOf(this.#due)];
    for (let start = 0; start < due.length; start += BATCH) {
      const batch = due.slice(start, start + BATCH);
      for (const [shop] of batch) this.#due.delete(shop);
      const written = batch.map(([, known]) => ({ known, day: known.day, used: known.dayUsed }));
      try {
        await this.#backup.saveWindows(batch.map(([shop, known]) => [shop, stateOf(known)]));
      } catch (error) {
        for (const [shop, known] of batch) this.#due.set(shop, known);
        throw error;
      }
      for (const { known, day, used } of written) {
        known.savedDay = day;
        known.savedUsed = used;
      }
    }
  }

  #noteBan(
    { keyId, perMinute, accountId, mode }: Caller,
    { now, ahead, banEnds, banLevel }: Decision,
  ): MaybePromise<void> {
    const known = this.#bans.get(keyId);
    if (known?.ends === banEnds) return known.saving;
    const until = performance.now() + banEnds - now;
    const noted: KnownBan = { ends: banEnds, until, ahead, limit: perMinute, saving: undefined };
    this.#bans.set(keyId, noted);
    const ban = { keyId, shop: { accountId, mode }, ban: { end: endAt(banEnds), level: banLevel } };
    this.#unsavedBans.set(keyId, ban);
    // What cannot be written now is written by the next `save`.
    noted.saving = this.#saveBans([ban])
      .catch(() => {})
      .finally(() => {
        noted.saving = undefined;
      });
    return noted.saving;
  }

  async #saveBans(bans: readonly KeyBan[]): Promise<void> {
    if (bans.length === 0) return;
    await this.#backup.saveBans(bans);
    for (const ban of bans) {
      if (this.#unsavedBans.get(ban.keyId) === ban) this.#unsavedBans.delete(ban.keyId);
    }
  }
}

/** Of two minutes the later one, of a day the larger count. */
function withKnown(kept: SavedShop = nothing, known: KnownShop): SavedShop {
  const { minuteEnds, minuteUsed, day, dayUsed } = known;
  const used = Math.max(dayUsed, kept.days.find((one) => one.day === day)?.used ?? 0);
  return {
    ...(minuteEnds < kept.minuteEnds
      ? kept
      : { minuteEnds, minuteUsed: Math.max(minuteUsed, minuteOf(kept, minuteEnds)) }),
    ahead: Math.max(known.ahead, kept.ahead),
    days: [{ day, used }, ...kept.days.filter((one) => one.day !== day)],
    bans: kept.bans,
  };
}

const nothing: SavedShop = { ahead: 0, minuteEnds: 0, minuteUsed: 0, days: [], bans: [] };

/** The stored minute that ends at this time. */
function minuteOf(kept: SavedShop, minuteEnds: number): number {
  return kept.minuteEnds === minuteEnds ? kept.minuteUsed : 0;
}

function isDue({ perDay, day, dayUsed, savedDay, savedUsed }: KnownShop): boolean {
  const unsaved = day === savedDay ? dayUsed - savedUsed : dayUsed;
  return unsaved > 0 && (10 * dayUsed > perDay || 100 * unsaved >= perDay);
}

function stateOf({ minuteEnds, minuteUsed, day, dayUsed }: KnownShop): WindowState {
  return { minuteEnd: endAt(minuteEnds), minuteUsed, day, dayUsed, earlierDays: [] };
}

/** Valkey's clock is used, which belongs to no boot of this machine. */
function endAt(wall: number): StoredEnd {
  return { wall, monotonic: wall, boot: 0 };
}
