import { sideBySide, together } from "../../storage/combined-steps.ts";
import type { Page } from "../../storage/page.ts";
import { scannedPage } from "../../storage/page-query.ts";
import type { Storage } from "../../storage/storage.ts";
import { all, first, type Transaction } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import { type Author, system } from "../events/author.ts";
import { eventsOf, type NewEvent } from "../events/new-event.ts";
import { publish, publishLast } from "../events/publish.ts";
import {
  type Metadata,
  metadataRefusal,
  patchedPairs,
  samePairs,
  type TooMuchMetadata,
  withoutEmpty,
} from "../metadata/metadata.schemas.ts";
import { insertPairs, metadataFlag, replacePairs } from "../metadata/metadata.store.ts";
import { count } from "../shops/figures.ts";
import { type LockedShop, lockShop } from "../shops/shops.store.ts";
import type { TimedWork, WaitingWork } from "../shops/timed-work.ts";
import {
  type NewStoreOrder,
  type OrderFilters,
  orderCancelled,
  orderConfirmed,
  orderExpired,
  orderPlaced,
  orderReturned,
  orderUpdated,
  StoreOrder,
  type StoreOrderPatch,
  type StoreOrderStatus,
} from "./orders.operations.ts";
import {
  become,
  byId,
  due,
  dueByClock,
  dueOfShop,
  insert,
  lastByPet,
  nextId,
  type OrderRow,
  openByPet,
  openOfShop,
  orderPageQuery,
  setExpired,
  setHasMetadata,
  toOrder,
} from "./orders.statements.ts";
import type { AnimalChange, Transition } from "./transitions.ts";

/** What orders may do to the animals that they are for. */
export interface OrderedAnimals {
  /**
   * Part of a transaction: gives an animal another status, if its own rules allow that for this cause. Returns the event
   * that records it, which is not published yet.
   */
  changeStatus(
    shop: LockedShop,
    petId: bigint,
    ...change: AnimalChange
  ): Transaction<NewEvent | "not found" | NotAllowed>;
}

const event = eventsOf<StoreOrder>(StoreOrder, ({ id, petId }) => ({ petId, subject: String(id) }));
/** The event of an order by the status that it gets. */
const eventTypes = { confirmed: orderConfirmed, cancelled: orderCancelled, returned: orderReturned };

/** What does not go with the status that the animal has. */
interface NotAllowed {
  readonly refused: "transition";
  readonly from: string | undefined;
}

/** An order whose state does not allow what was asked. */
interface WrongState {
  readonly refused: "wrong state";
  readonly state: StoreOrderStatus;
}

/** An order whose animal cannot become what the order's change makes of it; `problem` is one sentence. */
interface NoAnimal {
  readonly refused: "no animal";
  readonly problem: string;
}

/** Reservations that end in one transaction: some milliseconds, for which others must wait. */
const BATCH = 100;
/** Such transactions in one round of periodic work. What is left over is done in the next round. */
const BATCHES = 20;

/**
 * Part of a transaction: the order that decides the animal's status. It is the animal's last one, because another can
 * be placed only when it is over.
 */
export function* decidingOrder({ shop }: LockedShop, petId: bigint): Transaction<DecidingOrder | undefined> {
  const last = yield* first(lastByPet, shop, petId);
  if (last?.status !== "placed" && last?.status !== "confirmed") return undefined;
  return { id: last.id, isOpen: last.status === "placed" };
}

/** An order that reserves its animal, being open, or that has sold it. */
interface DecidingOrder {
  readonly id: bigint;
  readonly isOpen: boolean;
}

/**
 * The orders in the store. An order and its animal change in one transaction, so that an animal has at
 * most one open order, and is pending as long as it has one.
 */
export class OrderStore implements TimedWork {
  readonly kind = "reservation";
  readonly #storage: Storage;
  readonly #animals: OrderedAnimals;
  readonly #clock: Clock;
  readonly #reservation: number;

  /** `reservation` is how long an order holds its animal, in milliseconds. */
  constructor(storage: Storage, animals: OrderedAnimals, clock: Clock, reservation: number) {
    this.#storage = storage;
    this.#animals = animals;
    this.#clock = clock;
    this.#reservation = reservation;
  }

