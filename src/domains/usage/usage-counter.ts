import { entriesOf, ShopMap } from "../../collections/shop-map.ts";
import { type Caller, modes, type ShopName } from "../../contract/caller.ts";
import type { Operation } from "../../contract/operation.ts";
import { separateQuotaOf } from "../../contract/operation-properties.ts";
import type { Usage } from "../../http/interfaces.ts";
import { CommitUnknown } from "../../storage/errors.ts";
import type { Clock } from "../../timing/clock.ts";
import type { MaybePromise } from "../../timing/maybe-promise.ts";
import { MINUTE_MS } from "../../timing/units.ts";
import { DeprecatedCallCounter } from "./deprecated-calls.ts";
import type { DeprecatedCalls, UsageStore } from "./usage.store.ts";
import type { RequestCount } from "./usage-intervals.ts";

/** The maximum number of counts in memory, about 0.1 KB each. Requests that need another one are not counted. */
const MAX_COUNTS = 200_000;
/** The maximum number of counts in one transaction, twice a second. It limits how long requests are delayed. */
const AT_ONCE = 250;

/** Operation and status are encoded as one small number: looking up a large number is several times slower. */
const STATUSES = 1_000;

/** Requests of a key in a minute, by operation and status. */
type Counts = Map<number, number>;
type CountsByKey = Map<string, Counts>;

/** The counts of one key in one minute, in minutes since 1970. */
interface KeyMinute {
  readonly minute: number;
  readonly shop: ShopName;
  readonly keyId: string;
  readonly counts: Counts;
}

/** The counts and calls of one transaction. */
interface Batch {
  readonly counts: readonly KeyMinute[];
  readonly calls: readonly DeprecatedCalls[];
}

function noCounts(): ShopMap<CountsByKey> {
  return new ShopMap(() => new Map());
}

function sizeOf(keys: CountsByKey = new Map()): number {
  return [...keys.values()].reduce((sum, counts) => sum + counts.size, 0);
}

function requestsIn(counts: Batch["counts"]): number {
  return counts.flatMap((one) => [...one.counts.values()]).reduce((sum, requests) => sum + requests, 0);
}

/**
 * Counts requests and calls of deprecated operations in memory, by key. `save` must be called twice a second. If very
 * many keys are active, it writes only the first ones, and later calls write the others.
 */
export class UsageCounter implements Usage {
  readonly #store: UsageStore;
  readonly #clock: Clock;
  /** The operations that were called; undefined stands for no operation. The index encodes the operation. */
  readonly #operations: (Operation | undefined)[] = [];
  readonly #numbers = new Map<Operation | undefined, number>();
  /** Counts by minute, shop and key. The next two fields are the minute that was counted in last, and its counts. */
  readonly #minutes = new Map<number, ShopMap<CountsByKey>>();
  #minute = Number.NaN;
  #shops = noCounts();
  #size = 0;
  #uncounted = 0;
  readonly #deprecated = new DeprecatedCallCounter();
  /** The batch that is being written, until its commit begins. */
  #writing: Batch | undefined;
  /** Commits of saves that have begun, and whether the last one has not ended yet. */
  #commits = 0;
  #isCommitting = false;
  #saved: Promise<void> = Promise.resolve();

