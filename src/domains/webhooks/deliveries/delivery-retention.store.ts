import { together } from "../../../storage/combined-steps.ts";
import { DELETE_BATCH_SIZE } from "../../../storage/owned-table.ts";
import { acrossShops, type Row, statement } from "../../../storage/statement.ts";
import type { Storage } from "../../../storage/storage.ts";
import { all } from "../../../storage/transaction.ts";
import { DAY_MS, MINUTE_MS } from "../../../timing/clock.ts";
import { Pause } from "../../../timing/waiting.ts";

interface OldRow extends Row {
  shop: bigint;
  endpoint_id: string;
  id: bigint;
  at: bigint;
}

/** How long a delivery is stored, in milliseconds of its shop's clock. */
const RETENTION = 7 * DAY_MS;
/** The pause between two searches in sandboxes whose clock is ahead. They are rare because they read all endpoints. */
const PAUSE = MINUTE_MS;
/** Transactions in one round of background work. The next round deletes the rest. */
const BATCHES = 20;

const old = acrossShops<[at: number, limit: number], OldRow>(
  "SELECT shop, endpoint_id, id, at FROM webhook_deliveries WHERE at <= $1 ORDER BY at LIMIT $2",
);
// Deliveries have the time of their shop. In a sandbox that was fast-forwarded, the index by time finds them too late.
const oldestInAdvanced = acrossShops<[at: number, limit: number], OldRow & { ahead: bigint }>(`
  SELECT shops.shop, endpoint_id, oldest.id, at, ahead FROM webhook_endpoints AS endpoints
    JOIN shops USING (account_id, mode) JOIN webhook_deliveries AS oldest ON oldest.shop = shops.shop
      AND endpoint_id = endpoints.id
      AND oldest.id = (SELECT min(id) FROM webhook_deliveries WHERE shop = shops.shop AND endpoint_id = endpoints.id)
  WHERE ahead > 0 AND at <= $1 + ahead LIMIT $2
`);
const removeBefore = statement<[shop: number, endpointId: string, at: number]>(
  "DELETE FROM webhook_deliveries WHERE shop = $1 AND endpoint_id = $2 AND at <= $3",
);
const remove = statement<[shop: number, endpointId: string, id: bigint]>(
  "DELETE FROM webhook_deliveries WHERE shop = $1 AND endpoint_id = $2 AND id = $3",
);

/** Deletes deliveries that are too old by the clock of their shop. */
export class DeliveryRetention {
  readonly #storage: Storage;
  readonly #pause = new Pause(PAUSE);

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Deletes some old deliveries. `now` is real time in Unix milliseconds. Rejects with `StorageUnavailable`. */
  async sweep(now: number): Promise<void> {
    await deleteOldDeliveries(this.#storage, now);
    if (!this.#pause.isOver(now)) return;
    const before = now - RETENTION;
    const endpoints = await this.#storage.read(all(oldestInAdvanced, before, BATCHES));
    for (const { shop, endpoint_id, ahead } of endpoints) {
      await this.#storage.write(() => all(removeBefore, Number(shop), endpoint_id, before + Number(ahead)));
    }
    if (endpoints.length < BATCHES) this.#pause.start(now);
  }
}

/** Deletes deliveries that are too old by real time, and so by the clock of their shop, which is never behind it. */
export async function deleteOldDeliveries(storage: Storage, now: number): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch++) {
    const found = await storage.read(all(old, now - RETENTION, DELETE_BATCH_SIZE));
    if (found.length === 0) return;
    await storage.write(() =>
      together(found.map(({ shop, endpoint_id, id }) => all(remove, Number(shop), endpoint_id, id))),
    );
  }
}
