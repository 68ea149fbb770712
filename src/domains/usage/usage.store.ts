import type { ShopName } from "../../contract/caller.ts";
import type { Operation } from "../../contract/operation.ts";
import { type Page, pageOf } from "../../storage/page.ts";
import type { Storage } from "../../storage/storage.ts";
import { all, first, type Transaction } from "../../storage/transaction.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import type { Granularity, UsageInterval } from "./usage.operations.ts";
import {
  addCalls,
  deleteCalls,
  deleteCountsAfter,
  deleteCountsAt,
  deleteCountsBefore,
  readCalls,
  readCount,
  readCounts,
  type SweptRow,
  sweepCalls,
  sweepCounts,
  writeCount,
} from "./usage.statements.ts";
import {
  DAY,
  floor,
  HOUR,
  historyOf,
  intervalsOf,
  type RequestCount,
  type Span,
  startOf,
  toUsageInterval,
  withRequests,
} from "./usage-intervals.ts";

/** Calls of a deprecated operation by one key; the last of them in unix milliseconds. */
export interface DeprecatedCalls {
  readonly operation: Operation;
  readonly keyId: string;
  readonly accountId: string;
  calls: number;
  lastAt: number;
}

/** What a key has called of a deprecated operation, by the operation's name. */
export interface DeprecatedUse extends Omit<DeprecatedCalls, "operation"> {
  readonly operation: string;
}

/** Which part of the usage to read: intervals that begin before a moment in unix seconds, if it is given. */
interface UsageQuery {
  readonly before: number | undefined;
  readonly limit: number;
  /** The key whose requests are meant; undefined for all of the shop. */
  readonly keyId?: string | undefined;
  /** Unix milliseconds. */
  readonly now: number;
  /**
   * What the shop was sent that is not in the store yet. It is asked behind the read: what is written
   * meanwhile may then be missing in this page, but is never counted twice.
   */
  readonly unsaved: () => readonly RequestCount[];
}

/** Rows are kept a span longer than they reach, so that the first interval is whole. */
const kept: Readonly<Record<Span, number>> = { hour: 4 * HOUR, day: 31 * DAY };

/** Rows deleted in one transaction: a bound on how long it blocks others. */
const DELETE_BATCH = 500;
/** Seconds between two looks for rows that are too old, once none is left. */
const SWEEP_PAUSE = 60;

/**
 * What shops were sent, by each of their keys and by all together, and which keys have called what is deprecated. For
 * each operation and status that a key or a shop has, there are up to 4 rows of hours and 32 of days, and one a day
 * for each key that calls a deprecated operation.
 */
