import { entriesOf, ShopMap } from "../../collections/maps.ts";
import type { Caller, ShopName } from "../../contract/caller.ts";
import type { Operation } from "../../contract/operation.ts";
import { HOUR_MS } from "../../timing/clock.ts";

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

/** The maximum number of counts in memory, about 0.1 KB each. Requests that need another one are not counted. */
const MAX_COUNTS = 200_000;

/** Operation and status are encoded as one small number: looking up a large number is several times slower. */
const STATUSES = 1_000;

/** Requests of a key in an hour, by encoded operation and status. */
type Counts = Map<number, number>;
type CountsByKey = Map<string, Counts>;

function noCounts(): ShopMap<CountsByKey> {
  return new ShopMap(() => new Map());
}

/** Counts requests in memory, by hour, key, operation and status, until they are taken to be stored. */
export class RequestCounter {
  /** The names of the operations that were called; empty for no operation. The index encodes the operation. */
  readonly #names: string[] = [];
  readonly #numbers = new Map<Operation | undefined, number>();
  /** Counts by hour, shop and key. The next two fields are the hour that was counted in last, and its counts. */
  readonly #hours = new Map<number, ShopMap<CountsByKey>>();
  #hour = Number.NaN;
  #shops = noCounts();
  #size = 0;
  #uncounted = 0;

  /** Counts one request at a time in Unix milliseconds. */
  add(caller: Caller, operation: Operation | undefined, status: number, now: number): void {
    const number = this.#numbers.get(operation) ?? this.#numberFor(operation);
    this.#add(Math.floor(now / HOUR_MS), caller, caller.keyId, number * STATUSES + status, 1);
  }

  /**
   * The number of counts in memory, and of requests that are or may be missing from the usage. They are missing if
   * memory was full, and may be missing if they were dropped.
   */
  get size(): { counts: number; uncounted: number } {
    return { counts: this.#size, uncounted: this.#uncounted };
  }

  get isEmpty(): boolean {
    return this.#hours.size === 0;
  }

  /** The counts of a shop. */
  of(shop: ShopName): RequestCount[] {
    return [...this.#hours].flatMap(([hour, shops]) =>
      [...(shops.get(shop) ?? [])].flatMap(([keyId, counts]) => this.#requestCounts(hour, shop, keyId, counts)),
    );
  }

  /** Removes and returns counts: those of each key at once, until there are `limit` of them or more. */
  take(limit: number): RequestCount[] {
    const taken: RequestCount[] = [];
    for (const [hour, shops] of this.#hours) {
      for (const [shop, keys] of entriesOf(shops)) {
        for (const [keyId, counts] of keys) {
          if (taken.length >= limit) break;
          for (const count of this.#requestCounts(hour, shop, keyId, counts)) taken.push(count);
          keys.delete(keyId);
        }
        if (keys.size > 0) break;
        shops.delete(shop);
      }
      if (shops.size === 0) this.#removeHour(hour);
    }
    this.#size -= taken.length;
    return taken;
  }

  /** Adds counts again that `take` returned and that could not be stored. */
  giveBack(taken: readonly RequestCount[]): void {
    for (const { hour, shop, keyId, operation, status, requests } of taken) {
      this.#add(hour, shop, keyId, this.#names.indexOf(operation) * STATUSES + status, requests);
    }
  }

  /** Notes that counts that `take` returned may not be stored. */
  noteMissing(taken: readonly RequestCount[]): void {
    for (const { requests } of taken) this.#uncounted += requests;
  }

  #numberFor(operation: Operation | undefined): number {
    const number = this.#names.push(operation?.name ?? "") - 1;
    this.#numbers.set(operation, number);
    return number;
  }

  #add(hour: number, shop: ShopName, keyId: string, operationAndStatus: number, requests: number): void {
    if (hour !== this.#hour) this.#selectHour(hour);
    let keys = this.#shops.get(shop);
    let counts = keys?.get(keyId);
    const counted = counts?.get(operationAndStatus);
    if (counts && counted !== undefined) counts.set(operationAndStatus, counted + requests);
    else if (this.#size >= MAX_COUNTS) this.#uncounted += requests;
    else {
      if (!keys) this.#shops.set(shop, (keys = new Map()));
      if (!counts) keys.set(keyId, (counts = new Map()));
      counts.set(operationAndStatus, requests);
      this.#size++;
    }
  }

  #selectHour(hour: number): void {
    let shops = this.#hours.get(hour);
    if (!shops) {
      shops = noCounts();
      this.#hours.set(hour, shops);
    }
    this.#hour = hour;
    this.#shops = shops;
  }

  #removeHour(hour: number): void {
    this.#hours.delete(hour);
    if (hour === this.#hour) this.#hour = Number.NaN;
  }

  #requestCounts(hour: number, { accountId, mode }: ShopName, keyId: string, counts: Counts): RequestCount[] {
    return [...counts].map(([operationAndStatus, requests]) => ({
      shop: { accountId, mode },
      keyId,
      hour,
      operation: this.#names[Math.floor(operationAndStatus / STATUSES)] as string,
      status: operationAndStatus % STATUSES,
      requests,
    }));
  }
}
