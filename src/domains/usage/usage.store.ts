import type { ShopName } from "../../contract/caller.ts";
import { timestampOf } from "../../contract/schemas.ts";
import { inLockOrder, together } from "../../storage/combined-steps.ts";
import { type Page, pageOf } from "../../storage/pages.ts";
import type { Storage } from "../../storage/storage.ts";
import { DELETE_BATCH_SIZE } from "../../storage/table.ts";
import { all, type Change, type Query } from "../../storage/transaction.ts";
import { DAY_MS, DAY_SECONDS, type ExpiryTime, HOUR_MS, HOUR_SECONDS } from "../../timing/clock.ts";
import { Pause } from "../../timing/waiting.ts";
import type { Granularity, UsageInterval } from "./usage.operations.ts";
import * as sql from "./usage.statements.ts";
import { hoursOf, READ_DAYS, readDays, SHOWN_DAYS, STORED_DAYS } from "./usage.statements.ts";

/** Requests in one hour of one key, or of all keys of a shop together. */
export interface RequestCount {
  readonly shop: ShopName;
  /** Empty for the sum of all keys of the shop. */
  readonly keyId: string;
  /** In hours since 1970. */
  readonly hour: number;
  /** Empty if no operation matched. */
  readonly operation: string;
  readonly status: number;
  readonly requests: number;
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

/** The requests of one account, key, address or operation whose responses had the same status. */
export interface GroupCount {
  readonly name: string;
  readonly status: number;
  readonly requests: number;
}

/** The length of intervals, in hours. */
const lengths: Readonly<Record<Granularity, number>> = { hour: 1, day: 24 };
/** The pause before the next search for old rows after one that has deleted all, in milliseconds. */
const SWEEP_PAUSE = 60_000;

/** Stores the requests of shops, by key and in total: one row a day for each operation and status. */
export class UsageStore {
  readonly #storage: Storage;
  readonly #sweepPause = new Pause(SWEEP_PAUSE);

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /**
   * Adds counts in one transaction. `beforeCommit` is called as its last step, and again if the transaction is repeated.
   * It is no `afterCommit` action: reads between the commit and that action would count twice.
   */
  async add(counts: readonly RequestCount[], beforeCommit: () => void): Promise<void> {
    const sorted = inLockOrder([...counts, ...ofAllKeys(counts)], rowOf);
    await this.#storage.write(function* () {
      yield* together(sorted.map(addTo));
      beforeCommit();
    });
  }

  /** A page of intervals, newest first. `next` is the start of the last one; undefined if there are no more. */
  *page(
    { accountId, mode }: ShopName,
    granularity: Granularity,
    { before = Number.POSITIVE_INFINITY, limit, keyId = "", now, unsaved }: UsageQuery,
  ): Query<Page<UsageInterval, number>> {
    const length = lengths[granularity];
    const oldest = floorTo(now / HOUR_MS - SHOWN_DAYS * 24, length) * HOUR_SECONDS;
    const days = daysBefore(Math.min(now / 1000, before - 1) / DAY_SECONDS, READ_DAYS);
    const rows = yield* all(readDays, accountId, mode, keyId, ...days);
    const stored = Map.groupBy(rows, ({ day }) => Number(day));
    const waiting = Map.groupBy(unsaved(), dayOf);
    const countsOn = (day: number) => [
      ...(stored.get(day) ?? []).flatMap((row) => {
        const { operation, status } = row;
        return hoursOf(row).map(([hour, requests]) => ({ hour, operation, status: Number(status), requests }));
      }),
      ...(waiting.get(day) ?? []),
    ];
    const intervals = days
      .values()
      .flatMap((day) => intervalsOf(countsOn(day), length))
      .filter(({ start }) => start >= oldest && start < before)
      .take(limit + 1); // older days are not computed
    return pageOf(
      [...intervals],
      limit,
      ({ start, ...rest }) => ({ start: timestampOf(start * 1000), ...rest }),
      (last) => last.start,
    );
  }

  /** The requests since a day, in days since 1970, for an operator. */
  async sums(grouping: keyof typeof sql.sums, since: number): Promise<GroupCount[]> {
    const rows = await this.#storage.read(all(sql.sums[grouping], since));
    return rows.map(({ name, status, requests }) => ({ name, status: Number(status), requests: Number(requests) }));
  }

  /** The keys that have called an operation in the last 30 days, the latest callers first. */
  async callersOf(operation: string, now: number) {
    const rows = await this.#storage.read(all(sql.callersOf, Math.floor(now / DAY_MS) - SHOWN_DAYS, operation));
    return rows.map(({ account_id, key_id, calls, hour }) => ({
      accountId: account_id,
      keyId: key_id,
      calls: Number(calls),
      lastHour: Number(hour) * HOUR_MS, // when it began, in Unix milliseconds
    }));
  }

  /** Deletes the usage of an account's shops. */
  async forget(accountId: string, now: number): Promise<void> {
    const days = daysBefore(now / DAY_MS, STORED_DAYS);
    const [newest = 0, oldest = 0] = [days.at(0), days.at(-1)];
    await this.#deleteAll(() => all(sql.deleteOfDays, accountId, ...days, DELETE_BATCH_SIZE));
    await this.#deleteAll(() => all(sql.deleteOfOtherDays, accountId, oldest, newest, DELETE_BATCH_SIZE));
  }

  /** Deletes some of the old rows, if the pause is over. */
  async sweep(now: ExpiryTime): Promise<void> {
    if (!this.#sweepPause.isOver(now)) return;
    const end = Math.floor(now / DAY_MS) - STORED_DAYS + 1;
    const swept = await this.#storage.write(() => all(sql.sweep, end, DELETE_BATCH_SIZE));
    if (swept.length < DELETE_BATCH_SIZE) this.#sweepPause.start(now);
  }

  async #deleteAll(part: () => ReturnType<typeof all>): Promise<void> {
    while ((await this.#storage.write(part)).length === DELETE_BATCH_SIZE) continue;
  }
}

/** Part of a transaction: adds requests to their day. */
function addTo(count: RequestCount): Change<unknown> {
  const { shop, keyId, hour, operation, status, requests } = count;
  const statement = sql.addRequests[hour % 24] as (typeof sql.addRequests)[number];
  return all(statement, shop.accountId, shop.mode, keyId, dayOf(count), operation, status, requests);
}

/** The largest multiple of `unit` up to the value. */
function floorTo(value: number, unit: number): number {
  return Math.floor(value / unit) * unit;
}

/** This day and those before it, in days since 1970, newest first. */
function daysBefore(day: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => Math.floor(day) - index);
}

