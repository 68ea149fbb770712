import { type ShopNumber, shopNumber } from "../../contract/caller.ts";
import { type DueTimes, type SandboxShop, type Waiting, waitingOf } from "../../contract/due-times.ts";
import { timestampOf } from "../../contract/schemas.ts";
import { together } from "../../storage/combined-steps.ts";
import type { Storage } from "../../storage/storage.ts";
import { all, type Change, first, type Query } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import { publish, system } from "../events/publish.ts";
import { changeStatus } from "../pets/pet-change.ts";
import { addToFigure, type LockedShop } from "../shops/locked-shop.ts";
import { lockShop } from "../shops/shops.store.ts";
import { expired, openOrders, orderEvent } from "./order-changes.ts";
import { orderExpired } from "./orders.operations.ts";
import type { StoreOrder, StoreOrderStatus } from "./orders.schemas.ts";
import * as sql from "./orders.statements.ts";
import { type OrderRow, type StoredOrderRow, toOrder } from "./orders.statements.ts";

/** The maximum number of orders that one transaction expires. It blocks other writes for some milliseconds. */
const BATCH = 25;
/**
 * The maximum number of reads in one run. More than `BATCHES`, because a read can find nothing but orders of shops in
 * which this run has already failed.
 */
const READS = 800;
/** The maximum number of batches in one run of the background task. The next run continues. */
const BATCHES = 80;

/** Expires the reservations of open orders. An expired order no longer reserves its animal. */
export class Reservations implements DueTimes {
  readonly #storage: Storage;
  readonly #clock: Clock;

  constructor(storage: Storage, clock: Clock) {
    this.#storage = storage;
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
    const failures = new Map<ShopNumber, unknown>();
    /** Up to this time, only orders of failed shops are left, so the next read starts after it. */
    let doneUpTo = Number.MIN_SAFE_INTEGER;
    for (let batch = 0, reads = 0; batch < BATCHES && reads < READS; reads++) {
      const found = await this.#storage.read(all(sql.due, now, doneUpTo, BATCH));
      const last = found.at(-1);
      if (!last) break;
      const dueByShop = Map.groupBy(found, (order) => shopNumber(order.shop));
      for (const shop of failures.keys()) dueByShop.delete(shop);
      if (dueByShop.size > 0) batch++;
      const failedBefore = failures.size;
      for (const [shop, orders] of dueByShop) {
        const ids = orders.map(({ id }) => id);
        try {
          await this.#storage.write(() => this.#expireAll(shop, ids, now), shop);
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

  *bringNearer({ shop }: SandboxShop, milliseconds: number): Change<void> {
    yield* all(sql.bringNearer, milliseconds, shop);
  }

  /** Expires up to `most` due reservations of a sandbox. */
  async finish({ shop }: SandboxShop, _: number, most: number): Promise<void> {
    const now = this.#clock.now();
    let after = 0n;
    for (let left = most; left > 0; left -= BATCH) {
      const due = all(sql.dueOfShop, shop, "placed", after, now, Math.min(BATCH, left));
      const found = await this.#storage.read(due, shop);
      const last = found.at(-1);
      if (!last) return;
      after = last.id;
      const ids = found.map(({ id }) => id);
      await this.#storage.write(() => this.#expireAll(shop, ids, now), shop);
    }
  }

  *waiting({ shop }: SandboxShop, most: number): Query<Waiting[]> {
    return waitingOf("reservation", yield* first(sql.openOfShop, shop, "placed", most));
  }

  /** Part of a transaction: expires those of these orders that are still open and whose reservation has ended. */
  *#expireAll(shop: ShopNumber, ids: readonly bigint[], now: number): Change<void> {
    const locked = yield* lockShop(shop, now);
    yield* together(ids.map((id) => this.#expireIfOver(locked, id)));
  }

  *#expireIfOver(locked: LockedShop, id: bigint): Change<void> {
    const order = yield* first(sql.byId, locked.shop, id);
    if (order) yield* statusNow(locked, order);
  }
}

/** Part of a transaction: the status of an order, which it expires if it is open and its reservation has ended. */
export function* statusNow(locked: LockedShop, row: StoredOrderRow): Change<StoreOrderStatus> {
  if (row.status !== "placed" || row.due_at > locked.now) return row.status;
  yield* expire(locked, row);
  return "expired";
}

/**
 * Part of a transaction: expires an open order, so that its animal is available again. If a fast-forward has brought
 * the end nearer, the order now shows the real one.
 */
function* expire(locked: LockedShop, row: OrderRow): Change<void> {
  const { pet_id, expires_at } = row;
  const end = Math.min(Number(expires_at), locked.now);
  addToFigure(locked, openOrders, -1);
  addToFigure(locked, expired);
  const change = yield* changeStatus(locked, pet_id, "available", "order_expired");
  const before = toOrder(row);
  const after: StoreOrder = { ...before, status: "expired", expiresAt: timestampOf(end) };
  yield* sql.orderFields.update({ shop: locked.shop, id: after.id }, before, after);
  const events = [orderEvent(orderExpired, after, before)];
  if (typeof change === "object" && "event" in change) events.push(change.event);
  yield* publish(locked, system(locked.shop), events);
}
