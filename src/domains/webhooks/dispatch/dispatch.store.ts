import { type Mode, shopNumber } from "../../../contract/caller.ts";
import { together } from "../../../storage/combined-steps.ts";
import type { ChangesOfStore, Storage } from "../../../storage/storage.ts";
import { all, type Change, first } from "../../../storage/transaction.ts";
import type { Clock } from "../../../timing/clock.ts";
import { lockShopOf } from "../../shops/shops.store.ts";
import { afterDelivery, type Health, hasFailedTooLong } from "../endpoints/endpoint-health.ts";
import { endpointById, makeDue, setAttempt } from "../endpoints/endpoints.statements.ts";
import { type EndpointStore, healthOf, storedHealth, toEndpoint } from "../endpoints/endpoints.store.ts";
import { isDue, LONGEST_DELAY } from "../sending/backoff.ts";
import type { Delivery, SentDelivery } from "./delivery.ts";
import type { AttemptRow, CourierRow, EndpointName, RedeliveryRow } from "./dispatch.statements.ts";
import * as sql from "./dispatch.statements.ts";
import { type CourierEndpoint, type Cursor, OWN_CURSOR } from "./plan.ts";

/** Deliveries that are stored for an endpoint. */
const KEPT_DELIVERIES = 1_000n;

/** What there is to do for an endpoint. */
export interface Work {
  readonly endpoint: CourierEndpoint;
  /** The attempts that are due, the first first. */
  readonly due: readonly AttemptRow[];
  readonly redeliveries: readonly RedeliveryRow[];
}

/** Cursors with their positions. */
type Positions = readonly (readonly [Cursor, bigint])[];

/** What is known of an endpoint after a save. */
export interface Saved extends Pick<CourierEndpoint, "position" | "version" | "health"> {
  readonly mustDisable: boolean;
}

/** Reads and writes for the process that delivers. All methods reject with `StorageUnavailable`. */
export class DispatchStore {
  readonly #storage: Storage & Pick<ChangesOfStore, "settled">;
  readonly #endpoints: EndpointStore;
  readonly #clock: Clock;

  constructor(storage: Storage & Pick<ChangesOfStore, "settled">, endpoints: EndpointStore, clock: Clock) {
    this.#storage = storage;
    this.#endpoints = endpoints;
    this.#clock = clock;
  }

  /** The endpoints that have something to deliver now. */
  async withWork(): Promise<readonly EndpointName[]> {
    return this.#storage.read(all(sql.withWork, this.#clock.now(), LONGEST_DELAY));
  }

  /**
   * What there is to do for an endpoint, with up to `most` attempts, once the events that it names are on disk. Undefined
   * if the endpoint was deleted.
   */
  async work({ account_id, mode, id }: EndpointName, most: number): Promise<Work | undefined> {
    const now = this.#clock.now();
    const row = await this.#storage.read(first(sql.courierById, account_id, mode, id));
    if (!row) return undefined;
    const endpoint = toCourierEndpoint(row);
    const { shop, state, health } = endpoint;
    const sendsAll = state === "enabled" && !isWaiting(health, now) ? 1 : 0;
    const [due, redeliveries] = await Promise.all([
      this.#storage.read(all(sql.dueAttempts, now, LONGEST_DELAY, shop, id, sendsAll, most)),
      this.#storage.read(all(sql.redeliveriesOf, shop, id)),
    ]);
    await this.#storage.settled();
    return { endpoint, due, redeliveries };
  }

  /**
   * Saves deliveries that have ended, in this order, and positions of cursors. Undefined, with nothing saved, if the
   * endpoint has another version or was deleted, or the sandbox was reset.
   */
  save(endpoint: CourierEndpoint, ended: readonly Delivery[], moved: Positions): Promise<Saved | undefined> {
    return this.#storage.write(() => saving(endpoint, ended, moved), endpoint.shop);
  }

  /**
   * Disables an endpoint, unless it has been changed in the meantime. Its position is then before the first event that it
   * missed.
   */
  disable({ accountId, mode, id }: CourierEndpoint, version: bigint): Promise<boolean> {
    return this.#disable(accountId, mode, id, () => first(sql.disable, accountId, mode, id, version));
  }

  /** Disables the endpoints that have expired, enabled or paused. */
  async disableExpired(): Promise<void> {
    const now = this.#clock.now();
    for (const { account_id, mode, id } of await this.#storage.read(all(sql.expiredEndpoints, now))) {
      await this.#disable(account_id, mode, id, () => first(sql.disableExpired, account_id, mode, id, now));
    }
  }

