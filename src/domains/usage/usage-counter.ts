import type { Caller, Mode, ShopName } from "../../contract/caller.ts";
import type { Operation } from "../../contract/operation.ts";
import { separateQuotaOf } from "../../contract/operation-properties.ts";
import type { Usage } from "../../http/interfaces.ts";
import { CommitUnknown } from "../../storage/errors.ts";
import type { Page } from "../../storage/pages.ts";
import { type Read, waitFor } from "../../storage/transaction.ts";
import { type Clock, HOUR_MS } from "../../timing/clock.ts";
import type { Granularity, UsageInterval } from "./usage.operations.ts";
import type { RequestCount, UsageQuery, UsageStore } from "./usage.store.ts";

/** The maximum number of counts in one transaction, twice a second. It limits how long requests are delayed. */
const AT_ONCE = 250;
/** The maximum number of counts in memory, about 0.1 KB each. Requests that need another one are not counted. */
const MAX_COUNTS = 200_000;
/** Operation and status are encoded as one small number: looking up a large number is several times slower. */
const STATUSES = 1_000;

/** The requests of one key in an hour, by encoded operation and status. */
interface KeyCounts {
  readonly mode: Mode;
  readonly requests: Map<number, number>;
}
/** By account and key. */
type HourCounts = Map<string, Map<string, KeyCounts>>;

/**
 * Counts requests in memory, by hour, key, operation and status. `save` must be called twice a second. If very many keys
 * are active, it writes only the first ones, and later calls write the others.
 */
