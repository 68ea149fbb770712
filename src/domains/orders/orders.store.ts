import { type Page, pageOf } from "../../storage/page.ts";
import { all, first, type Storage, type Transaction } from "../../storage/storage.ts";
import type { Clock } from "../../timing/clock.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import type { NewStoreOrder, StoreOrder, StoreOrderStatus } from "./orders.operations.ts";
import {
  become,
  byId,
  due,
  insert,
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
  changeStatus(petId: bigint, ...change: AnimalChange): Transaction<"changed" | "not found" | NotAllowed>;
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
export function* hasOpenOrder(petId: bigint): Transaction<boolean> {
  return (yield* first(openByPet, petId)) !== undefined;
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

  get(id: bigint): MaybePromise<StoreOrder | undefined> {
    return whenReady(this.#storage.first(byId, id), (row) => row && toOrder(row));
  }

  /** Up to `limit` orders with an id above `after` (from the first on, if it is absent), by ascending id. */
  page(after: bigint | undefined, limit: number, filter: OrderFilter): MaybePromise<Page<StoreOrder>> {
    return whenReady(this.#rows(after ?? BEFORE_ALL, limit + 1, filter), (found) =>
      pageOf(found, limit, toOrder, ({ id }) => id),
    );
  }

  #rows(after: bigint, limit: number, { status, petId }: OrderFilter): MaybePromise<OrderRow[]> {
    const storage = this.#storage;
    if (petId === undefined) {
      return status ? storage.all(rowsAfterByStatus, status, after, limit) : storage.all(rowsAfter, after, limit);
    }
    return status
      ? storage.all(rowsAfterByPetAndStatus, petId, status, after, limit)
      : storage.all(rowsAfterByPet, petId, after, limit);
  }

  /** Part of a transaction: reserves an animal. Where it is there and not available, `from` is its status. */
  *place({ petId, reference }: NewStoreOrder): Transaction<StoreOrder | "not found" | NotAllowed> {
    const now = this.#clock.now();
    const outcome = yield* this.#reserve(petId, now);
    if (outcome !== "changed") return outcome;
    return toOrder((yield* first(insert, petId, reference ?? null, now, now + this.#reservation)) as OrderRow);
  }

  /** Part of a transaction: changes an order, and its animal with it. */
  *change(id: bigint, { from, to, animal }: Transition): Transaction<StoreOrder | "not found" | WrongState | NoAnimal> {
    const now = this.#clock.now();
    const order = yield* first(byId, id);
    if (!order) return "not found";
    if (order.status !== from) return { refused: "wrong state", state: order.status };
    if (from === "placed" && isOver(order, now)) {
      yield* this.#expire(order);
      return { refused: "wrong state", state: "expired" };
    }
    const outcome = yield* this.#animals.changeStatus(order.pet_id, ...animal);
    if (outcome !== "changed") return { refused: "no animal", problem: problemOf(order, outcome) };
    return toOrder((yield* first(become[to], now, id)) as OrderRow);
  }

  /**
   * Lets the animals go whose reservations have ended: in small transactions, so that others go on
   * between them, and some thousand at the most, so that the caller does.
   */
  async expireDue(): Promise<void> {
    const now = this.#clock.now();
    for (let batch = 0; batch < BATCHES; batch++) {
      if (!(await this.#storage.first(due, now, 1))) return;
      await this.#storage.write(() => this.#expireBatch(now));
    }
  }

  *#expireBatch(now: number): Transaction<void> {
    for (const order of yield* all(due, now, BATCH)) yield* this.#expire(order);
  }

  *#reserve(petId: bigint, now: number): Transaction<"changed" | "not found" | NotAllowed> {
    const outcome = yield* this.#animals.changeStatus(petId, "pending", "order_placed");
    if (outcome === "changed" || outcome === "not found") return outcome;
    const open = yield* first(openByPet, petId);
    if (!open || !isOver(open, now)) return outcome;
    yield* this.#expire(open);
    return yield* this.#animals.changeStatus(petId, "pending", "order_placed");
  }

  *#expire({ id, pet_id }: OrderRow): Transaction<void> {
    yield* all(setExpired, id);
    yield* this.#animals.changeStatus(pet_id, "available", "order_expired");
  }
}

/** True from the moment on at which the reservation ends. `now` is in unix milliseconds. */
function isOver({ expires_at }: OrderRow, now: number): boolean {
  return expires_at <= now;
}

function problemOf({ id, status, pet_id }: OrderRow, outcome: "not found" | NotAllowed): string {
  const state = outcome === "not found" ? "missing" : `${outcome.from}`;
  return `The order ${id} is ${status}, but its animal ${pet_id} is ${state}.`;
}
