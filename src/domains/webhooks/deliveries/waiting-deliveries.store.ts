import { type Row, statement } from "../../../storage/statement.ts";
import { first } from "../../../storage/transaction.ts";
import type { BackgroundWork } from "../../shops/scheduled-work.ts";

interface WaitingRow extends Row {
  deliveries: bigint;
  next: bigint | null;
}

// An endpoint's `due_at` is the time of its next delivery. Each parked sequence counts as one delivery, even if the
// endpoint gets one probe at a time. An endpoint that waits without a parked sequence counts as one.
const waitingOfShop = statement<[shop: number, limit: number], WaitingRow>(`
  SELECT
    (SELECT min(due_at) FROM shops JOIN webhook_endpoints USING (account_id, mode)
      WHERE shops.shop = $1 AND state = 'enabled') AS next,
    (SELECT count(*) FROM (
      SELECT webhook_endpoints.due_at FROM shops JOIN webhook_endpoints USING (account_id, mode)
        LEFT JOIN webhook_parked ON webhook_parked.shop = shops.shop AND endpoint_id = webhook_endpoints.id
      WHERE shops.shop = $1 AND state = 'enabled' AND webhook_endpoints.due_at IS NOT NULL
      LIMIT $2) AS waiting) AS deliveries
`);

/** The messages of a shop that wait for a retry. */
export const waitingDeliveries: BackgroundWork<"webhook_attempt"> = {
  kind: "webhook_attempt",

  *waiting(shop, most) {
    const row = yield* first(waitingOfShop, shop, most);
    return { count: Number(row?.deliveries), next: row?.next == null ? undefined : Number(row.next) };
  },
};
