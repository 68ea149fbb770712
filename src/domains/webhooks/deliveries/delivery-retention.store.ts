import { each } from "../../../storage/combined-steps.ts";
import { DELETE_BATCH_SIZE } from "../../../storage/owned-table.ts";
import { acrossShops, type Row, statement } from "../../../storage/statement.ts";
import type { Storage } from "../../../storage/storage.ts";
import { DAY_MS } from "../../../timing/units.ts";

interface OldRow extends Row {
  shop: bigint;
  endpoint_id: string;
  id: bigint;
  at: bigint;
}

/** How long an attempt is stored, in milliseconds. */
const RETENTION = 7 * DAY_MS;
/** Transactions in one round of background work. The next round deletes the rest. */
const BATCHES = 20;

const old = acrossShops<OldRow>(
  "SELECT shop, endpoint_id, id, at FROM webhook_deliveries WHERE at <= $1 ORDER BY at LIMIT $2",
);
const remove = statement("DELETE FROM webhook_deliveries WHERE shop = $1 AND endpoint_id = $2 AND id = $3");

/** Deletes attempts that are too old. `now` is in unix milliseconds. Rejects with `StorageUnavailable`. */
export async function deleteOldDeliveries(storage: Storage, now: number): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch++) {
    const found = await storage.all(old, now - RETENTION, DELETE_BATCH_SIZE);
    if (found.length === 0) return;
    const rows = found.map(({ shop, endpoint_id, id }) => [shop, endpoint_id, id]);
    await storage.write(() => each(remove, rows));
  }
}
