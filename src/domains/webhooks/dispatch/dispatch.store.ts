import type { Mode } from "../../../contract/caller.ts";
import { together } from "../../../storage/combined-steps.ts";
import type { Storage } from "../../../storage/storage.ts";
import { all, first, type Transaction } from "../../../storage/transaction.ts";
import type { Clock } from "../../../timing/clock.ts";
import { lockShopOf } from "../../shops/shops.store.ts";
import type { Health } from "../endpoints/endpoint-health.ts";
import { endpointById } from "../endpoints/endpoints.statements.ts";
import { type EndpointStore, type StoredEndpoint, toEndpoint } from "../endpoints/endpoints.store.ts";
import { LONGEST_DELAY } from "../sending/backoff.ts";
import type { DeliveryKind } from "../webhooks.schemas.ts";
import {
  type CourierRow,
  courierById,
  deleteDeliveriesUpTo,
  deleteRedelivery,
  disable,
  disableExpired,
  type EndpointName,
  expiredEndpoints,
  insertDelivery,
  moveBackTo,
  oldestUnaccepted,
  type ParkedRow,
  park,
  parkedOf,
  type RedeliveryRow,
  redeliveriesOf,
  savePosition,
  saveRedelivery,
  takeOver,
  unpark,
  unparkEvents,
  withWork,
} from "./dispatch.statements.ts";

/** Deliveries that are stored for an endpoint. */
const KEPT_DELIVERIES = 1_000n;

/** An endpoint, as seen by the process that delivers to it. */
export interface CourierEndpoint extends StoredEndpoint {
  readonly accountId: string;
  readonly mode: "live" | "test";
  readonly shop: number;
  readonly lastEventId: bigint;
  readonly lastDeliveryId: bigint;
  /** Increases when a process takes over the deliveries. A process with an older one can save nothing. */
  readonly epoch: bigint;
  /** The saved time of the next retry or probe; undefined if nothing waits. */
  readonly dueAt: number | undefined;
  /** True if `position` belongs to the events from before a reset of the sandbox. */
  readonly isOfOldShop: boolean;
}

/** An event that waits for a retry. The later events of its sequence wait with it. */
export interface Parked {
  readonly eventId: bigint;
  /** Deliveries so far. */
  readonly attempts: number;
  /** Unix milliseconds of the shop's clock. */
  readonly dueAt: number;
}

/** A delivery, as it is stored. */
export interface StoredDelivery {
  readonly id: bigint;
  readonly kind: DeliveryKind;
  readonly webhookId: string;
  readonly eventId: bigint | null;
  readonly type: string;
  readonly attempt: number;
  readonly at: number;
  readonly duration: number;
  readonly failure: string | undefined;
  readonly status: number | undefined;
  readonly excerpt: string | undefined;
}

/** What has changed at an endpoint since the last save. */
export interface UnsavedProgress {
  readonly position: bigint;
  readonly lastDeliveryId: bigint;
  /** True if no new event may be sent: the endpoint waits after failures, or no more sequences can be parked. */
  readonly isBlocked: boolean;
  readonly dueAt: number | undefined;
  readonly health: Health;
  readonly deliveries: readonly StoredDelivery[];
  readonly parked: readonly (readonly [sequence: string, parked: Parked | undefined])[];
  /** Redeliveries with their next event; undefined for one that is finished. */
  readonly redeliveries: readonly (readonly [id: bigint, nextEvent: bigint | undefined])[];
}

/** Reads and writes for the process that delivers. All methods reject with `StorageUnavailable`. */
export class DispatchStore {
  readonly #storage: Storage;
  readonly #endpoints: EndpointStore;
  readonly #clock: Clock;

  constructor(storage: Storage, endpoints: EndpointStore, clock: Clock) {
    this.#storage = storage;
    this.#endpoints = endpoints;
    this.#clock = clock;
  }

  /** The endpoints that have something to deliver now. */
  async withWork(): Promise<readonly EndpointName[]> {
    return this.#storage.read(all(withWork, this.#clock.now(), LONGEST_DELAY));
  }

  /** The endpoint, once the events of its shop up to `lastEventId` are on disk; undefined if it was deleted. */
  async read({ account_id, mode, id }: EndpointName): Promise<CourierEndpoint | undefined> {
    const row = await this.#storage.read(first(courierById, account_id, mode, id));
    await this.#storage.settled();
    return row && toCourierEndpoint(row);
  }

