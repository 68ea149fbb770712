import type { ShopName } from "../../contract/caller.ts";
import type { Operation } from "../../contract/operation.ts";
import { inLockOrder } from "../../storage/combined-steps.ts";
import { DELETE_BATCH_SIZE } from "../../storage/owned-table.ts";
import { type Page, pageOf } from "../../storage/page.ts";
import type { Storage } from "../../storage/storage.ts";
import { all, first, type Transaction } from "../../storage/transaction.ts";
import { DAY_SECONDS, HOUR_SECONDS } from "../../timing/clock.ts";
import { Pause } from "../../timing/waiting.ts";
import type { Granularity, UsageInterval } from "./usage.operations.ts";
import {
  addCalls,
  deleteCalls,
  deleteCounts,
  readCalls,
  readRow,
  readSpans,
  type SweptRow,
  sweepCalls,
  sweepCounts,
  writeCount,
} from "./usage.statements.ts";
import {
  floorTo,
  intervalsOf,
  lengthOf,
  type RequestCount,
  type Span,
  startOf,
  storedIntervalsOf,
  toUsageInterval,
  withRequests,
} from "./usage-intervals.ts";

/** Calls of a deprecated operation by one key. `lastAt` is in Unix milliseconds. */
export interface DeprecatedCalls {
  readonly operation: Operation;
  readonly keyId: string;
  readonly accountId: string;
  calls: number;
  lastAt: number;
}

/** Stored calls of a deprecated operation by one key. */
export interface StoredDeprecatedCalls extends Omit<DeprecatedCalls, "operation"> {
  readonly operation: string;
}

/** The part of the usage to read. If `before` is set, only intervals that start before this time, in Unix seconds. */
export interface UsageQuery {
  readonly before: number | undefined;
  readonly limit: number;
  /** Only requests of this key; if undefined, of all keys of the shop. */
  readonly keyId?: string | undefined;
  /** Unix milliseconds. */
  readonly now: number;
  /**
   * Requests of the shop that are not in the store yet. Called after the read, so that requests that are written during
   * the read are not counted twice. They may be missing: see `UsageCounter.page`.
   */
  readonly unsaved: () => readonly RequestCount[];
}

/** How long rows are kept, in seconds: one span longer than they are shown, so that the first interval is complete. */
const retention: Readonly<Record<Span, number>> = { hour: 4 * HOUR_SECONDS, day: 31 * DAY_SECONDS };

/** The pause before the next search for old rows after one that has deleted all, in milliseconds. */
const SWEEP_PAUSE = 60_000;

/**
 * Stores the requests of shops, by key and in total, and the calls of deprecated operations by key. There are up to 5
 * rows of hours and 32 of days for each operation and status of a key or a shop, and one row a day for each key that
 * calls a deprecated operation.
 */
