import { entriesOf, RecentMap, ShopMap } from "../../collections/maps.ts";
import type { Caller, ShopName } from "../../contract/caller.ts";
import { DAY_MS, type StoredEnd } from "../../timing/clock.ts";
import { type LimitStore, SAVE_BATCH } from "../limits.store.ts";
import { noStoredLimits, type StoredLimits } from "../stored-limits.store.ts";
import type { WindowState } from "../windows.ts";
import type { Decision } from "./decision.ts";

/** The maximum number of shops that this process remembers. */
const MAX_KNOWN = 100_000;

/** The backup of counts that Valkey may lose. */
export type ValkeyBackup = Pick<LimitStore, "storedLimits" | "saveWindows" | "saveClockOffset" | "forget">;

/** For processes without a backup outside Valkey. */
export const noBackup: ValkeyBackup = {
  storedLimits: async () => new ShopMap(() => new Map()),
  saveWindows: async () => {},
  saveClockOffset: async () => {},
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
  /** What the shop's clock showed when `performance.now()` was 0. */
  clockAtZero: number;
  /** The day and its count that were saved last. */
  savedDay: number;
  savedUsed: number;
}

/**
 * The last counts that this process received from Valkey. The process continues from them while Valkey is
 * unreachable. It also saves them in the store, from which Valkey gets them back after it has lost its data. Above a
 * tenth of the day's limit, the saved count of a day is at most 1 s old. Below that, it is at most a hundredth of the
 * limit too low. The count of the minute is saved at the same time.
 */
export class LastKnownLimits {
  readonly #backup: ValkeyBackup;
  readonly #shops = new ShopMap<KnownShop, RecentMap<string, KnownShop>>(() => new RecentMap(MAX_KNOWN / 2));
  readonly #due = new ShopMap<KnownShop>(() => new Map());
  #saved: Promise<void> = Promise.resolve();

  constructor(backup: ValkeyBackup) {
    this.#backup = backup;
  }

  /** The last counts of a shop; undefined if this process has received none recently. */
  shop(shop: ShopName): KnownShop | undefined {
    return this.#shops.get(shop);
  }

  /** Records a decision. */
  note(caller: Caller, decision: Decision): void {
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
        clockAtZero: 0,
        savedDay: 0,
        savedUsed: 0,
      };
      this.#shops.set(caller, known);
    }
    known.perDay = perDay;
    known.ahead = decision.ahead;
    known.minuteEnds = decision.minuteEnds;
    known.minuteUsed = decision.minuteUsed;
    known.day = Math.floor(decision.now / DAY_MS);
    known.dayUsed = decision.dayUsed;
    known.clockAtZero = decision.now - performance.now();
    if (isDue(known)) this.#due.set(caller, known);
  }

  /** Saves how many milliseconds the clock of a sandbox is ahead of real time. */
  saveClockOffset(sandbox: ShopName, ahead: number): Promise<void> {
    return this.#backup.saveClockOffset(sandbox, ahead);
  }

  /** Records that the clock of a sandbox was advanced. */
  noteClockOffset(sandbox: ShopName, ahead: number): void {
    const known = this.#shops.get(sandbox);
    if (!known || known.ahead >= ahead) return;
    known.clockAtZero += ahead - known.ahead;
    known.ahead = ahead;
  }

  /** The counts of shops that Valkey does not have, from the store and from this process. */
  async load(shops: readonly ShopName[]): Promise<ShopMap<StoredLimits>> {
    const stored = await this.#backup.storedLimits([...new Set(shops.map(({ accountId }) => accountId))]);
    for (const shop of shops) {
      const known = this.#shops.get(shop);
      if (known) stored.set(shop, withKnown(stored.get(shop), known));
    }
    return stored;
  }

  /** Forgets the counts of both shops of an account, here and in the store. */
  async forget(accountId: string): Promise<void> {
    await Promise.allSettled([this.#saved]); // a running write would recreate deleted rows
    for (const entries of [this.#shops, this.#due]) entries.deleteAccount(accountId);
    await this.#backup.forget(accountId);
  }

  /** Writes the counts that are due. Call it twice a second. */
  save(): Promise<void> {
    this.#saved = this.#save();
    return this.#saved;
  }

  async #save(): Promise<void> {
    const due = [...entriesOf(this.#due)];
    for (let start = 0; start < due.length; start += SAVE_BATCH) {
      const batch = due.slice(start, start + SAVE_BATCH);
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
}

/** Combines saved and known counts: the later minute, and the larger count of a day. */
function withKnown(stored: StoredLimits = noStoredLimits, known: KnownShop): StoredLimits {
  const { minuteEnds, minuteUsed, day, dayUsed } = known;
  const used = Math.max(dayUsed, stored.days.find((one) => one.day === day)?.used ?? 0);
  return {
    ...(minuteEnds < stored.minuteEnds
      ? stored
      : { minuteEnds, minuteUsed: Math.max(minuteUsed, minuteOf(stored, minuteEnds)) }),
    ahead: Math.max(known.ahead, stored.ahead),
    days: [{ day, used }, ...stored.days.filter((one) => one.day !== day)],
  };
}

/** The stored minute that ends at this time. */
function minuteOf(stored: StoredLimits, minuteEnds: number): number {
  return stored.minuteEnds === minuteEnds ? stored.minuteUsed : 0;
}

function isDue({ perDay, day, dayUsed, savedDay, savedUsed }: KnownShop): boolean {
  const unsaved = day === savedDay ? dayUsed - savedUsed : dayUsed;
  return unsaved > 0 && (10 * dayUsed > perDay || 100 * unsaved >= perDay);
}

function stateOf({ minuteEnds, minuteUsed, day, dayUsed }: KnownShop): WindowState {
  return { minuteEnd: endAt(minuteEnds), minuteUsed, day, dayUsed, earlierDays: [] };
}

/** An end by Valkey's clock, which belongs to no boot of this machine. */
function endAt(wall: number): StoredEnd {
  return { wall, monotonic: wall, boot: 0 };
}
