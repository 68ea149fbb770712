import type { Caller, ShopName } from "../../contract/caller.ts";
import type { Operation } from "../../contract/operation.ts";
import { separateQuotaOf } from "../../contract/operation-properties.ts";
import type { Usage } from "../../http/interfaces.ts";
import { CommitUnknown } from "../../storage/errors.ts";
import type { Page } from "../../storage/pages.ts";
import { type Transaction, waitFor } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import { type RequestCount, RequestCounter } from "./request-counter.ts";
import type { Granularity, UsageInterval } from "./usage.operations.ts";
import type { UsageQuery, UsageStore } from "./usage.store.ts";

/** The maximum number of counts in one transaction, twice a second. It limits how long requests are delayed. */
const AT_ONCE = 250;

/**
 * Counts requests in memory, by key. `save` must be called twice a second. If very many keys are active, it writes only
 * the first ones, and later calls write the others.
 */
export class UsageCounter implements Usage {
  readonly #store: UsageStore;
  readonly #clock: Clock;
  readonly #requests = new RequestCounter();
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
    this.#requests.add(caller, operation, status, this.#clock.now());
  }

  /** See `RequestCounter.size`. */
  get size(): { counts: number; uncounted: number } {
    return this.#requests.size;
  }

  /** A page of intervals, newest first. It counts each request once, saved or not. See `UsageStore.page`. */
  *page(
    shop: ShopName,
    granularity: Granularity,
    query: Omit<UsageQuery, "now" | "unsaved">,
  ): Transaction<Page<UsageInterval, number>> {
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
    const writing = this.#writing.filter(({ shop }) => shop.accountId === accountId && shop.mode === mode);
    const unsaved = [...writing, ...this.#requests.of({ accountId, mode })];
    return keyId === undefined ? unsaved : unsaved.filter((count) => count.keyId === keyId);
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
    const requests = this.#requests.take(AT_ONCE);
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
      if (error instanceof CommitUnknown) this.#requests.noteMissing(requests);
      else this.#requests.giveBack(requests);
      throw error;
    } finally {
      this.#isCommitting = false;
    }
  }

  /** Writes all counts. */
  async saveAll(): Promise<void> {
    while (!this.#requests.isEmpty) await this.save();
  }
}
