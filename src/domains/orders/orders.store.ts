import { millisecondsOf, timestampOf } from "../../contract/schemas.ts";
import type { Page } from "../../storage/pages.ts";
import type { Storage } from "../../storage/storage.ts";
import { all, type Change, first, type Query } from "../../storage/transaction.ts";
import { type Clock, DAY_MS } from "../../timing/clock.ts";
import { type Author, keyIdOf, publishLast } from "../events/publish.ts";
import { type TooMuchMetadata, unlessEmpty } from "../metadata/metadata.schemas.ts";
import { insertMetadata, replaceMetadata } from "../metadata/metadata.store.ts";
import { patched, present } from "../metadata/patched.ts";
import type { Pet } from "../pets/pets.schemas.ts";
import type { PetStore } from "../pets/pets.store.ts";
import type { RefusedTransition } from "../pets/transitions.ts";
import { addToFigure, type LockedShop } from "../shops/figures.ts";
import type { Price } from "../shops/price.schemas.ts";
import { completePrice, type NoCurrency } from "../shops/prices.ts";
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
import { type OrderFilters, orderConfirmed, orderPlaced, orderUpdated } from "./orders.operations.ts";
import {
  type ConfirmedStoreOrder,
  MAX_RESERVATION_DAYS,
  type NewStoreOrder,
  type StoreOrder,
  type StoreOrderConfirmation,
  type StoreOrderPatch,
  type StoreOrderStatus,
} from "./orders.schemas.ts";
import * as sql from "./orders.statements.ts";
import { type OrderRow, orderFields, readOrders, searchOrders, toOrder } from "./orders.statements.ts";
import { expire, isOver, Reservations } from "./reservations.store.ts";

/** The status of the order does not allow the change. */
interface WrongStatus {
  readonly refused: "wrong status";
  readonly status: StoreOrderStatus;
}

/** The order's animal is missing, or has a status that does not fit the order. `problem` is one sentence about it. */
interface PetMismatch {
  readonly refused: "pet mismatch";
  readonly problem: string;
}

/** What is wrong with the end of a reservation. */
interface WrongEnd {
  readonly refused: "wrong end";
  readonly message: string;
}

/** How an animal is sold: null for no price. */
interface Sale {
  readonly price?: Price | null | undefined;
  readonly seller?: string | undefined;
}

type ChangedOrder = StoreOrder | "not found" | "not expected" | WrongStatus | PetMismatch;

/**
 * Part of a transaction: the order that decides the animal's status. It is open and reserves the animal, or it has sold
 * the animal; undefined if there is none. It is the animal's last one, because another can be placed only when it is
 * over. Expires it if its reservation has ended. The store of animals takes this function as its `decidingOrder`.
 */
export function* decidingOrder(locked: LockedShop, petId: bigint, pets: PetStore) {
  const last = yield* first(sql.lastByPet, locked.shop, petId);
  if (last?.status !== "placed" && last?.status !== "confirmed") return undefined;
  const isOpen = last.status === "placed";
  if (!isOpen || !isOver(last, locked)) return { id: last.id, isOpen };
  yield* expire(locked, last, pets);
  return undefined;
}

/**
 * The orders in the store. An order and its animal change in one transaction, so that an animal has at
 * most one open order, and is pending as long as it has one.
 */
export class OrderStore {
  readonly reservations: Reservations;
  readonly #pets: PetStore;
  readonly #clock: Clock;
  readonly #reservation: number;

  /** `reservation` is how long an order holds its animal, in milliseconds. */
  constructor(storage: Storage, pets: PetStore, clock: Clock, reservation: number) {
    this.#pets = pets;
    this.#clock = clock;
    this.#reservation = reservation;
    this.reservations = new Reservations(storage, pets, clock);
  }

  *get(shop: number, id: bigint): Query<StoreOrder | undefined> {
    const row = yield* first(sql.byId, shop, id);
    return row && toOrder(row);
  }

  /** Up to `limit` orders of a list after `after`; if it is absent, from the start. */
  page(shop: number, after: string | undefined, limit: number, filters: OrderFilters): Query<Page<StoreOrder, string>> {
    const { search } = filters;
    return search ? searchOrders(shop, after, limit, { ...filters, search }) : readOrders(shop, after, limit, filters);
  }