  /** Disables an endpoint, whose row `update` changes. False if it has not changed it. */
  #disable(accountId: string, mode: Mode, id: string, update: () => Change<object | undefined>): Promise<boolean> {
    const endpoints = this.#endpoints;
    const now = this.#clock.now();
    return this.#storage.write(function* () {
      const locked = yield* lockShopOf(accountId, mode, now);
      const { shop } = locked;
      const before = yield* first(endpointById, accountId, mode, id);
      if (!before || !(yield* update())) return false;
      const { event_id } = (yield* first(sql.oldestUnaccepted, shop, id)) as { event_id: bigint | null };
      if (event_id !== null) yield* all(sql.moveBackTo, event_id - 1n, accountId, mode, id);
      yield* all(sql.deleteAttemptsOfEvents, shop, id); // redeliveries wait until the endpoint is enabled
      yield* endpoints.afterDisabling(locked, toEndpoint(before));
      return true;
    });
  }
}

/** True while a failing endpoint gets no message. */
export function isWaiting({ waitsUntil }: Health, now: number): boolean {
  return waitsUntil !== null && !isDue(waitsUntil, now);
}

function* saving(
  { accountId, mode, id, shop, position: before, version }: CourierEndpoint,
  ended: readonly Delivery[],
  moved: Positions,
): Change<Saved | undefined> {
  const position = moved.find(([cursor]) => cursor.id === OWN_CURSOR)?.[1] ?? before;
  const key = [accountId, mode, id] as const;
  const sent = ended.filter((one): one is SentDelivery => one.sent !== undefined);
  const row = yield* first(sql.saveProgress, shop, position, sent.length, ...key, version);
  if (!row) return undefined;
  let health = healthOf(row);
  const wasWaiting = health.waitsUntil !== null;
  const steps: Change<unknown>[] = [];
  let deliveryId = row.last_delivery_id - BigInt(sent.length);
  for (const delivery of sent) {
    deliveryId++;
    steps.push(all(sql.insertDelivery, shop, id, deliveryId, ...valuesOf(delivery)));
    if (delivery.kind === "test") continue;
    const {
      attempt,
      isProbe,
      sent: {
        at,
        result: { failure, status, retryAfter },
      },
    } = delivery;
    const failed = failure && { failure, ...(status !== undefined && { status }), at, deliveryId: String(deliveryId) };
    health = afterDelivery(health, { attempt, isProbe, at, failure: failed, retryAfter });
  }
  if (sent.length > 0) {
    const { failingSince, waitsUntil } = health;
    steps.push(
      all(sql.saveHealth, storedHealth(health), failingSince, waitsUntil, ...key),
      all(sql.deleteDeliveriesUpTo, shop, id, row.last_delivery_id - KEPT_DELIVERIES),
    );
  }
  for (const { eventId, kind, attempt, next, cursor } of ended) {
    if (next) steps.push(all(setAttempt, shop, id, eventId, kind, next.attempt, next.dueAt));
    else if (cursor?.id !== OWN_CURSOR) steps.push(all(sql.deleteAttempt, shop, id, eventId, attempt));
  }
  for (const [{ id: redelivery, end }, reached] of moved) {
    if (redelivery === OWN_CURSOR) continue;
    if (reached < end) steps.push(all(sql.saveRedelivery, reached, shop, id, redelivery));
    else steps.push(all(sql.deleteRedelivery, shop, id, redelivery));
  }
  if (steps.length > 0) yield* together(steps);
  const lastAt = sent.at(-1)?.sent.at ?? 0;
  if (wasWaiting && health.waitsUntil === null) yield* all(makeDue, lastAt, shop, id);
  const mustDisable = hasFailedTooLong(health, lastAt) || sent.some(({ sent: { disables } }) => disables);
  return { position, version: row.version, health, mustDisable };
}

function valuesOf({ kind, eventId, type, attempt, sent: { webhookId, at, result } }: SentDelivery) {
  const { failure, status, excerpt, duration } = result;
  const outcome = failure === undefined ? "succeeded" : "failed";
  const response = [outcome, failure ?? null, status ?? null, excerpt ?? null] as const;
  const ofEvent = kind === "test" ? null : eventId;
  return [kind, webhookId, ofEvent, type, attempt, at, Math.round(duration), ...response] as const;
}

function toCourierEndpoint(row: CourierRow): CourierEndpoint {
  return {
    ...toEndpoint(row),
    accountId: row.account_id,
    mode: row.mode,
    shop: shopNumber(row.shop),
    lastEventId: row.last_event_id,
    version: row.version,
    attempts: Number(row.attempts),
  };
}