  /** Takes over the deliveries of an endpoint. Undefined if the endpoint was deleted. */
  async takeOver(name: EndpointName): Promise<CourierEndpoint | undefined> {
    const { account_id, mode, id } = name;
    const row = await this.#storage.write(function* () {
      yield* all(takeOver, account_id, mode, id);
      return yield* first(courierById, account_id, mode, id);
    });
    return row && toCourierEndpoint(row);
  }

  async parked({ shop, id }: CourierEndpoint): Promise<Map<string, Parked>> {
    return new Map((await this.#storage.read(all(parkedOf, shop, id))).map(toParked));
  }

  async redeliveries({ shop, id }: CourierEndpoint): Promise<readonly RedeliveryRow[]> {
    const rows = await this.#storage.read(all(redeliveriesOf, shop, id));
    await this.#storage.settled(); // as in `read`
    return rows;
  }

  /**
   * Saves the progress. False, with nothing saved, if another process has taken over, the sandbox was reset, or the
   * endpoint was deleted.
   */
  save(endpoint: CourierEndpoint, progress: UnsavedProgress): Promise<boolean> {
    return this.#storage.write(() => saving(endpoint, progress));
  }

  /**
   * Disables an endpoint, unless it has been changed or taken over in the meantime. Its position is then before the first
   * event that it missed.
   */
  disable({ accountId, mode, id, epoch }: CourierEndpoint): Promise<boolean> {
    return this.#disable(accountId, mode, id, () => first(disable, accountId, mode, id, epoch));
  }

  /** Disables the endpoints that have expired, enabled or paused. */
  async disableExpired(): Promise<void> {
    const now = this.#clock.now();
    for (const { account_id, mode, id } of await this.#storage.read(all(expiredEndpoints, now))) {
      await this.#disable(account_id, mode, id, () => first(disableExpired, account_id, mode, id, now));
    }
  }

  /** Disables an endpoint, whose row `update` changes. False if it has not changed it. */
  #disable(accountId: string, mode: Mode, id: string, update: () => Transaction<object | undefined>): Promise<boolean> {
    const endpoints = this.#endpoints;
    const now = this.#clock.now();
    return this.#storage.write(function* () {
      const locked = yield* lockShopOf(accountId, mode, now);
      const { shop } = locked;
      const before = yield* first(endpointById, accountId, mode, id);
      if (!before || !(yield* update())) return false;
      const { event_id } = (yield* first(oldestUnaccepted, shop, id)) as { event_id: bigint | null };
      if (event_id !== null) yield* all(moveBackTo, event_id - 1n, accountId, mode, id);
      yield* all(unparkEvents, shop, id); // redeliveries wait until the endpoint is enabled
      yield* endpoints.afterDisabling(locked, toEndpoint(before));
      return true;
    });
  }
}

function* saving(endpoint: CourierEndpoint, progress: UnsavedProgress): Transaction<boolean> {
  const { accountId, mode, id, shop, epoch } = endpoint;
  const { position, lastDeliveryId, isBlocked, dueAt, health, deliveries, parked, redeliveries } = progress;
  const keyAndEpoch = [accountId, mode, id, epoch] as const;
  const blocked = isBlocked ? 1 : 0;
  const values = [shop, position, lastDeliveryId, blocked, dueAt ?? null, JSON.stringify(health)] as const;
  if (!(yield* first(savePosition, ...values, ...keyAndEpoch))) return false;
  const endpointOfShop = [shop, id] as const;
  yield* together(deliveries.map((delivery) => all(insertDelivery, ...endpointOfShop, ...valuesOf(delivery))));
  if (deliveries.length > 0) yield* all(deleteDeliveriesUpTo, ...endpointOfShop, lastDeliveryId - KEPT_DELIVERIES);
  const waiting = parked.filter(([, one]) => one);
  const finished = parked.filter(([, one]) => !one);
  yield* together(finished.map(([sequence]) => all(unpark, ...endpointOfShop, sequence)));
  yield* together(
    waiting.map(([sequence, one]) => {
      const { eventId, attempts: made, dueAt: due } = one as Parked;
      return all(park, ...endpointOfShop, sequence, eventId, made, due);
    }),
  );
  for (const [redeliveryId, next] of redeliveries) {
    if (next === undefined) yield* all(deleteRedelivery, ...endpointOfShop, redeliveryId);
    else yield* all(saveRedelivery, next, ...endpointOfShop, redeliveryId);
  }
  return true;
}

function valuesOf(delivery: StoredDelivery) {
  const { id, kind, webhookId, eventId, type, attempt: number, at, duration, failure, status, excerpt } = delivery;
  const outcome = failure === undefined ? "succeeded" : "failed";
  const response = [outcome, failure ?? null, status ?? null, excerpt ?? null] as const;
  return [id, kind, webhookId, eventId, type, number, at, Math.round(duration), ...response] as const;
}

function toCourierEndpoint(row: CourierRow): CourierEndpoint {
  return {
    ...toEndpoint(row),
    accountId: row.account_id,
    mode: row.mode,
    shop: Number(row.shop),
    lastEventId: row.last_event_id,
    lastDeliveryId: row.last_delivery_id,
    epoch: row.epoch,
    dueAt: row.due_at === null ? undefined : Number(row.due_at),
    isOfOldShop: row.followed_shop !== row.shop,
  };
}

function toParked({ subject: sequence, event_id, attempts, due_at }: ParkedRow): [string, Parked] {
  return [sequence, { eventId: event_id, attempts: Number(attempts), dueAt: Number(due_at) }];
}