  /**
   * Part of a transaction: places an order, which reserves its animal or, if it is confirmed at once, sells it. If the
   * animal is not available, the result is a `RefusedTransition`; its `from` is the status of the animal.
   */
  *place(
    author: Author,
    { price: asked, expiresAt, confirm, metadata: pairs, ...fields }: NewStoreOrder,
  ): Change<StoreOrder | "not found" | RefusedTransition | NoCurrency | WrongEnd> {
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    const { now } = locked;
    const end = expiresAt === undefined ? now + this.#reservation : endOf(expiresAt, now);
    if (typeof end === "object") return end;
    if (expiresAt !== undefined && confirm) return wrongEnd("must not be sent with confirm: nothing is reserved");
    const sent = asked && (yield* completePrice(shop, asked));
    if (sent && "refused" in sent) return sent;
    const change = yield* this.#take(
      locked,
      fields.petId,
      confirm ? ["sold", "order_sold"] : ["pending", "order_placed"],
    );
    if (change === "not found" || "refused" in change) return change;
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
    yield* publishLast(locked, author, [...events, change.event]);
    return order;
  }

  /** Changes the fields in the patch of an order that is as expected. */
  *update(
    author: Author,
    id: bigint,
    patch: StoreOrderPatch,
    isExpected: (order: StoreOrder) => boolean,
  ): Change<StoreOrder | "not found" | "not expected" | WrongStatus | WrongEnd | NoCurrency | TooMuchMetadata> {
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    const row = yield* first(sql.byId, shop, id);
    if (!row) return "not found";
    const before = toOrder(row);
    if (!isExpected(before)) return "not expected";
    const price = patch.price ? yield* completePrice(shop, patch.price, before.price) : patch.price;
    if (price && "refused" in price) return price;
    const end = patch.expiresAt === undefined ? Number(row.expires_at) : endOf(patch.expiresAt, locked.now);
    if (typeof end === "object") return end;
    const after = patched<StoreOrder>(before, {
      ...before,
      ...patch,
      price: price === undefined ? before.price : price,
      expiresAt: timestampOf(end),
    });
    if ("refused" in after) return after;
    const isMoved = after.expiresAt !== before.expiresAt;
    if (isMoved && row.status !== "placed") return { refused: "wrong status", status: row.status };
    if (isMoved && isOver(row, locked)) {
      yield* expire(locked, row, this.#pets);
      return { refused: "wrong status", status: "expired" };
    }
    if (after === before) return before;
    yield* sql.writeOrder(shop, before, after);
    if (isMoved) yield* all(sql.setDue, shop, id, end);
    yield* replaceMetadata(shop, "order", id, before.metadata, after.metadata);
    yield* publishLast(locked, author, [orderEvent(orderUpdated, after, before)]);
    return after;
  }

  /** Part of a transaction: confirms an open order that is as expected, which sells its animal. */
  *confirm(
    author: Author,
    id: bigint,
    isExpected: (order: StoreOrder) => boolean,
    { price: sent, seller }: StoreOrderConfirmation,
  ): Change<ChangedOrder | NoCurrency> {
    const locked = yield* lockShop(author.shop, this.#clock.now());
    const price = sent && (yield* completePrice(author.shop, sent));
    if (price && "refused" in price) return price;
    return yield* this.#change(locked, author, id, orderChanges.confirm, isExpected, { price, seller });
  }

  /** Part of a transaction: cancels or returns an order that is as expected, and changes its animal with it. */
  *change(
    author: Author,
    id: bigint,
    change: Exclude<OrderChange, typeof orderChanges.confirm>,
    isExpected: (order: StoreOrder) => boolean,
  ): Change<ChangedOrder> {
    return yield* this.#change(yield* lockShop(author.shop, this.#clock.now()), author, id, change, isExpected);
  }

  *#change(
    locked: LockedShop,
    author: Author,
    id: bigint,
    { from, to, event, pet }: OrderChange,
    isExpected: (order: StoreOrder) => boolean,
    { price, seller }: Sale = {},
  ): Change<ChangedOrder> {
    const { shop } = author;
    const order = yield* first(sql.byId, shop, id);
    if (!order) return "not found";
    const before = toOrder(order);
    if (!isExpected(before)) return "not expected";
    if (order.status !== from) return { refused: "wrong status", status: order.status };
    if (from === "placed" && isOver(order, locked)) {
      yield* expire(locked, order, this.#pets);
      return { refused: "wrong status", status: "expired" };
    }
    const change = yield* this.#pets.changeStatus(locked, order.pet_id, pet[0], pet[1]);
    if (change === "not found" || "refused" in change)
      return { refused: "pet mismatch", problem: problemOf(order, change) };
    if (from === "placed") addToFigure(locked, openOrders, -1);
    else addToFigure(locked, returned);
    const changed =
      to === "confirmed"
        ? confirmed(locked, author, before, change.pet, { price, seller })
        : { ...before, status: to, [`${to}At` as const]: timestampOf(locked.now) };
    yield* sql.writeOrder(shop, before, changed);
    yield* publishLast(locked, author, [orderEvent(event, changed, before), change.event]);
    return changed;
  }

  /**
   * Part of a transaction: reserves or sells an animal for a new order. If it is still reserved by an order whose
   * reservation has ended, expires that order first. This is rare, so it is looked for only after a refusal.
   */
  *#take(locked: LockedShop, petId: bigint, how: PetChange): ReturnType<PetStore["changeStatus"]> {
    const change = yield* this.#pets.changeStatus(locked, petId, how[0], how[1]);
    if (change === "not found" || !("refused" in change)) return change;
    const open = yield* first(sql.openByPet, locked.shop, petId);
    if (!open || !isOver(open, locked)) return change;
    yield* expire(locked, open, this.#pets);
    return yield* this.#pets.changeStatus(locked, petId, how[0], how[1]);
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

/** The end of a reservation that a client has sent, in Unix milliseconds. */
function endOf(expiresAt: string, now: number): number | WrongEnd {
  const end = millisecondsOf(expiresAt);
  if (end > now && end <= now + MAX_RESERVATION_DAYS * DAY_MS) return end;
  const example = timestampOf(now + DAY_MS);
  return wrongEnd(`must be in the future, at most ${MAX_RESERVATION_DAYS} days ahead, such as ${example}`);
}

function wrongEnd(message: string): WrongEnd {
  return { refused: "wrong end", message };
}

function problemOf({ id, status, pet_id }: OrderRow, refusal: "not found" | RefusedTransition): string {
  const state = refusal === "not found" ? "missing" : `${refusal.from}`;
  return `The order ${id} is ${status}, but its animal ${pet_id} is ${state}.`;
}
