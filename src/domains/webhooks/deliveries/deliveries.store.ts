import { type ShopNumber, shopNumber } from "../../../contract/caller.ts";
import { failure } from "../../../contract/errors.ts";
import { INT64_MAX, timestampOf } from "../../../contract/schemas.ts";
import { together } from "../../../storage/combined-steps.ts";
import { type Page, pageOf } from "../../../storage/pages.ts";
import { acrossShops, change, query } from "../../../storage/statement.ts";
import type { Storage } from "../../../storage/storage.ts";
import { DELETE_BATCH_SIZE, enumeration, integer, optional, type RowOf, table, text } from "../../../storage/table.ts";
import { all, first, type Query } from "../../../storage/transaction.ts";
import { DAY_MS, type ExpiryTime } from "../../../timing/clock.ts";
import type { KeyInShop } from "../endpoints/endpoints.statements.ts";
import { deliveryNotFound } from "../shared.operations.ts";
import {
  type Delivery,
  type DeliveryOutcome,
  deliveryKinds,
  type SendFailure,
  sendFailures,
} from "../webhooks.schemas.ts";

export const deliveryTable = table(
  "webhook_deliveries",
  {
    shop: integer,
    endpoint_id: text,
    id: integer,
    kind: enumeration(...deliveryKinds),
    webhook_id: text,
    event_id: optional(integer),
    event_type: text,
    attempt: integer,
    at: integer,
    duration: integer,
    outcome: enumeration("succeeded", "failed"),
    failure: optional(text),
    status: optional(integer),
    response: optional(text),
  },
  {
    key: ["shop", "endpoint_id", "id"],
    indices: {
      webhook_deliveries_by_outcome: { on: "shop, endpoint_id, outcome, id" },
      webhook_deliveries_by_time: { on: "at" },
    },
  },
);

type DeliveryRow = Omit<RowOf<typeof deliveryTable>, "shop" | "endpoint_id" | "failure"> & {
  failure: SendFailure | null;
};

type OldRow = Pick<RowOf<typeof deliveryTable>, "shop" | "endpoint_id" | "id" | "at">;

/** How long a delivery is stored, in milliseconds. */
const RETENTION = 7 * DAY_MS;
/** Transactions in one round of background work. The next round deletes the rest. */
const BATCHES = 20;

const columns = "id, kind, webhook_id, event_id, event_type, attempt, at, duration, outcome, failure, status";
const ofEndpoint = "shop = $1 AND endpoint_id = $2";

export const deliveryById = query<[...KeyInShop, id: bigint], DeliveryRow>(
  `SELECT ${columns}, response FROM webhook_deliveries WHERE ${ofEndpoint} AND id = $3`,
);
const deliveriesBefore = query<[...KeyInShop, id: bigint, limit: number], DeliveryRow>(
  `SELECT ${columns}, NULL AS response FROM webhook_deliveries
   WHERE ${ofEndpoint} AND id < $3 ORDER BY id DESC LIMIT $4`,
);
const deliveriesBeforeByOutcome = query<
  [...KeyInShop, outcome: DeliveryOutcome, id: bigint, limit: number],
  DeliveryRow
>(
  `SELECT ${columns}, NULL AS response FROM webhook_deliveries
   WHERE ${ofEndpoint} AND outcome = $3 AND id < $4 ORDER BY id DESC LIMIT $5`,
);

const old = acrossShops<[at: number, limit: number], OldRow>(
  "SELECT shop, endpoint_id, id, at FROM webhook_deliveries WHERE at <= $1 ORDER BY at LIMIT $2",
);
const remove = change<[...KeyInShop, id: bigint]>(`DELETE FROM webhook_deliveries WHERE ${ofEndpoint} AND id = $3`);

/** One delivery, as clients read it. */
export function* deliveryOf(shop: ShopNumber, endpointId: string, id: bigint) {
  const row = yield* first(deliveryById, shop, endpointId, id);
  return row ? toDelivery(row) : failure(deliveryNotFound, `The endpoint has no delivery ${id}.`);
}

/** Up to `limit` deliveries with an id below `after` (from the newest on, if it is absent), the newest first. */
export function* deliveryPage(
  shop: ShopNumber,
  endpointId: string,
  after: bigint | undefined,
  limit: number,
  outcome: DeliveryOutcome | undefined,
): Query<Page<Delivery>> {
  const end = after ?? INT64_MAX;
  const rows = outcome
    ? yield* all(deliveriesBeforeByOutcome, shop, endpointId, outcome, end, limit + 1)
    : yield* all(deliveriesBefore, shop, endpointId, end, limit + 1);
  return pageOf(rows, limit, toDelivery, ({ id }) => id);
}

function toDelivery(row: DeliveryRow): Delivery {
  const { id, kind, outcome, failure: reason, status, response } = row;
  return {
    id,
    kind,
    webhookId: row.webhook_id,
    type: row.event_type,
    ...(row.event_id !== null && { eventId: row.event_id }),
    attempt: Number(row.attempt),
    at: timestampOf(row.at),
    durationMs: Number(row.duration),
    outcome,
    ...(reason && { failure: reason, message: sendFailures[reason] }),
    ...(status !== null && { status: Number(status) }),
    ...(response !== null && { response }),
  };
}

/** Deletes some of the deliveries that are too old. Rejects with `StorageUnavailable`. */
export async function deleteOldDeliveries(storage: Storage, now: ExpiryTime): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch++) {
    const found = await storage.read(all(old, now - RETENTION, DELETE_BATCH_SIZE));
    if (found.length === 0) return;
    await storage.write(() =>
      together(found.map(({ shop, endpoint_id, id }) => all(remove, shopNumber(shop), endpoint_id, id))),
    );
  }
}
