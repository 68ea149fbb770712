import { type Page, pageOf } from "../../storage/page.ts";
import { all, first, type Storage, type Transaction } from "../../storage/storage.ts";
import type { Clock } from "../../timing/clock.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import { type LockedShop, lockShop } from "../shops/shops.store.ts";
import type { NewStoreOrder, StoreOrder, StoreOrderStatus } from "./orders.operations.ts";
import {
  become,
  byId,
  due,
  insert,
  nextId,
  type OrderRow,
  openByPet,
  rowsAfter,
  rowsAfterByPet,
  rowsAfterByPetAndStatus,
  rowsAfterByStatus,
  setExpired,
  toOrder,
} from "./orders.statements.ts";
import type { AnimalChange, Transition } from "./transitions.ts";

/** What orders may do to the animals that they are for. */
export interface OrderedAnimals {
  /** Part of a transaction: gives an animal another status, if its own rules allow that for this cause. */
  changeStatus(
    shop: LockedShop,
    petId: bigint,
    ...change: AnimalChange
  ): Transaction<"changed" | "not found" | NotAllowed>;
}

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

/** Below every id of an order (int64). */
const BEFORE_ALL = -(2n ** 63n);
/** Reservations that end in one transaction: some milliseconds, for which others have to wait. */
const BATCH = 100;
/** Such transactions in one round of periodic work. What is left over is done in the next round. */
const BATCHES = 20;

/** Part of a transaction: whether an order for the animal is open. */
export function* hasOpenOrder({ shop }: LockedShop, petId: bigint): Transaction<boolean> {
  return (yield* first(openByPet, shop, petId)) !== undefined;
}

/** Which orders of a list are wanted; all, where nothing is said. */
interface OrderFilter {
  readonly status?: StoreOrderStatus | undefined;
  readonly petId?: bigint | undefined;
}

/**
 * The orders in the store. An order and its animal change in one transaction, so that an animal has at
 * most one open order, and is pending as long as it has one.
 */
export class OrderStore {
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

  /** Up to `limit` orders with an id above `after` (from the first on, if it is absent), by ascending id. */
  page(shop: number, after: bigint | undefined, limit: number, filter: OrderFilter): MaybePromise<Page<StoreOrder>> {
    return whenReady(this.#rows(shop, after ?? BEFORE_ALL, limit + 1, filter), (found) =>
      pageOf(found, limit, toOrder, ({ id }) => id),
    );
  }

  #rows(shop: number, after: bigint, limit: number, { status, petId }: OrderFilter): MaybePromise<OrderRow[]> {
    const storage = this.#storage;
    if (petId === undefined) {
      return status
        ? storage.all(rowsAfterByStatus, shop, status, after, limit)
        : storage.all(rowsAfter, shop, after, limit);
    }
    return status
      ? storage.all(rowsAfterByPetAndStatus, shop, petId, status, after, limit)
      : storage.all(rowsAfterByPet, shop, petId, after, limit);
  }

  /** Part of a transaction: reserves an animal. Where it is there and not available, `from` is its status. */
  *place(shop: number, { petId, reference }: NewStoreOrder): Transaction<StoreOrder | "not found" | NotAllowed> {
    const locked = yield* lockShop(shop, this.#clock.now());
    const outcome = yield* this.#reserve(locked, petId);
    if (outcome !== "changed") return outcome;
    const { id } = (yield* first(nextId, shop)) as { id: bigint };
    const { at, ahead } = locked;
    const end = at + this.#reservation;
    return toOrder((yield* first(insert, shop, id, petId, reference ?? null, at, end, end - ahead)) as OrderRow);
  }

  /** Part of a transaction: changes an order, and its animal with it. */
  *change(
    shop: number,
    id: bigint,
    { from, to, animal }: Transition,
  ): Transaction<StoreOrder | "not found" | WrongState | NoAnimal> {
    const locked = yield* lockShop(shop, this.#clock.now());
    const order = yield* first(byId, shop, id);
    if (!order) return "not found";
    if (order.status !== from) return { refused: "wrong state", state: order.status };
    if (from === "placed" && isOver(order, locked)) {
      yield* this.#expire(locked, order);
      return { refused: "wrong state", state: "expired" };
    }
    const outcome = yield* this.#animals.changeStatus(locked, order.pet_id, ...animal);
    if (outcome !== "changed") return { refused: "no animal", problem: problemOf(order, outcome) };
    return toOrder((yield* first(become[to], locked.at, shop, id)) as OrderRow);
  }

  /**
   * Lets the animals go whose reservations have ended: in small transactions, so that others go on
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

  /** Part of a transaction: of these orders, those that are still open and over. */
  *#expireAll(shop: number, ids: readonly bigint[], now: number): Transaction<void> {
    const locked = yield* lockShop(shop, now);
    for (const id of ids) {
      const order = yield* first(byId, shop, id);
      if (order?.status === "placed" && isOver(order, locked)) yield* this.#expire(locked, order);
    }
  }

  *#reserve(locked: LockedShop, petId: bigint): Transaction<"changed" | "not found" | NotAllowed> {
    const outcome = yield* this.#animals.changeStatus(locked, petId, "pending", "order_placed");
    if (outcome === "changed" || outcome === "not found") return outcome;
    const open = yield* first(openByPet, locked.shop, petId);
    if (!open || !isOver(open, locked)) return outcome;
    yield* this.#expire(locked, open);
    return yield* this.#animals.changeStatus(locked, petId, "pending", "order_placed");
  }

  *#expire(locked: LockedShop, { id, pet_id }: OrderRow): Transaction<void> {
    yield* all(setExpired, locked.shop, id);
    yield* this.#animals.changeStatus(locked, pet_id, "available", "order_expired");
  }
}

/** True from the moment on at which the reservation ends. */
function isOver({ expires_at }: OrderRow, { at }: LockedShop): boolean {
  return expires_at <= at;
}

function problemOf({ id, status, pet_id }: OrderRow, outcome: "not found" | NotAllowed): string {
  const state = outcome === "not found" ? "missing" : `${outcome.from}`;
  return `The order ${id} is ${status}, but its animal ${pet_id} is ${state}.`;
}
