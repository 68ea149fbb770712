import { type ShopNumber, shopNumber } from "../../contract/caller.ts";
import { millisecondsOf } from "../../contract/schemas.ts";
import { inLockOrder, together } from "../../storage/combined-steps.ts";
import { type Page, pageOf } from "../../storage/pages.ts";
import { plainRow } from "../../storage/row-mapping.ts";
import type { Storage } from "../../storage/storage.ts";
import { DELETE_BATCH_SIZE } from "../../storage/table.ts";
import { all, type Change, first, type Query } from "../../storage/transaction.ts";
import { DAY_MS, type ExpiryTime } from "../../timing/clock.ts";
import { Pause } from "../../timing/waiting.ts";
import { MAX_PER_SECOND, MAX_RECORDS, RETENTION_DAYS } from "./requests.operations.ts";
import * as sql from "./requests.statements.ts";
import { type RecordFilters, type RecordRow, readRecords } from "./requests.statements.ts";
import { NO_SHOP, type StoredRequest, valuesOf } from "./stored-request.ts";

/** The maximum number of records per second of requests without a valid key, for all addresses together. */
export const MAX_ANONYMOUS_PER_SECOND = 50;
/** The pause before the next search for old records after one that has deleted all, in milliseconds. */
const SWEEP_PAUSE = 60_000;

/** The records of requests, by shop. */
export class RequestStore {
  readonly #storage: Storage;
  readonly #sweepPause = new Pause(SWEEP_PAUSE);

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /**
   * Adds records in one transaction, and deletes the oldest of each shop. Existing records do not change, so a batch
   * that failed can be added again. Records of a deleted shop are dropped.
   */
  async add(records: readonly StoredRequest[]): Promise<void> {
    const byShop = inLockOrder([...Map.groupBy(records, ({ shop }) => shop)], ([shop]) => String(shop));
    await this.#storage.write(() => together(byShop.map(([shop, own]) => addTo(shop, own))));
  }

  /** A page of a shop's records, the newest first, after a position; if it is absent, from the newest one on. */
  *page(
    shop: ShopNumber,
    filters: RecordFilters,
    after: string | undefined,
    limit: number,
  ): Query<Page<StoredRequest, string>> {
    const until = filters.until === undefined ? Number.MAX_SAFE_INTEGER : millisecondsOf(filters.until);
    const [at, number] = after === undefined ? [until, 0] : readPosition(after);
    const start = at < until ? ([at, number] as const) : ([until, 0] as const);
    return pageOf(
      yield* readRecords(shop, start, limit + 1, filters),
      limit,
      (row) => toStored(shop, row),
      (last) => `${last.at}-${last.number}`,
    );
  }

  /** The record of a request; undefined if the shop has none. */
  *get(shop: ShopNumber, id: string): Query<StoredRequest | undefined> {
    const row = yield* first(sql.recordById, shop, id);
    return row && toStored(shop, row);
  }

  /** The record of a request of any shop, for an operator. */
  async find(id: string): Promise<StoredRequest | undefined> {
    const found = await this.#storage.read(first(sql.findById, id));
    return found && (await this.#storage.read(this.get(shopNumber(found.shop), id)));
  }

  /** The number of records since a time in Unix milliseconds, by address and status, for an operator. */
  async addresses(since: number): Promise<{ name: string; status: number; requests: number }[]> {
    const sums = new Map<string, { name: string; status: number; requests: number }>();
    // One shop after the other: the records of all shops may not fit into memory.
    for (const found of await this.#storage.read(all(sql.shopsSince, since))) {
      const shop = shopNumber(found.shop);
      for (const row of await this.#storage.read(all(sql.recordsSince, shop, since))) {
        const { facts, status } = toStored(shop, row);
        const { address: name = "" } = facts;
        const key = `${status} ${name}`;
        sums.set(key, { name, status, requests: (sums.get(key)?.requests ?? 0) + 1 });
      }
    }
    return [...sums.values()];
  }

  /** Deletes some of the old records, if the pause is over. */
  async sweep(now: ExpiryTime): Promise<void> {
    if (!this.#sweepPause.isOver(now)) return;
    const end = now - RETENTION_DAYS * DAY_MS;
    const found = await this.#storage.read(all(sql.findOld, end, DELETE_BATCH_SIZE));
    for (const shop of new Set(found.map((row) => shopNumber(row.shop)))) {
      await this.#storage.write(() => all(sql.deleteOld, shop, end, DELETE_BATCH_SIZE));
    }
    if (found.length < DELETE_BATCH_SIZE) this.#sweepPause.start(now);
  }
}

/** Part of a transaction: adds records to one shop. */
function* addTo(shop: ShopNumber, records: readonly StoredRequest[]): Change<void> {
  const taken = yield* first(sql.takeNumbers, shop, records.length);
  if (!taken) return;
  const last = Number(taken.last);
  const most = shop === NO_SHOP ? MAX_ANONYMOUS_PER_SECOND : MAX_PER_SECOND;
  yield* together(
    records.map((record, index) => {
      const second = Math.floor(record.at / 1000) * 1000;
      return all(sql.insertRecord, ...valuesOf(record), last - records.length + 1 + index, second, most);
    }),
  );
  yield* all(sql.deleteUpTo, shop, last - MAX_RECORDS);
}

function readPosition(position: string): [number, number] {
  const [at, number] = position.split("-");
  return [Number(at), Number(number)];
}

function toStored(shop: ShopNumber, row: RecordRow): StoredRequest {
  const { number: _, facts, ...record } = plainRow(row);
  return { ...record, shop, facts: JSON.parse(facts) as StoredRequest["facts"] };
}
