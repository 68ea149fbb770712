import { type Row, statement } from "../../../storage/statement.ts";
import type { DeliveryKind, DeliveryOutcome, SendFailure } from "../webhooks.schemas.ts";

export interface DeliveryRow extends Row {
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

export const deliveryById = statement<DeliveryRow>(
  `SELECT ${columns}, response FROM webhook_deliveries WHERE ${ofEndpoint} AND id = $3`,
);
export const deliveriesBefore = statement<DeliveryRow>(
  `SELECT ${columns}, NULL AS response FROM webhook_deliveries
   WHERE ${ofEndpoint} AND id < $3 ORDER BY id DESC LIMIT $4`,
);
export const deliveriesBeforeByOutcome = statement<DeliveryRow>(
  `SELECT ${columns}, NULL AS response FROM webhook_deliveries
   WHERE ${ofEndpoint} AND outcome = $3 AND id < $4 ORDER BY id DESC LIMIT $5`,
);