  get(shop: number, id: bigint): MaybePromise<StoreOrder | undefined> {
    return whenReady(this.#storage.first(byId, shop, id), (row) => row && toOrder(row));
  }

  /** Up to `limit` orders of a list, behind `after` or, where it is absent, from its start. */
  page(shop: number, after: bigint | undefined, limit: number, filters: OrderFilters): MaybePromise<Page<StoreOrder>> {
    const { statement, parameters } = orderPageQuery(shop, after, limit + 1, filters);
    return whenReady(this.#storage.all(statement, ...parameters), (rows) => scannedPage(rows, limit, toOrder));
  }

  /** Part of a transaction: reserves an animal. Where it is there and not available, `from` is its status. */
  *place(author: Author, newOrder: NewStoreOrder): Transaction<StoreOrder | "not found" | NotAllowed> {
    const { petId, reference } = newOrder;
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    const outcome = yield* this.#reserve(locked, petId);
    if (outcome === "not found" || "refused" in outcome) return outcome;
    const { id } = (yield* first(nextId, shop)) as { id: bigint };
    const { at, ahead } = locked;
    const end = at + this.#reservation;
    const metadata = withoutEmpty(newOrder.metadata);
    const flag = metadataFlag(metadata);
    const row = yield* first(insert, shop, id, petId, reference ?? null, at, end, end - ahead, flag);
    yield* together(insertPairs(shop, "order", id, metadata));
    const order = withPairs(toOrder(row as OrderRow), metadata);
    count(locked, "open_orders");
    yield* publishLast(locked, author, [event(orderPlaced, order), outcome]);
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
    const metadata = patchedPairs(before.metadata, patch.metadata);
    const refusal = metadataRefusal(metadata);
    if (refusal) return refusal;
    if (samePairs(metadata, before.metadata)) return before;
    yield* all(setHasMetadata, metadataFlag(metadata), shop, id);
    yield* replacePairs(shop, "order", id, before.metadata, metadata);
    const { metadata: _, ...plain } = before;
    const after = withPairs(plain, metadata);
    yield* publishLast(locked, author, [event(orderUpdated, after, before)]);
    return after;
  }

  /** Part of a transaction: changes an order, and its animal with it. */
  *change(
    author: Author,
    id: bigint,
    { from, to, animal }: Transition,
  ): Transaction<StoreOrder | "not found" | WrongState | NoAnimal> {
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    const order = yield* first(byId, shop, id);
    if (!order) return "not found";
    if (order.status !== from) return { refused: "wrong state", state: order.status };
    if (from === "placed" && isOver(order, locked)) {
      yield* this.#expire(locked, order);
      return { refused: "wrong state", state: "expired" };
    }
    const outcome = yield* this.#animals.changeStatus(locked, order.pet_id, ...animal);
    if (outcome === "not found" || "refused" in outcome)
      return { refused: "no animal", problem: problemOf(order, outcome) };
    if (from === "placed") count(locked, "open_orders", -1);
    else count(locked, "returned");
    const before = toOrder(order);
    const changed = withPairs(toOrder((yield* first(become[to], locked.at, shop, id)) as OrderRow), before.metadata);
    yield* publishLast(locked, author, [event(eventTypes[to], changed, before), outcome]);
    return changed;
  }

  /**
   * Lets the animals go whose reservations have ended: in small transactions, so that others continue
   * between them, and some thousand at the most, so that the caller does.
   */
  async expireDue(): Promise<void> {
    const now = this.#clock.now();
    for (let batch = 0; batch < BATCHES; batch++) {
      const found = await this.#storage.all(due, now, BATCH);
      if (found.length === 0) return;
      for (const [shop, orders] of Map.groupBy(found, (order) => Number(order.shop))) {
        const ids = orders.map(({ id }) => id);
        await this.#storage.write(() => this.#expireAll(shop, ids, now));
      }
    }
  }

  /** Part of a transaction: the clock of a locked shop is this many milliseconds ahead of real time from now on. */
  *clockAdvanced({ shop }: LockedShop, ahead: number): Transaction<void> {
    yield* all(dueByClock, ahead, shop);
  }

  /** Lets the animals of one shop go whose reservations have ended: up to `most`. */
  async doDue(shop: number, most: number): Promise<void> {
    const now = this.#clock.now();
    let after = 0n;
    for (let left = most; left > 0; left -= BATCH) {
      const found = await this.#storage.all(dueOfShop, shop, "placed", after, now, Math.min(BATCH, left));
      const last = found.at(-1);
      if (!last) return;
      after = last.id;
      const ids = found.map(({ id }) => id);
      await this.#storage.write(() => this.#expireAll(shop, ids, now));
    }
  }

  /** How many orders of a shop are open, counted up to `most`, and when the first of them expires, in unix milliseconds. */
  waiting(shop: number, most: number): MaybePromise<WaitingWork> {
    return whenReady(this.#storage.first(openOfShop, shop, "placed", most), (row) => ({
      count: Number(row?.orders),
      next: row?.next == null ? undefined : Number(row.next),
    }));
  }

  /** Part of a transaction: of these orders, those that are still open and over. */
  *#expireAll(shop: number, ids: readonly bigint[], now: number): Transaction<void> {
    const locked = yield* lockShop(shop, now);
    yield* sideBySide(ids.map((id) => this.#expireIfOver(locked, id)));
  }

  *#expireIfOver(locked: LockedShop, id: bigint): Transaction<void> {
    const order = yield* first(byId, locked.shop, id);
    if (order?.status === "placed" && isOver(order, locked)) yield* this.#expire(locked, order);
  }

  *#reserve(locked: LockedShop, petId: bigint): Transaction<NewEvent | "not found" | NotAllowed> {
    const outcome = yield* this.#animals.changeStatus(locked, petId, "pending", "order_placed");
    if (outcome === "not found" || !("refused" in outcome)) return outcome;
    const open = yield* first(openByPet, locked.shop, petId);
    if (!open || !isOver(open, locked)) return outcome;
    yield* this.#expire(locked, open);
    return yield* this.#animals.changeStatus(locked, petId, "pending", "order_placed");
  }

  *#expire(locked: LockedShop, row: OrderRow): Transaction<void> {
    const { id, pet_id } = row;
    yield* all(setExpired, locked.shop, id);
    count(locked, "open_orders", -1);
    count(locked, "expired");
    const ofAnimal = yield* this.#animals.changeStatus(locked, pet_id, "available", "order_expired");
    const before = toOrder(row);
    const events = [event(orderExpired, { ...before, status: "expired" }, before)];
    if (typeof ofAnimal === "object" && "type" in ofAnimal) events.push(ofAnimal);
    yield* publish(locked, system(locked.shop), events);
  }
}

function withPairs(order: StoreOrder, metadata: Metadata | undefined): StoreOrder {
  return metadata ? { ...order, metadata } : order;
}

/** True from the moment on at which the reservation ends. */
function isOver({ expires_at }: OrderRow, { at }: LockedShop): boolean {
  return expires_at <= at;
}

function problemOf({ id, status, pet_id }: OrderRow, outcome: "not found" | NotAllowed): string {
  const state = outcome === "not found" ? "missing" : `${outcome.from}`;
  return `The order ${id} is ${status}, but its animal ${pet_id} is ${state}.`;
}
