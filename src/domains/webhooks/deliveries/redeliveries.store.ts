import type { Caller } from "../../../contract/caller.ts";
import { all, first, type Transaction } from "../../../storage/transaction.ts";
import type { Clock } from "../../../timing/clock.ts";
import { storedRange, toStoredRange } from "../../events/events.statements.ts";
import { lockShop } from "../../shops/shops.store.ts";
import {
  countRedeliveries,
  endpointById,
  insertRedelivery,
  nextRedeliveryId,
} from "../endpoints/endpoints.statements.ts";
import { MAX_REDELIVERIES } from "../shared.operations.ts";
import type { NewRedelivery } from "../webhooks.schemas.ts";
import { deliveryById } from "./deliveries.store.ts";

/** The events that are sent again, both ends included. */
export interface EventRange {
  readonly from: bigint;
  readonly to: bigint;
}

type Kind = "range" | "single" | "test";
type Refused =
  | "not found"
  | "too many"
  | "no delivery"
  | "no range"
  | { readonly refused: "expired"; readonly first: bigint };

/** Stores requests for redeliveries and tests. The process that delivers reads them from the store. */
export class RedeliveryStore {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Part of a transaction: stores a redelivery of a range of events, or of the message of one delivery. */
  *addRedelivery(
    caller: Caller,
    endpointId: string,
    { from, to, deliveryId }: NewRedelivery,
  ): Transaction<EventRange | Refused> {
    const { accountId, mode, shop } = caller;
    yield* lockShop(shop, this.#clock.now());
    if (!(yield* first(endpointById, accountId, mode, endpointId))) return "not found";
    const { first: oldest, last } = toStoredRange(yield* first(storedRange, shop));
    const delivery = deliveryId === undefined ? undefined : yield* first(deliveryById, shop, endpointId, deliveryId);
    if (deliveryId !== undefined && delivery?.event_id == null) return "no delivery";
    const single = delivery?.event_id ?? undefined;
    const range = {
      from: single ?? (from === undefined ? oldest : maximum(from, 1n)),
      to: single ?? minimum(to ?? last, last),
    };
    if (range.from < oldest) return { refused: "expired", first: oldest };
    if (range.from > range.to) return "no range";
    const isAdded = yield* this.#add(caller, endpointId, single === undefined ? "range" : "single", range);
    return isAdded ? range : "too many";
  }

  /** Part of a transaction: stores a test to send. */
  *addTest(caller: Caller, endpointId: string): Transaction<"added" | "not found" | "too many"> {
    const { accountId, mode, shop } = caller;
    yield* lockShop(shop, this.#clock.now());
    if (!(yield* first(endpointById, accountId, mode, endpointId))) return "not found";
    return (yield* this.#add(caller, endpointId, "test", { from: 0n, to: 0n })) ? "added" : "too many";
  }

  *#add({ accountId, mode, shop }: Caller, endpointId: string, kind: Kind, range: EventRange): Transaction<boolean> {
    const { waiting } = (yield* first(countRedeliveries, shop, endpointId)) as { waiting: bigint };
    if (waiting >= MAX_REDELIVERIES) return false;
    const { id } = (yield* first(nextRedeliveryId, accountId, mode, endpointId)) as { id: bigint };
    yield* all(insertRedelivery, shop, endpointId, id, kind, range.from, range.to);
    return true;
  }
}

function maximum(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function minimum(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
