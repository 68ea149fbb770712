import { entriesOf, ShopMap } from "../../collections/maps.ts";
import { type Caller, modes, type ShopName } from "../../contract/caller.ts";
import type { Operation } from "../../contract/operation.ts";
import { MINUTE_MS } from "../../timing/clock.ts";
import type { RequestCount } from "./usage-intervals.ts";

/** The maximum number of counts in memory, about 0.1 KB each. Requests that need another one are not counted. */
const MAX_COUNTS = 200_000;

/** Operation and status are encoded as one small number: looking up a large number is several times slower. */
const STATUSES = 1_000;

/** Requests of a key in a minute, by encoded operation and status. */
type Counts = Map<number, number>;
type CountsByKey = Map<string, Counts>;

function noCounts(): ShopMap<CountsByKey> {
  return new ShopMap(() => new Map());
}

function sizeOf(keys: CountsByKey = new Map()): number {
  return [...keys.values()].reduce((sum, counts) => sum + counts.size, 0);
}

/** Counts requests in memory, by minute, key, operation and status, until they are taken to be stored. */
export class RequestCounter {
  /** The names of the operations that were called; empty for no operation. The index encodes the operation. */
  readonly #names: string[] = [];
  readonly #numbers = new Map<Operation | undefined, number>();
  /** Counts by minute, shop and key. The next two fields are the minute that was counted in last, and its counts. */
  readonly #minutes = new Map<number, ShopMap<CountsByKey>>();
  #minute = Number.NaN;
  #shops = noCounts();
  #size = 0;
  #uncounted = 0;

  /** Counts one request at a time in Unix milliseconds. */
  add(caller: Caller, operation: Operation | undefined, status: number, now: number): void {
    const number = this.#numbers.get(operation) ?? this.#numberFor(operation);
    this.#add(Math.floor(now / MINUTE_MS), caller, caller.keyId, number * STATUSES + status, 1);
  }

  /**
   * The number of counts in memory, and of requests that are or may be missing from the usage. They are missing if
   * memory was full, and may be missing if they were dropped.
   */
  get size(): { counts: number; uncounted: number } {
    return { counts: this.#size, uncounted: this.#uncounted };
  }

  get isEmpty(): boolean {
    return this.#minutes.size === 0;
  }

  /** The counts of a shop. */
  of(shop: ShopName): RequestCount[] {
    return [...this.#minutes].flatMap(([minute, shops]) =>
      [...(shops.get(shop) ?? [])].flatMap(([keyId, counts]) => this.#requestCounts(minute, shop, keyId, counts)),
    );
  }

  /** Removes and returns counts: those of each key at once, until there are `limit` of them or more. */
  take(limit: number): RequestCount[] {
    const taken: RequestCount[] = [];
    for (const [minute, shops] of this.#minutes) {
      for (const [shop, keys] of entriesOf(shops)) {
        for (const [keyId, counts] of keys) {
          if (taken.length >= limit) break;
          for (const count of this.#requestCounts(minute, shop, keyId, counts)) taken.push(count);
          keys.delete(keyId);
        }
        if (keys.size > 0) break;
        shops.delete(shop);
      }
      if (shops.size === 0) this.#removeMinute(minute);
    }
    this.#size -= taken.length;
    return taken;
  }

  /** Adds counts again that `take` returned and that could not be stored. */
  giveBack(taken: readonly RequestCount[]): void {
    for (const { minute, shop, keyId, operation, status, requests } of taken) {
      this.#add(minute, shop, keyId, this.#names.indexOf(operation) * STATUSES + status, requests);
    }
  }

  /** Notes that counts that `take` returned may not be stored. */
  noteMissing(taken: readonly RequestCount[]): void {
    for (const { requests } of taken) this.#uncounted += requests;
  }

  /** Drops the counts of an account's keys. */
  forget(accountId: string): void {
    for (const [minute, shops] of this.#minutes) {
      for (const mode of modes) this.#size -= sizeOf(shops.get({ accountId, mode }));
      shops.deleteAccount(accountId);
      if (shops.size === 0) this.#removeMinute(minute);
    }
  }

  #numberFor(operation: Operation | undefined): number {
    const number = this.#names.push(operation?.name ?? "") - 1;
    this.#numbers.set(operation, number);
    return number;
  }

  #add(minute: number, shop: ShopName, keyId: string, operationAndStatus: number, requests: number): void {
    if (minute !== this.#minute) this.#selectMinute(minute);
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

  #selectMinute(minute: number): void {
    let shops = this.#minutes.get(minute);
    if (!shops) {
      shops = noCounts();
      this.#minutes.set(minute, shops);
    }
    this.#minute = minute;
    this.#shops = shops;
  }

  #removeMinute(minute: number): void {
    this.#minutes.delete(minute);
    if (minute === this.#minute) this.#minute = Number.NaN;
  }

  #requestCounts(minute: number, { accountId, mode }: ShopName, keyId: string, counts: Counts): RequestCount[] {
    return [...counts].map(([operationAndStatus, requests]) => ({
      shop: { accountId, mode },
      keyId,
      minute,
      operation: this.#names[Math.floor(operationAndStatus / STATUSES)] as string,
      status: operationAndStatus % STATUSES,
      requests,
    }));
  }
}