function dayOf({ hour }: RequestCount): number {
  return Math.floor(hour / 24);
}

/** Names the row that a count is added to. */
function rowOf(count: RequestCount): string {
  const { shop, keyId, operation, status } = count;
  return `${dayOf(count)} ${shop.accountId} ${shop.mode} ${keyId} ${operation} ${status}`;
}

/** The sums over all keys of each shop. */
function ofAllKeys(counts: readonly RequestCount[]): RequestCount[] {
  const ofShops = counts.map((count) => ({ ...count, keyId: "" }));
  return [...Map.groupBy(ofShops, (count) => `${rowOf(count)} ${count.hour}`).values()].map(summed);
}

/** Counts that differ in their requests alone, as one. */
function summed<T extends { readonly requests: number }>(counts: readonly T[]): T {
  return { ...(counts[0] as T), requests: counts.reduce((sum, { requests }) => sum + requests, 0) };
}

/** An interval with at least one request. Its start is in Unix seconds. */
interface Interval extends Omit<UsageInterval, "start"> {
  readonly start: number;
}

type HourCount = Pick<RequestCount, "hour" | "operation" | "status" | "requests">;

/** The intervals of this many hours, newest first. */
function intervalsOf(counts: readonly HourCount[], length: number): Interval[] {
  const counted = counts.filter(({ requests }) => requests > 0);
  return [...Map.groupBy(counted, ({ hour }) => floorTo(hour, length))]
    .toSorted(([one], [other]) => other - one)
    .map(([hour, own]) => ({
      start: hour * HOUR_SECONDS,
      requests: summed(own).requests,
      operations: [...Map.groupBy(own, ({ operation, status }) => `${operation} ${status}`)]
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([, same]) => toUsageCount(summed(same))),
    }));
}

function toUsageCount({ operation, status, requests }: HourCount): UsageInterval["operations"][number] {
  return operation === "" ? { status, requests } : { operation, status, requests };
}