export class UsageStore {
  readonly #storage: Storage;
  /** When to sweep again, in unix seconds. */
  #sweepAt = Number.NEGATIVE_INFINITY;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Adds what was counted, all of it or nothing. `added` is called as the last step of the transaction. */
  async add(counts: readonly RequestCount[], calls: readonly DeprecatedCalls[], added: () => void): Promise<void> {
    await this.#storage.write(function* () {
      const sorted = inLockOrder([...counts, ...ofAllKeys(counts)]);
      for (const span of ["hour", "day"] as const) for (const count of sorted) yield* addTo(span, count);
      for (const { operation, keyId, accountId, calls: times, lastAt } of calls) {
        yield* all(addCalls, floor(lastAt / 1000, DAY), operation.name, keyId, accountId, times, lastAt);
      }
      added();
    });
  }

  /** A page of intervals, newest first; `next` is the beginning of its last one, if there are more. */
  page(
    { accountId, mode }: ShopName,
    granularity: Granularity,
    { before = Number.POSITIVE_INFINITY, limit, keyId = "", now, unsaved }: UsageQuery,
  ): MaybePromise<Page<UsageInterval, number>> {
    const history = historyOf(granularity);
    const { span, length, interval, reach, spans } = history;
    const oldest = floor(now / 1000 - reach, interval);
    const newest = floor(Math.min(now / 1000, before - 1), length);
    const starts = Array.from({ length: spans }, (_, index) => newest - index * length);
    return whenReady(this.#storage.all(readCounts[granularity], span, accountId, mode, keyId, ...starts), (rows) => {
      const bySpan = Map.groupBy(rows, ({ starts_at }) => Number(starts_at));
      const counted = unsaved();
      const intervals = starts
        .values()
        .flatMap((start) => intervalsOf(bySpan.get(start) ?? [], counted, history, start))
        .filter(({ start }) => start >= oldest && start < before)
        .take(limit + 1); // the spans behind it need not be looked at
      return pageOf([...intervals], limit, toUsageInterval, (last) => last.start);
    });
  }

  /** Which keys have called deprecated operations in the last 30 days, the latest callers first. */
  async deprecatedUses(now: number): Promise<DeprecatedUse[]> {
    const rows = await this.#storage.all(readCalls, floor(now / 1000, DAY) - 30 * DAY);
    return rows.map(({ operation, key_id, account_id, calls, last_called_at }) => ({
      operation,
      keyId: key_id,
      accountId: account_id,
      calls: Number(calls),
      lastAt: Number(last_called_at),
    }));
  }

  /** Deletes what the shops of an account were sent, and its calls of deprecated operations. */
  async forget(accountId: string, now: number): Promise<void> {
    for (const span of ["hour", "day"] as const) {
      const { length } = historyOf(span === "hour" ? "minute" : "day");
      const newest = floor(now / 1000, length);
      const oldest = newest - kept[span] - length;
      // By the beginning of the key: others can write meanwhile, however many shops there are.
      for (let start = oldest; start <= newest; start += length) {
        await this.#deleteAll(() => all(deleteCountsAt, span, start, accountId, DELETE_BATCH));
      }
      // There are few of these: rows that are about to be swept, or of a clock that was ahead.
      await this.#deleteAll(() => all(deleteCountsBefore, span, oldest, accountId, DELETE_BATCH));
      await this.#deleteAll(() => all(deleteCountsAfter, span, newest, accountId, DELETE_BATCH));
    }
    await this.#deleteAll(() => all(deleteCalls, accountId, DELETE_BATCH));
  }

  async #deleteAll(part: () => Transaction<readonly SweptRow[]>): Promise<void> {
    while ((await this.#storage.write(part)).length === DELETE_BATCH) continue;
  }

  /** Deletes some of what is too old, if it is time to look for it. */
  async sweep(now: number): Promise<void> {
    const seconds = now / 1000;
    if (seconds < this.#sweepAt && seconds > this.#sweepAt - 2 * SWEEP_PAUSE) return; // or the clock went back
    let isMore = false;
    for (const swept of [
      () => all(sweepCounts, "hour", floor(seconds - kept.hour, HOUR), DELETE_BATCH),
      () => all(sweepCounts, "day", floor(seconds - kept.day, DAY), DELETE_BATCH),
      () => all(sweepCalls, floor(seconds - kept.day, DAY), DELETE_BATCH),
    ]) {
      if ((await this.#storage.write(swept)).length === DELETE_BATCH) isMore = true;
    }
    if (!isMore) this.#sweepAt = seconds + SWEEP_PAUSE;
  }
}

/** Part of a transaction: adds requests to the span that they belong to. */
function* addTo(span: Span, count: RequestCount): Transaction<void> {
  const { shop, keyId, operation, status } = count;
  const { accountId, mode } = shop;
  const start = startOf(count, span);
  const row = yield* first(readCount, span, start, accountId, mode, keyId, operation, status);
  const counts = withRequests(row?.counts, count, span);
  yield* all(writeCount, span, start, accountId, mode, keyId, operation, status, counts);
}

function rowOf({ shop, keyId, operation, status }: RequestCount): string {
  return `${shop.accountId} ${shop.mode} ${keyId} ${operation} ${status}`;
}

/** Processes that save at the same time must lock rows in the same order, or PostgreSQL finds a deadlock after a second. */
function inLockOrder(counts: readonly RequestCount[]): RequestCount[] {
  return counts
    .map((count) => ({ count, row: rowOf(count) }))
    .toSorted((one, other) =>
      one.row === other.row ? one.count.minute - other.count.minute : one.row < other.row ? -1 : 1,
    )
    .map(({ count }) => count);
}

/** The same requests by shop: the sums over its keys. */
function ofAllKeys(counts: readonly RequestCount[]): RequestCount[] {
  const sums = new Map<string, RequestCount>();
  for (const { shop, minute, operation, status, requests } of counts) {
    const name = `${shop.accountId} ${shop.mode} ${minute} ${operation} ${status}`;
    const sum = requests + (sums.get(name)?.requests ?? 0);
    sums.set(name, { shop, keyId: "", minute, operation, status, requests: sum });
  }
  return [...sums.values()];
}
