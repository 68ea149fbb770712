import { present } from "../../collections/present.ts";
import type { ShopNumber } from "../../contract/caller.ts";
import { type Failure, failure, invalidBody, versionMismatch } from "../../contract/errors.ts";
import { millisecondsOf, timestampOf } from "../../contract/schemas.ts";
import type { Page } from "../../storage/pages.ts";
import { all, first, type Query } from "../../storage/transaction.ts";
import { type Clock, DAY_MS } from "../../timing/clock.ts";
import { type Author, keyIdOf, publish } from "../events/publish.ts";
import { unlessEmpty } from "../metadata/metadata.schemas.ts";
import { insertMetadata, replaceMetadata } from "../metadata/metadata.store.ts";
import { patched } from "../metadata/patched.ts";
import { changeStatus } from "../pets/pet-change.ts";
import type { Pet } from "../pets/pets.schemas.ts";
import { addToFigure, type LockedShop } from "../shops/locked-shop.ts";
import type { Price } from "../shops/price.schemas.ts";
import { completePrice } from "../shops/prices.ts";
import { lockShop } from "../shops/shops.store.ts";
import {
  type OrderChange,
  openOrders,
  orderChanges,
  orderEvent,
  type PetChange,
  returned,
  sold,
} from "./order-changes.ts";
import {
  type OrderFilters,
  orderConfirmed,
  orderedPetNotFound,
  orderNotFound,
  orderNotOpen,
  orderPlaced,
  orderUpdated,
  petNotAvailable,
} from "./orders.operations.ts";
import {
  type ConfirmedStoreOrder,
  MAX_RESERVATION_DAYS,
  type NewStoreOrder,
  type StoreOrder,
  type StoreOrderConfirmation,
  type StoreOrderPatch,
} from "./orders.schemas.ts";
import * as sql from "./orders.statements.ts";
import { orderFields, readOrders, searchOrders, toOrder } from "./orders.statements.ts";
import { statusNow } from "./reservations.store.ts";

/** How an animal is sold: null for no price. */
interface Sale {
  readonly price?: Price | null | undefined;
  readonly seller?: string | undefined;
}

/** Whether an order is what a client expects to change. */
type Expectation = (order: StoreOrder) => boolean;

/**
 * Part of a transaction: the order that decides the animal's status. It is open and reserves the animal, or it has sold
 * the animal; undefined if there is none. It is the animal's last one, because another can be placed only when it is
 * over. Expires it if its reservation has ended. Animals are checked by it (`PetChecks.orderOf`).
 */
export function* decidingOrder(locked: LockedShop, petId: bigint) {
  const last = yield* first(sql.lastByPet, locked.shop, petId);
  if (!last) return undefined;
  const status = yield* statusNow(locked, last);
  return status === "placed" || status === "confirmed" ? { id: last.id, isOpen: status === "placed" } : undefined;
}

/**
 * The orders in the store. An order and its animal change in one transaction, so that an animal has at
 * most one open order, and is pending as long as it has one.
 */
export class OrderStore {
  readonly #clock: Clock;
  readonly #reservation: number;

  /** `reservation` is how long an order holds its animal, in milliseconds. */
  constructor(clock: Clock, reservation: number) {
    this.#clock = clock;
    this.#reservation = reservation;
  }

  *get(shop: ShopNumber, id: bigint): Query<StoreOrder | Failure<typeof orderNotFound>> {
    const row = yield* first(sql.byId, shop, id);
    return row ? toOrder(row) : notFound(id);
  }

  /** Up to `limit` orders of a list after `after`; if it is absent, from the start. */
  page(
    shop: ShopNumber,
    after: string | undefined,
    limit: number,
    filters: OrderFilters,
  ): Query<Page<StoreOrder, string>> {
    const { search } = filters;
    return search ? searchOrders(shop, after, limit, { ...filters, search }) : readOrders(shop, after, limit, filters);
  }

