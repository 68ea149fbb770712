import type { Page } from "../../storage/pages.ts";
import type { Storage } from "../../storage/storage.ts";
import { all, first, type Transaction } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import type { Author } from "../events/author.ts";
import type { NewEvent } from "../events/new-event.ts";
import { publishLast } from "../events/publish.ts";
import {
  type Metadata,
  metadataRefusal,
  patchedMetadata,
  sameMetadata,
  type TooMuchMetadata,
  unlessEmpty,
} from "../metadata/metadata.schemas.ts";
import { insertMetadata, metadataFlag, replaceMetadata } from "../metadata/metadata.store.ts";
import { addToFigure, type LockedShop } from "../shops/figures.ts";
import { lockShop } from "../shops/shops.store.ts";
import type { OrderChange, OrderedPets, RefusedTransition } from "./order-changes.ts";
import { orderEvent } from "./order-changes.ts";
import { type OrderFilters, orderPlaced, orderUpdated } from "./orders.operations.ts";
import { type NewStoreOrder, StoreOrder, type StoreOrderPatch, type StoreOrderStatus } from "./orders.schemas.ts";
import {
  byId,
  insert,
  lastByPet,
  nextId,
  type OrderRow,
  openByPet,
  readOrders,
  setHasMetadata,
  setStatus,
  toOrder,
} from "./orders.statements.ts";
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

/**
 * Part of a transaction: the order that decides the animal's status. It is open and reserves the animal, or it has sold
 * the animal; undefined if there is none. It is the animal's last one, because another can be placed only when it is
 * over. Expires it if its reservation has ended. The store of animals takes this function as its `FindDecidingOrder`.
 */
export function* decidingOrder(locked: LockedShop, petId: bigint, pets: OrderedPets) {
  const last = yield* first(lastByPet, locked.shop, petId);
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
  readonly #pets: OrderedPets;
  readonly #clock: Clock;
  readonly #reservation: number;

  /** `reservation` is how long an order holds its animal, in milliseconds. */
  constructor(storage: Storage, pets: OrderedPets, clock: Clock, reservation: number) {
    this.#pets = pets;
    this.#clock = clock;
    this.#reservation = reservation;
    this.reservations = new Reservations(storage, pets, clock);
  }

  *get(shop: number, id: bigint): Transaction<StoreOrder | undefined> {
    const row = yield* first(byId, shop, id);
    return row && toOrder(row);
  }

  /** Up to `limit` orders of a list after `after`; if it is absent, from the start. */
  page(shop: number, after: bigint | undefined, limit: number, filters: OrderFilters): Transaction<Page<StoreOrder>> {
    return readOrders(shop, after, limit, filters);
  }

  /**
   * Part of a transaction: places an order, which reserves its animal. If the animal is not available, the result is a
   * `RefusedTransition`; its `from` is the status of the animal.
   */
  *place(author: Author, newOrder: NewStoreOrder): Transaction<StoreOrder | "not found" | RefusedTransition> {
    const { petId, reference } = newOrder;
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    const petEvent = yield* this.#reserve(locked, petId);
    if (petEvent === "not found" || "refused" in petEvent) return petEvent;
    const { id } = (yield* first(nextId, shop)) as { id: bigint };
    const { at, ahead } = locked;
    const end = at + this.#reservation;
    const metadata = unlessEmpty(newOrder.metadata);
    const flag = metadataFlag(metadata);
    const row = yield* first(insert, shop, id, petId, reference ?? null, at, end, end - ahead, flag);
    yield* insertMetadata(shop, "order", id, metadata);
    const order = withMetadata(toOrder(row as OrderRow), metadata);
    addToFigure(locked, "open_orders");
    yield* publishLast(locked, author, [orderEvent(orderPlaced, order), petEvent]);
    return order;
  }

  /** Changes the metadata of an order that is as expected. */
  *update(
    author: Author,
    id: bigint,
    patch: StoreOrderPatch,
    isExpected: (order: StoreOrder) => boolean,
  ): Transaction<StoreOrder | "not found" | "not expected" | TooMuchMetadata> {
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    const row = yield* first(byId, shop, id);
    if (!row) return "not found";
    const before = toOrder(row);
    if (!isExpected(before)) return "not expected";
    const metadata = patchedMetadata(before.metadata, patch.metadata);
    const refusal = metadataRefusal(metadata);
    if (refusal) return refusal;
    if (sameMetadata(metadata, before.metadata)) return before;
    yield* all(setHasMetadata, metadataFlag(metadata), shop, id);
    yield* replaceMetadata(shop, "order", id, before.metadata, metadata);
    const { metadata: _, ...plain } = before;
    const after = withMetadata(plain, metadata);
    yield* publishLast(locked, author, [orderEvent(orderUpdated, after, before)]);
    return after;
  }

  /** Part of a transaction: changes an order that is as expected, and its animal with it. */
  *change(
    author: Author,
    id: bigint,
    { from, to, event, pet }: OrderChange,
    isExpected: (order: StoreOrder) => boolean,
  ): Transaction<StoreOrder | "not found" | "not expected" | WrongStatus | PetMismatch> {
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    const order = yield* first(byId, shop, id);
    if (!order) return "not found";
    const before = toOrder(order);
    if (!isExpected(before)) return "not expected";
    if (order.status !== from) return { refused: "wrong status", status: order.status };
    if (from === "placed" && isOver(order, locked)) {
      yield* expire(locked, order, this.#pets);
      return { refused: "wrong status", status: "expired" };
    }
    const petEvent = yield* this.#pets.changeStatus(locked, order.pet_id, ...pet);
    if (petEvent === "not found" || "refused" in petEvent)
      return { refused: "pet mismatch", problem: problemOf(order, petEvent) };
    if (from === "placed") addToFigure(locked, "open_orders", -1);
    else addToFigure(locked, "returned");
    const changed = withMetadata(
      toOrder((yield* first(setStatus[to], locked.at, shop, id)) as OrderRow),
      before.metadata,
    );
    yield* publishLast(locked, author, [orderEvent(event, changed, before), petEvent]);
    return changed;
  }

  /**
   * Part of a transaction: reserves an animal. If it is still reserved by an order whose reservation has ended, expires
   * that order first. This is rare, so it is looked for only after a refusal.
   */
  *#reserve(locked: LockedShop, petId: bigint): Transaction<NewEvent | "not found" | RefusedTransition> {
    const petEvent = yield* this.#pets.changeStatus(locked, petId, "pending", "order_placed");
    if (petEvent === "not found" || !("refused" in petEvent)) return petEvent;
    const open = yield* first(openByPet, locked.shop, petId);
    if (!open || !isOver(open, locked)) return petEvent;
    yield* expire(locked, open, this.#pets);
    return yield* this.#pets.changeStatus(locked, petId, "pending", "order_placed");
  }
}

function withMetadata(order: StoreOrder, metadata: Metadata | undefined): StoreOrder {
  return metadata ? { ...order, metadata } : order;
}

function problemOf({ id, status, pet_id }: OrderRow, refusal: "not found" | RefusedTransition): string {
  const state = refusal === "not found" ? "missing" : `${refusal.from}`;
  return `The order ${id} is ${status}, but its animal ${pet_id} is ${state}.`;
}