  constructor(store: UsageStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  count(caller: Caller, operation: Operation | undefined, status: number): void {
    if (separateQuotaOf(operation, caller)) return;
    const now = this.#clock.now();
    const number = this.#numbers.get(operation) ?? this.#numberFor(operation);
    this.#add(Math.floor(now / MINUTE_MS), caller, caller.keyId, number * STATUSES + status, 1);
    if (operation?.deprecation) this.#deprecated.add(operation, caller, 1, now);
  }

  /**
   * The number of counts in memory, and of requests that are or may be missing from the usage. They are missing if
   * memory was full, and may be missing if the result of a commit is unknown.
   */
  get size(): { counts: number; uncounted: number } {
    return { counts: this.#size, uncounted: this.#uncounted };
  }

  /**
   * Makes a read of the store, followed by `unsaved`, count each request once. Between the two calls, a save may move
   * requests from memory to the store, and the read would find them in neither. It is then repeated after the save.
   */
  countingOnce<T>(read: () => MaybePromise<T>): MaybePromise<T> {
    const [commits, wasCommitting] = [this.#commits, this.#isCommitting];
    const result = read();
    // On the embedded store such a read ends in the same turn of the event loop, and no commit runs in between.
    if (!(result instanceof Promise)) return result;
    return result.then((found) => {
      if (!wasCommitting && commits === this.#commits) return found;
      return Promise.allSettled([this.#saved]).then(() => this.countingOnce(read));
    });
  }

  /** Requests of a shop, or of one of its keys, that are not in the store yet. See `countingOnce`. */
  unsaved(shop: ShopName, keyId?: string): RequestCount[] {
    const { accountId, mode } = shop;
    const beingWritten = (this.#writing?.counts ?? []).filter(
      (one) => one.shop.accountId === accountId && one.shop.mode === mode,
    );
    const waiting = [...this.#minutes].flatMap(([minute, shops]) =>
      [...(shops.get(shop) ?? [])].map(([key, counts]) => ({ minute, shop, keyId: key, counts })),
    );
    return this.#requestCounts(
      [...beingWritten, ...waiting].filter((one) => keyId === undefined || one.keyId === keyId),
    );
  }

  /** Deletes the usage of an account, in memory and in the store. Call it when no process serves or saves requests of its keys any longer. */
  async forget(accountId: string): Promise<void> {
    await Promise.allSettled([this.#saved]); // a save in progress must end before the deletion
    for (const [minute, shops] of this.#minutes) {
      for (const mode of modes) this.#size -= sizeOf(shops.get({ accountId, mode }));
      shops.deleteAccount(accountId);
      if (shops.size === 0) this.#leave(minute);
    }
    this.#deprecated.forget(accountId);
    await this.#store.forget(accountId, this.#clock.now());
  }

  /** Writes some of the counts. Do not call it again before it ends. */
  save(): Promise<void> {
    this.#saved = this.#save();
    return this.#saved;
  }

  async #save(): Promise<void> {
    const batch = this.#take();
    if (batch.counts.length === 0 && batch.calls.length === 0) return;
    this.#writing = batch;
    try {
      await this.#store.add(this.#requestCounts(batch.counts), batch.calls, () => {
        this.#writing = undefined;
        this.#commits++;
        this.#isCommitting = true;
      });
    } catch (error) {
      this.#writing = undefined;
      // If the result of the commit is unknown, requests are dropped, because reporting too few is better than too
      // many. Calls of deprecated operations are written again instead: the owner of a missing key would not be warned
      // before the operation is removed.
      const isUnknown = error instanceof CommitUnknown;
      if (isUnknown) this.#uncounted += requestsIn(batch.counts);
      this.#giveBack(isUnknown ? { counts: [], calls: batch.calls } : batch);
      throw error;
    } finally {
      this.#isCommitting = false;
    }
  }

  /** Writes all counts. */
  async saveAll(): Promise<void> {
    while (!this.#isEmpty()) await this.save();
  }

  #isEmpty(): boolean {
    return this.#minutes.size === 0 && this.#deprecated.isEmpty;
  }

  #numberFor(operation: Operation | undefined): number {
    const number = this.#operations.push(operation) - 1;
    this.#numbers.set(operation, number);
    return number;
  }

  #add(minute: number, shop: ShopName, keyId: string, code: number, requests: number): void {
    if (minute !== this.#minute) this.#goTo(minute);
    let keys = this.#shops.get(shop);
    let counts = keys?.get(keyId);
    const counted = counts?.get(code);
    if (counts && counted !== undefined) counts.set(code, counted + requests);
    else if (this.#size >= MAX_COUNTS) this.#uncounted += requests;
    else {
      if (!keys) this.#shops.set(shop, (keys = new Map()));
      if (!counts) keys.set(keyId, (counts = new Map()));
      counts.set(code, requests);
      this.#size++;
    }
  }

  #goTo(minute: number): void {
    let shops = this.#minutes.get(minute);
    if (!shops) {
      shops = noCounts();
      this.#minutes.set(minute, shops);
    }
    this.#minute = minute;
    this.#shops = shops;
  }

  #take(): Batch {
    const counts: KeyMinute[] = [];
    let size = 0;
    for (const [minute, shops] of this.#minutes) {
      for (const [shop, keys] of entriesOf(shops)) {
        for (const [keyId, ofKey] of keys) {
          if (size >= AT_ONCE) break;
          counts.push({ minute, shop, keyId, counts: ofKey });
          keys.delete(keyId);
          size += ofKey.size;
        }
        if (keys.size > 0) break;
        shops.delete(shop);
      }
      if (shops.size === 0) this.#leave(minute);
    }
    this.#size -= size;
    return { counts, calls: this.#deprecated.take(AT_ONCE) };
  }

  #leave(minute: number): void {
    this.#minutes.delete(minute);
    if (minute === this.#minute) this.#minute = Number.NaN;
  }

  #requestCounts(counts: Batch["counts"]): RequestCount[] {
    return counts.flatMap(({ minute, shop, keyId, counts: ofKey }) =>
      [...ofKey].map(([code, requests]) => ({
        shop,
        keyId,
        minute,
        operation: this.#operations[Math.floor(code / STATUSES)]?.name ?? "",
        status: code % STATUSES,
        requests,
      })),
    );
  }

  #giveBack({ counts, calls }: Batch): void {
    for (const { minute, shop, keyId, counts: ofKey } of counts) {
      for (const [code, requests] of ofKey) this.#add(minute, shop, keyId, code, requests);
    }
    this.#deprecated.giveBack(calls);
  }
}