export class UsageStore {
  readonly #storage: Storage;
  readonly #sweepPause = new Pause(SWEEP_PAUSE);

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /**
   * Adds counts and calls in one transaction. `beforeCommit` is called as its last step, and again if the transaction is
   * repeated. It is no `afterCommit` action: reads between the commit and that action would count twice.
   */
  async add(
    counts: readonly RequestCount[],
    calls: readonly DeprecatedCalls[],
    beforeCommit: () => void,
  ): Promise<void> {
    await this.#storage.write(function* () {
      const sorted = inLockOrder([...counts, ...ofAllKeys(counts)], rowOfCount);
      for (const span of ["hour", "day"] as const) for (const count of sorted) yield* addTo(span, count);
      for (const { operation, keyId, accountId, calls: times, lastAt } of inLockOrder(calls, rowOfCalls)) {
        yield* all(addCalls, floorTo(lastAt / 1000, DAY_SECONDS), operation.name, keyId, accountId, times, lastAt);
      }
      beforeCommit();
    });
  }

  /** A page of intervals, newest first. `next` is the start of the last one; undefined if there are no more. */
  *page(
    { accountId, mode }: ShopName,
    granularity: Granularity,
    { before = Number.POSITIVE_INFINITY, limit, keyId = "", now, unsaved }: UsageQuery,
  ): Transaction<Page<UsageInterval, number>> {
    const stored = storedIntervalsOf(granularity);
    const { span, length, interval, reach, spanCount } = stored;
    const oldest = floorTo(now / 1000 - reach, interval);
    const newest = floorTo(Math.min(now / 1000, before - 1), length);
    const starts = Array.from({ length: spanCount }, (_, index) => newest - index * length);
    const rows = yield* all(readSpans[granularity], span, accountId, mode, keyId, ...starts);
    const bySpan = Map.groupBy(rows, ({ starts_at }) => Number(starts_at));
    const counted = unsaved();
    const intervals = starts
      .values()
      .flatMap((start) => intervalsOf(bySpan.get(start) ?? [], counted, stored, start))
      .filter(({ start }) => start >= oldest && start < before)
      .take(limit + 1); // older spans are not computed
    return pageOf([...intervals], limit, toUsageInterval, (last) => last.start);
  }

  /** The keys that have called deprecated operations in the last 30 days, the latest callers first. */
  async deprecatedCalls(now: number): Promise<StoredDeprecatedCalls[]> {
    const rows = await this.#storage.read(all(readCalls, floorTo(now / 1000, DAY_SECONDS) - 30 * DAY_SECONDS));
    return rows.map(({ operation, key_id, account_id, calls, last_called_at }) => ({
      operation,
      keyId: key_id,
      accountId: account_id,
      calls: Number(calls),
      lastAt: Number(last_called_at),
    }));
  }

  /** Deletes the usage of an account's shops and its calls of deprecated operations. */
  async forget(accountId: string, now: number): Promise<void> {
    for (const span of ["hour", "day"] as const) {
      const length = lengthOf(span);
      const newest = floorTo(now / 1000, length);
      const oldest = newest - retention[span] - length;
      // Each statement names the first columns of the primary key, so it is fast with many shops and delays no other writer.
      for (let start = oldest; start <= newest; start += length) await this.#forgetSpans(accountId, span, "at", start);
      // There are few of these: rows that will be swept soon, or rows written while the clock was ahead.
      await this.#forgetSpans(accountId, span, "before", oldest);
      await this.#forgetSpans(accountId, span, "after", newest);
    }
  }

  /** Deletes the usage in the spans that start at a time, before it or after it. Calls are counted by day. */
  async #forgetSpans(accountId: string, span: Span, is: "before" | "at" | "after", start: number): Promise<void> {
    await this.#deleteAll(() => all(deleteCounts[is], span, start, accountId, DELETE_BATCH_SIZE));
    if (span === "day") await this.#deleteAll(() => all(deleteCalls[is], start, accountId, DELETE_BATCH_SIZE));
  }

  async #deleteAll(part: () => Transaction<readonly SweptRow[]>): Promise<void> {
    while ((await this.#storage.write(part)).length === DELETE_BATCH_SIZE) continue;
  }

  /** Deletes some of the old rows, if the pause is over. `now` is in Unix milliseconds. */
  async sweep(now: number): Promise<void> {
    if (!this.#sweepPause.isOver(now)) return;
    const seconds = now / 1000;
    let isMore = false;
    for (const swept of [
      () => all(sweepCounts, "hour", floorTo(seconds - retention.hour, HOUR_SECONDS), DELETE_BATCH_SIZE),
      () => all(sweepCounts, "day", floorTo(seconds - retention.day, DAY_SECONDS), DELETE_BATCH_SIZE),
      () => all(sweepCalls, floorTo(seconds - retention.day, DAY_SECONDS), DELETE_BATCH_SIZE),
    ]) {
      if ((await this.#storage.write(swept)).length === DELETE_BATCH_SIZE) isMore = true;
    }
    if (!isMore) this.#sweepPause.start(now);
  }
}

/** Part of a transaction: adds requests to the span that they belong to. */
function* addTo(span: Span, count: RequestCount): Transaction<void> {
  const { shop, keyId, operation, status } = count;
  const { accountId, mode } = shop;
  const start = startOf(count, span);
  const row = yield* first(readRow, span, start, accountId, mode, keyId, operation, status);
  const counts = withRequests(row?.counts, count, span);
  yield* all(writeCount, span, start, accountId, mode, keyId, operation, status, counts);
}

function rowOfCount({ shop, keyId, operation, status, minute }: RequestCount): string {
  return `${shop.accountId} ${shop.mode} ${keyId} ${operation} ${status} ${minute}`;
}

function rowOfCalls({ operation, keyId }: DeprecatedCalls): string {
  return `${operation.name} ${keyId}`;
}

/** The sums over all keys of each shop. */
function ofAllKeys(counts: readonly RequestCount[]): RequestCount[] {
  const sums = new Map<string, RequestCount>();
  for (const { shop, minute, operation, status, requests } of counts) {
    const name = `${shop.accountId} ${shop.mode} ${minute} ${operation} ${status}`;
    const sum = requests + (sums.get(name)?.requests ?? 0);
    sums.set(name, { shop, keyId: "", minute, operation, status, requests: sum });
  }
  return [...sums.values()];
}
