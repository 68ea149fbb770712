import { INT64_MAX, timestampOf } from "../../../contract/schemas.ts";
import { type Page, pageOf } from "../../../storage/pages.ts";
import { type Row, statement } from "../../../storage/statement.ts";
import { all, first, type Transaction } from "../../../storage/transaction.ts";
import type { KeyInShop } from "../endpoints/endpoints.statements.ts";
import {
  type Delivery,
  type DeliveryKind,
  type DeliveryOutcome,
  type SendFailure,
  sendFailures,
} from "../webhooks.schemas.ts";

interface DeliveryRow extends Row {
  id: bigint;
  kind: DeliveryKind;
  webhook_id: string;
  event_id: bigint | null;
  event_type: string;
  attempt: bigint;
  at: bigint;
  duration: bigint;
  outcome: DeliveryOutcome;
  failure: SendFailure | null;
  status: bigint | null;
  response: string | null;
}

const columns = "id, kind, webhook_id, event_id, event_type, attempt, at, duration, outcome, failure, status";
const ofEndpoint = "shop = $1 AND endpoint_id = $2";

export const deliveryById = statement<[...KeyInShop, id: bigint], DeliveryRow>(
  `SELECT ${columns}, response FROM webhook_deliveries WHERE ${ofEndpoint} AND id = $3`,
);
const deliveriesBefore = statement<[...KeyInShop, id: bigint, limit: number], DeliveryRow>(
  `SELECT ${columns}, NULL AS response FROM webhook_deliveries
   WHERE ${ofEndpoint} AND id < $3 ORDER BY id DESC LIMIT $4`,
);
const deliveriesBeforeByOutcome = statement<
  [...KeyInShop, outcome: DeliveryOutcome, id: bigint, limit: number],
  DeliveryRow
>(
  `SELECT ${columns}, NULL AS response FROM webhook_deliveries
   WHERE ${ofEndpoint} AND outcome = $3 AND id < $4 ORDER BY id DESC LIMIT $5`,
);

/** One delivery, as clients read it. */
export function* deliveryOf(shop: number, endpointId: string, id: bigint): Transaction<Delivery | undefined> {
  const row = yield* first(deliveryById, shop, endpointId, id);
  return row && toDelivery(row);
}

/** Up to `limit` deliveries with an id below `after` (from the newest on, if it is absent), the newest first. */
export function* deliveryPage(
  shop: number,
  endpointId: string,
  after: bigint | undefined,
  limit: number,
  outcome: DeliveryOutcome | undefined,
): Transaction<Page<Delivery>> {
  const end = after ?? INT64_MAX;
  const rows = outcome
    ? yield* all(deliveriesBeforeByOutcome, shop, endpointId, outcome, end, limit + 1)
    : yield* all(deliveriesBefore, shop, endpointId, end, limit + 1);
  return pageOf(rows, limit, toDelivery, ({ id }) => id);
}

function toDelivery(row: DeliveryRow): Delivery {
  const { id, kind, outcome, failure, status, response } = row;
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
    ...(failure && { failure, message: sendFailures[failure] }),
    ...(status !== null && { status: Number(status) }),
    ...(response !== null && { response }),
  };
}
