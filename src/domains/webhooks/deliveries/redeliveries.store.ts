import type { Caller, ShopNumber } from "../../../contract/caller.ts";
import { failure, invalidInput } from "../../../contract/errors.ts";
import { all, type Change, first, type Query } from "../../../storage/transaction.ts";
import { expired } from "../../events/events.operations.ts";
import { storedRange, toStoredRange } from "../../events/events.statements.ts";
import { lockShop } from "../../shops/shops.store.ts";
import {
  countRedeliveries,
  endpointById,
  insertRedelivery,
  nextRedeliveryId,
  setAttempt,
} from "../endpoints/endpoints.statements.ts";
import { noSuchEndpoint } from "../endpoints/endpoints.store.ts";
import { deliveryNotFound, MAX_REDELIVERIES, tooManyRedeliveries } from "../shared.operations.ts";
import type { NewRedelivery } from "../webhooks.schemas.ts";
import { deliveryById } from "./deliveries.store.ts";

// The process that delivers reads redeliveries and tests from the store. `now` is in Unix milliseconds.

/** Part of a transaction: stores a redelivery of a range of events, or of the message of one delivery. */
export function* addRedelivery(
  caller: Caller,
  endpointId: string,
  { from, to, deliveryId }: NewRedelivery,
  now: number,
) {
  const { accountId, mode, shop } = caller;
  yield* lockShop(shop, now);
  if (!(yield* first(endpointById, accountId, mode, endpointId))) return noSuchEndpoint;
  const { first: oldest, last } = toStoredRange(yield* first(storedRange, shop));
  const delivery = deliveryId === undefined ? undefined : yield* first(deliveryById, shop, endpointId, deliveryId);
  if (deliveryId !== undefined && delivery?.event_id == null) {
    return failure(deliveryNotFound, `The endpoint has no delivery ${deliveryId} of an event.`);
  }
  const single = delivery?.event_id ?? undefined;
  const range = {
    from: single ?? (from === undefined ? oldest : from < 1n ? 1n : from),
    to: single ?? (to === undefined || to > last ? last : to),
  };
  if (range.from < oldest) return expired({ first: oldest });
  if (range.from > range.to) return from === undefined ? noEvents : emptyRange;
  if (yield* isFull(shop, endpointId)) return tooMany;
  if (single !== undefined) yield* all(setAttempt, shop, endpointId, single, "redelivery", 1, now);
  else yield* all(insertRedelivery, shop, endpointId, yield* nextId(caller, endpointId), range.from - 1n, range.to);
  return range;
}

/** Part of a transaction: stores a test to send. */
export function* addTest(caller: Caller, endpointId: string, now: number) {
  const { accountId, mode, shop } = caller;
  yield* lockShop(shop, now);
  if (!(yield* first(endpointById, accountId, mode, endpointId))) return noSuchEndpoint;
  if (yield* isFull(shop, endpointId)) return tooMany;
  // Due before everything else.
  yield* all(setAttempt, shop, endpointId, -(yield* nextId(caller, endpointId)), "test", 1, 0);
  return null;
}

function* isFull(shop: ShopNumber, endpointId: string): Query<boolean> {
  const { waiting } = (yield* first(countRedeliveries, shop, endpointId)) as { waiting: bigint };
  return waiting >= MAX_REDELIVERIES;
}

function* nextId({ accountId, mode }: Caller, endpointId: string): Change<bigint> {
  return ((yield* first(nextRedeliveryId, accountId, mode, endpointId)) as { id: bigint }).id;
}

const tooMany = failure(
  tooManyRedeliveries,
  `${MAX_REDELIVERIES} redeliveries or tests of the endpoint are not finished yet. Try again later.`,
);

const noEvents = invalidInput([{ path: "/body", message: "names no stored event" }]);
const emptyRange = invalidInput([{ path: "/body/from", message: "is after `to`, or after the newest event" }]);