export class UsageCounter implements Usage {
  readonly #store: UsageStore;
  readonly #clock: Clock;
  /** The names of the operations that were called; empty for no operation. The index encodes the operation. */
  readonly #names: string[] = [];
  readonly #numbers = new Map<Operation | undefined, number>();
  /** What waits to be written, by hour. The next two fields are the hour that was counted in last, and its counts. */
  readonly #hours = new Map<number, HourCounts>();
  #hour = Number.NaN;
  #accounts: HourCounts = new Map();
  #size = 0;
  #uncounted = 0;
  /** The requests that are being written, until their commit begins. */
  #writing: readonly RequestCount[] = [];
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
    const number = this.#numbers.get(operation) ?? this.#numberFor(operation);
    this.#add(Math.floor(this.#clock.now() / HOUR_MS), caller, caller.keyId, number * STATUSES + status, 1);
  }

  /**
   * The number of counts in memory, and of requests that are or may be missing from the usage: memory was full, or the
   * result of the commit with them is unknown.
   */
  get size(): { counts: number; uncounted: number } {
    return { counts: this.#size, uncounted: this.#uncounted };
  }

  /** A page of intervals, newest first. It counts each request once, saved or not. See `UsageStore.page`. */
  *page(
    shop: ShopName,
    granularity: Granularity,
    query: Omit<UsageQuery, "now" | "unsaved">,
  ): Read<Page<UsageInterval, number>> {
    const unsaved = () => this.#unsaved(shop, query.keyId);
    for (;;) {
      const commits = this.#commits;
      const wasCommitting = this.#isCommitting;
      const page = yield* this.#store.page(shop, granularity, { ...query, now: this.#clock.now(), unsaved });
      if (!wasCommitting && commits === this.#commits) return page;
      // A save has moved requests from memory to the store, perhaps after the store was read: read again after it.
      yield* waitFor(Promise.allSettled([this.#saved]));
    }
  }

  /** Requests of a shop, or of one of its keys, that are not in the store yet. */
  #unsaved({ accountId, mode }: ShopName, keyId: string | undefined): RequestCount[] {
    const writing = this.#writing.filter(({ shop }) => shop.accountId === accountId);
    const waiting = [...this.#hours].flatMap(([hour, accounts]) =>
      [...(accounts.get(accountId) ?? [])].flatMap(([id, counts]) => this.#requestCounts(hour, accountId, id, counts)),
    );
    return [...writing, ...waiting].filter(
      (count) => count.shop.mode === mode && (keyId === undefined || count.keyId === keyId),
    );
  }

  /**
   * Deletes the stored usage of an account. Call it when no process serves or saves requests of its keys any longer.
   * What is counted later is not stored.
   */
  async forget(accountId: string): Promise<void> {
    await Promise.allSettled([this.#saved]); // a save in progress must end before the deletion
    await this.#store.forget(accountId, this.#clock.now());
  }

  /** Writes some of the counts. Do not call it again before it ends. */
  save(): Promise<void> {
    this.#saved = this.#save();
    return this.#saved;
  }

  async #save(): Promise<void> {
    const requests = this.#take();
    if (requests.length === 0) return;
    this.#writing = requests;
    try {
      await this.#store.add(requests, () => {
        this.#writing = [];
        this.#commits++;
        this.#isCommitting = true;
      });
    } catch (error) {
      this.#writing = [];
      // If the result of the commit is unknown, they are dropped: reporting too few is better than too many.
      if (error instanceof CommitUnknown) for (const one of requests) this.#uncounted += one.requests;
      else this.#giveBack(requests);
      throw error;
    } finally {
      this.#isCommitting = false;
    }
  }

  /** Writes all counts. */
  async saveAll(): Promise<void> {
    while (this.#hours.size > 0) await this.save();
  }

  /** Removes and returns counts: those of each key at once, until there are `AT_ONCE` of them or more. */
  #take(): RequestCount[] {
    const taken: RequestCount[] = [];
    for (const [hour, accounts] of this.#hours) {
      for (const [accountId, keys] of accounts) {
        for (const [keyId, counts] of keys) {
          if (taken.length >= AT_ONCE) break;
          for (const count of this.#requestCounts(hour, accountId, keyId, counts)) taken.push(count);
          keys.delete(keyId);
        }
        if (keys.size > 0) break;
        accounts.delete(accountId);
      }
      if (accounts.size > 0) break;
      this.#hours.delete(hour);
      if (hour === this.#hour) this.#hour = Number.NaN;
    }
    this.#size -= taken.length;
    return taken;
  }

  #giveBack(taken: readonly RequestCount[]): void {
    for (const { hour, shop, keyId, operation, status, requests } of taken) {
      this.#add(hour, shop, keyId, this.#names.indexOf(operation) * STATUSES + status, requests);
    }
  }

  #numberFor(operation: Operation | undefined): number {
    const number = this.#names.push(operation?.name ?? "") - 1;
    this.#numbers.set(operation, number);
    return number;
  }

  #add(hour: number, { accountId, mode }: ShopName, keyId: string, operationAndStatus: number, more: number): void {
    if (hour !== this.#hour) this.#selectHour(hour);
    let keys = this.#accounts.get(accountId);
    let counts = keys?.get(keyId);
    const counted = counts?.requests.get(operationAndStatus);
    if (counts && counted !== undefined) counts.requests.set(operationAndStatus, counted + more);
    else if (this.#size >= MAX_COUNTS) this.#uncounted += more;
    else {
      if (!keys) this.#accounts.set(accountId, (keys = new Map()));
      if (!counts) keys.set(keyId, (counts = { mode, requests: new Map() }));
      counts.requests.set(operationAndStatus, more);
      this.#size++;
    }
  }

  #selectHour(hour: number): void {
    this.#accounts = this.#hours.get(hour) ?? new Map();
    this.#hours.set(hour, this.#accounts);
    this.#hour = hour;
  }

  #requestCounts(hour: number, accountId: string, keyId: string, { mode, requests }: KeyCounts): RequestCount[] {
    return [...requests].map(([operationAndStatus, count]) => ({
      shop: { accountId, mode },
      keyId,
      hour,
      operation: this.#names[Math.floor(operationAndStatus / STATUSES)] as string,
      status: operationAndStatus % STATUSES,
      requests: count,
    }));
  }
}