  /** Part of a transaction: places an order, which reserves its animal or, if it is confirmed at once, sells it. */
  *place(author: Author, { price: asked, expiresAt, confirm, metadata: pairs, ...fields }: NewStoreOrder) {
    const { shop } = author;
    const { petId } = fields;
    const locked = yield* lockShop(shop, this.#clock.now());
    const { now } = locked;
    const end = expiresAt === undefined ? now + this.#reservation : endOf(expiresAt, now);
    if (typeof end === "object") return end;
    if (expiresAt !== undefined && confirm) return wrongEnd("must not be sent with confirm: nothing is reserved");
    const sent = asked && (yield* completePrice(shop, asked));
    if (sent && "message" in sent) return invalidBody(sent);
    const change = yield* this.#take(locked, petId, confirm ? ["sold", "order_sold"] : ["pending", "order_placed"]);
    if (change === "not found") return failure(orderedPetNotFound, `No animal has the id ${petId}.`);
    if ("refused" in change) {
      const state = change.from === undefined ? "has no status" : `is ${change.from}`;
      return failure(petNotAvailable, `The animal ${petId} ${state}; only an available one can be ordered.`);
    }
    const { id } = (yield* first(sql.nextId, shop)) as { id: bigint };
    const metadata = unlessEmpty(pairs);
    const placed = present<StoreOrder>({
      ...fields,
      id,
      price: sent === undefined ? change.pet.price : sent,
      status: "placed",
      placedAt: timestampOf(now),
      expiresAt: timestampOf(end),
      metadata,
    });
    const events = [orderEvent(orderPlaced, placed)];
    const order = confirm ? confirmed(locked, author, placed, change.pet) : placed;
    if (confirm) events.push(orderEvent(orderConfirmed, order as ConfirmedStoreOrder, placed));
    else addToFigure(locked, openOrders);
    yield* all(sql.insert, shop, id, end, ...orderFields.values(order));
    yield* insertMetadata(shop, "order", [{ id, metadata }]);
    yield* publish(locked, author, [...events, change.event]);
    return order;
  }

  /** Changes the fields in the patch of an order that is as expected. */
  *update(author: Author, id: bigint, patch: StoreOrderPatch, isExpected: Expectation) {
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    const row = yield* first(sql.byId, shop, id);
    if (!row) return notFound(id);
    const before = toOrder(row);
    if (!isExpected(before)) return versionMismatch("order", id);
    const price = patch.price ? yield* completePrice(shop, patch.price, before.price) : patch.price;
    if (price && "message" in price) return invalidBody(price);
    const end = patch.expiresAt === undefined ? Number(row.expires_at) : endOf(patch.expiresAt, locked.now);
    if (typeof end === "object") return end;
    const after = patched<StoreOrder>(before, {
      ...before,
      ...patch,
      price: price === undefined ? before.price : price,
      expiresAt: timestampOf(end),
    });
    if ("message" in after) return invalidBody(after);
    const isMoved = after.expiresAt !== before.expiresAt;
    const status = isMoved ? yield* statusNow(locked, row) : "placed";
    if (status !== "placed") {
      return failure(orderNotOpen, `The order ${id} is ${status}, so its reservation has no end that could change.`);
    }
    if (after === before) return before;
    yield* orderFields.update({ shop, id }, before, after);
    if (isMoved) yield* all(sql.setDue, shop, id, end);
    yield* replaceMetadata(shop, "order", id, before.metadata, after.metadata);
    yield* publish(locked, author, [orderEvent(orderUpdated, after, before)]);
    return after;
  }

  /** Part of a transaction: confirms an open order that is as expected, which sells its animal. */
  *confirm(author: Author, id: bigint, isExpected: Expectation, { price: sent, seller }: StoreOrderConfirmation) {
    const locked = yield* lockShop(author.shop, this.#clock.now());
    const price = sent && (yield* completePrice(author.shop, sent));
    if (price && "message" in price) return invalidBody(price);
    return yield* this.#change(locked, author, id, orderChanges.confirm, isExpected, { price, seller });
  }

  /** Part of a transaction: cancels or returns an order that is as expected, and changes its animal with it. */
  *change<F extends Failure>(author: Author, id: bigint, change: OrderChange<F>, isExpected: Expectation) {
    return yield* this.#change(yield* lockShop(author.shop, this.#clock.now()), author, id, change, isExpected);
  }

  *#change<F extends Failure>(
    locked: LockedShop,
    author: Author,
    id: bigint,
    { from, to, event, pet, refuse }: OrderChange<F>,
    isExpected: Expectation,
    { price, seller }: Sale = {},
  ) {
    const { shop } = author;
    const order = yield* first(sql.byId, shop, id);
    if (!order) return notFound(id);
    const before = toOrder(order);
    if (!isExpected(before)) return versionMismatch("order", id);
    const status = yield* statusNow(locked, order);
    if (status !== from) return refuse(id, status);
    const change = yield* changeStatus(locked, order.pet_id, pet[0], pet[1]);
    if (change === "not found" || "refused" in change) {
      // Only the open order can change its animal, but a sold one may be deleted.
      if (from === "placed") throw new Error(`The order ${id} is open, but its animal ${order.pet_id} is not pending.`);
      return refuse(id, from);
    }
    if (from === "placed") addToFigure(locked, openOrders, -1);
    else addToFigure(locked, returned);
    const changed =
      to === "confirmed"
        ? confirmed(locked, author, before, change.pet, { price, seller })
        : { ...before, status: to, [`${to}At` as const]: timestampOf(locked.now) };
    yield* orderFields.update({ shop, id }, before, changed);
    yield* publish(locked, author, [orderEvent(event, changed, before), change.event]);
    return changed;
  }

  /**
   * Part of a transaction: reserves or sells an animal for a new order. If it is still reserved by an order whose
   * reservation has ended, expires that order first. This is rare, so it is looked for only after a refusal.
   */
  *#take(locked: LockedShop, petId: bigint, how: PetChange) {
    const change = yield* changeStatus(locked, petId, how[0], how[1]);
    if (change === "not found" || !("refused" in change)) return change;
    const open = yield* first(sql.openByPet, locked.shop, petId);
    if (!open || (yield* statusNow(locked, open)) === "placed") return change;
    return yield* changeStatus(locked, petId, how[0], how[1]);
  }
}

/** The order when it is confirmed, which counts it. It keeps who did it, and how its animal was called. */
function confirmed(
  locked: LockedShop,
  { actor, name }: Author,
  { price: asked, ...order }: StoreOrder,
  { name: petName, categoryId }: Pet,
  { price = asked, seller = order.seller ?? name }: Sale = {},
): StoreOrder {
  addToFigure(locked, sold);
  const keyId = keyIdOf(actor);
  return {
    ...order,
    status: "confirmed",
    ...(price && { price }),
    seller,
    confirmedAt: timestampOf(locked.now),
    confirmedBy: { ...(keyId !== undefined && { keyId }), name },
    petName,
    categoryId,
  };
}

function notFound(id: bigint) {
  return failure(orderNotFound, `No order has the id ${id}.`);
}

/** The end of a reservation that a client has sent, in Unix milliseconds. */
function endOf(expiresAt: string, now: number) {
  const end = millisecondsOf(expiresAt);
  if (end > now && end <= now + MAX_RESERVATION_DAYS * DAY_MS) return end;
  const example = timestampOf(now + DAY_MS);
  return wrongEnd(`must be in the future, at most ${MAX_RESERVATION_DAYS} days ahead, such as ${example}`);
}

function wrongEnd(message: string) {
  return invalidBody({ path: "/expiresAt", message });
}
