import { together } from "../../storage/combined-steps.ts";
import type { Storage } from "../../storage/storage.ts";
import { all, first, type Transaction } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import { system } from "../events/author.ts";
import { publish } from "../events/publish.ts";
import { addToFigure, type LockedShop } from "../shops/figures.ts";
import type { ForegroundWork, WaitingWork } from "../shops/scheduled-work.ts";
import { lockShop } from "../shops/shops.store.ts";
import type { OrderedPets } from "./order-changes.ts";
import { orderEvent } from "./order-changes.ts";
import { orderExpired } from "./orders.operations.ts";
import {
  byId,
  due,
  dueOfShop,
  type OrderRow,
  openOfShop,
  setDueTimes,
  setExpired,
  toOrder,
} from "./orders.statements.ts";

/** The maximum number of orders that one transaction expires. It blocks other writes for some milliseconds. */
const BATCH = 100;
/**
 * The maximum number of reads in one run. More than `BATCHES`, because a read can find nothing but orders of shops in
 * which this run has already failed.
 */
const READS = 200;
/** The maximum number of batches in one run of the background task. The next run continues. */
const BATCHES = 20;

/** Expires the reservations of open orders. An expired order no longer reserves its animal. */
export class Reservations implements ForegroundWork {
  readonly kind = "reservation";
  readonly #storage: Storage;
  readonly #pets: OrderedPets;
  readonly #clock: Clock;

  constructor(storage: Storage, pets: OrderedPets, clock: Clock) {
    this.#storage = storage;
    this.#pets = pets;
    this.#clock = clock;
  }

  /**
   * Expires due reservations, so that their animals are available again. Each transaction expires up to `BATCH` orders,
   * so that other writes run in between. A call expires at most `BATCH * BATCHES` orders; the next call continues. If it
   * fails in one shop, such as one that an import has locked, it continues with the others, and then rejects.
   */
  async expireDue(): Promise<void> {
    const now = this.#clock.now();
    /** What failed in this run, by shop. Orders of these shops stay due, and would fill every read from the start. */
    const failures = new Map<number, unknown>();
    /** Up to this time, only orders of failed shops are left, so the next read starts after it. */
    let doneUpTo = Number.MIN_SAFE_INTEGER;
    for (let batch = 0, reads = 0; batch < BATCHES && reads < READS; reads++) {
      const found = await this.#storage.read(all(due, now, doneUpTo, BATCH));
      const last = found.at(-1);
      if (!last) break;
      const dueByShop = Map.groupBy(found, (order) => Number(order.shop));
      for (const shop of failures.keys()) dueByShop.delete(shop);
      if (dueByShop.size > 0) batch++;
      const failedBefore = failures.size;
      for (const [shop, orders] of dueByShop) {
        const ids = orders.map(({ id }) => id);
        try {
          await this.#storage.write(() => this.#expireAll(shop, ids, now));
        } catch (error) {
          failures.set(shop, error);
          break; // Reads again, which fails too if the whole store has failed.
        }
      }
      if (failedBefore > 0 && failures.size === failedBefore) {
        // All others of this read are expired. In the millisecond of the last one, more may be due.
        doneUpTo = Math.max(Number(found[0]?.due_at), Number(last.due_at) - 1);
      }
    }
    const [failure] = failures.values();
    if (failure !== undefined) throw failure;
  }

  /** Part of a transaction: the clock of a locked shop is this many milliseconds ahead of real time from now on. */
  *clockAdvanced({ shop }: LockedShop, ahead: number): Transaction<void> {
    yield* all(setDueTimes, ahead, shop);
  }

  /** Expires up to `most` due reservations of one shop. */
  async runDue(shop: number, most: number): Promise<void> {
    const now = this.#clock.now();
    let after = 0n;
    for (let left = most; left > 0; left -= BATCH) {
      const found = await this.#storage.read(all(dueOfShop, shop, "placed", after, now, Math.min(BATCH, left)));
      const last = found.at(-1);
      if (!last) return;
      after = last.id;
      const ids = found.map(({ id }) => id);
      await this.#storage.write(() => this.#expireAll(shop, ids, now));
    }
  }

  /** How many orders of a shop are open, counted up to `most`, and when the first of them expires, in Unix milliseconds. */
  *waiting(shop: number, most: number): Transaction<WaitingWork> {
    const row = yield* first(openOfShop, shop, "placed", most);
    return { count: Number(row?.orders), next: row?.next == null ? undefined : Number(row.next) };
  }

  /** Part of a transaction: expires those of these orders that are still open and whose reservation has ended. */
  *#expireAll(shop: number, ids: readonly bigint[], now: number): Transaction<void> {
    const locked = yield* lockShop(shop, now);
    yield* together(ids.map((id) => this.#expireIfOver(locked, id)));
  }

  *#expireIfOver(locked: LockedShop, id: bigint): Transaction<void> {
    const order = yield* first(byId, locked.shop, id);
    if (order?.status === "placed" && isOver(order, locked)) yield* expire(locked, order, this.#pets);
  }
}

/** Part of a transaction: expires an open order, so that its animal is available again. */
export function* expire(locked: LockedShop, row: OrderRow, pets: OrderedPets): Transaction<void> {
  const { id, pet_id } = row;
  yield* all(setExpired, locked.shop, id);
  addToFigure(locked, "open_orders", -1);
  addToFigure(locked, "expired");
  const petEvent = yield* pets.changeStatus(locked, pet_id, "available", "order_expired");
  const before = toOrder(row);
  const events = [orderEvent(orderExpired, { ...before, status: "expired" }, before)];
  if (typeof petEvent === "object" && "type" in petEvent) events.push(petEvent);
  yield* publish(locked, system(locked.shop), events);
}

/** True once the reservation has ended. */
export function isOver({ expires_at }: OrderRow, { at }: LockedShop): boolean {
  return expires_at <= at;
}
