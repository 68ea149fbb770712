import { entriesOf, ShopMap } from "../collections/maps.ts";
import { type Mode, modes, type ShopName } from "../contract/caller.ts";
import { aheadBy, type ClockReader, type ClockReading, storedEnd } from "../timing/clock.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import { type LimitStore, SAVE_BATCH } from "./limits.store.ts";
import { Windows } from "./windows.ts";

/** The maximum number of shops in memory after a save. Each takes about 0.3 KB. */
export const MAX_SHOPS = 100_000;

/** The storage of windows across restarts. */
export type WindowStorage = Pick<LimitStore, "windows" | "saveWindows" | "saveClockOffset" | "storedLimits">;

/** Counts of a shop from another source, by the shop's clock. */
export interface StartingCounts {
  /** Milliseconds that the clock is ahead of real time. */
  readonly ahead: number;
  readonly minuteRest: number;
  readonly minuteUsed: number;
  readonly day: number;
  readonly dayUsed: number;
}

/** The windows of shops, in memory and in the store. */
export class ShopWindows {
  readonly #store: WindowStorage;
  readonly #clock: ClockReader;
  /** When the limiter started. */
  readonly #opened: ClockReading;
  readonly #shops = new ShopMap<Windows>(() => new Map());
  readonly #loading = new ShopMap<Promise<Windows>>(() => new Map());
  /** The accounts whose windows must be saved. Windows are here, once, if their flag `changed` is set. */
  readonly #changed: Record<Mode, string[]> = { live: [], test: [] };
  /** Accounts whose sandboxes had a request refused since the last save. */
  readonly #refusedSandboxes = new Set<string>();

  constructor(store: WindowStorage, clock: ClockReader) {
    this.#store = store;
    this.#clock = clock;
    this.#opened = clock.now();
  }

  /** The number of shops in memory. */
  get size(): number {
    return this.#shops.size;
  }

  /** The windows of a shop; undefined if they are not in memory. */
  get(shop: ShopName): Windows | undefined {
    return this.#shops.get(shop);
  }

  /** Loads the windows of a shop that is not in memory. Concurrent requests share one read. */
  load(shop: ShopName): MaybePromise<Windows> {
    const loading = this.#loading.get(shop);
    if (loading) return loading;
    const loaded = whenReady(this.#store.windows(shop), (state) => {
      this.#loading.delete(shop);
      const windows = state ? Windows.restore(state, this.#clock.now(), this.#opened) : new Windows();
      this.#shops.set(shop, windows);
      return windows;
    });
    if (loaded instanceof Promise) {
      this.#loading.set(shop, loaded);
      loaded.catch(() => this.#loading.delete(shop)); // the next request tries again
    }
    return loaded;
  }

  /** Call it when windows become `changed`. */
  noteChanged({ accountId, mode }: ShopName): void {
    this.#changed[mode].push(accountId);
  }

  /** Call it when a request is refused. */
  noteRefused({ accountId, mode }: ShopName): void {
    if (mode === "test") this.#refusedSandboxes.add(accountId);
  }

  /** Replaces the counts of a shop. `minuteRest` is the rest of its minute in milliseconds. */
  startFrom(shop: ShopName, { minuteRest, ...counts }: StartingCounts): void {
    const reading = this.#clock.now();
    const minuteEnd = storedEnd(minuteRest, aheadBy(reading, counts.ahead));
    const state = { ...counts, minuteEnd, earlierDays: [] };
    this.#shops.set(shop, Windows.restore(state, reading, this.#opened));
  }

  /** Sets the clock of a sandbox, in the store first. */
  async setClockOffset(sandbox: ShopName, ahead: number): Promise<void> {
    await this.#store.saveClockOffset(sandbox, ahead);
    // A read that is under way may have started before the write.
    const windows = this.get(sandbox) ?? (await this.load(sandbox));
    windows.setClockOffset(ahead);
  }

  deleteAccount(accountId: string): void {
    this.#shops.deleteAccount(accountId);
  }

  /** Writes the changes since the last call, drops what exceeds `MAX_SHOPS`, and reads clocks of sandboxes again. */
  async save(): Promise<void> {
    for (const mode of modes) await this.#saveChanged(mode);
    // Saved windows can be loaded again, so they can be dropped.
    for (const [shop, windows] of entriesOf(this.#shops)) {
      if (this.#shops.size <= MAX_SHOPS) break;
      if (!windows.changed) this.#shops.delete(shop);
    }
    await this.#readClockOffsets();
  }

  async #saveChanged(mode: Mode): Promise<void> {
    // The order of the stored rows. A transaction that changes neighbouring rows writes fewer pages.
    const accountIds = this.#changed[mode].toSorted();
    this.#changed[mode] = [];
    for (let start = 0; start < accountIds.length; start += SAVE_BATCH) {
      const batch = accountIds.slice(start, start + SAVE_BATCH);
      try {
        await this.#saveBatch(mode, batch);
      } catch (error) {
        this.#changed[mode] = this.#changed[mode].concat(accountIds.slice(start + batch.length));
        throw error;
      }
    }
  }

  async #saveBatch(mode: Mode, accountIds: readonly string[]): Promise<void> {
    const reading = this.#clock.now();
    const entries = accountIds.flatMap((accountId) => {
      const windows = this.#shops.get({ accountId, mode });
      return windows ? [{ shop: { accountId, mode }, windows }] : []; // none if the account was deleted
    });
    try {
      await this.#store.saveWindows(entries.map(({ shop, windows }) => [shop, windows.save(reading)]));
    } catch (error) {
      for (const { shop, windows } of entries) {
        if (windows.changed) continue; // by a request during the write
        windows.changed = true;
        this.noteChanged(shop);
      }
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
    for (const [accountId, { ahead }] of (await this.#store.storedLimits(accountIds)).of({ mode })) {
      this.#shops.get({ accountId, mode })?.setClockOffset(ahead);
    }
  }
}
