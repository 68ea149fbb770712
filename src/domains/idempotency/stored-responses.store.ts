import { type DueTimes, type Sandbox, type Waiting, type WaitingRow, waitingOf } from "../../contract/due-times.ts";
import { RESPONSE_LIFETIME_HOURS } from "../../contract/requests.ts";
import type { StoredResponse, StoredResponses } from "../../http/interfaces.ts";
import { together, withoutCommit } from "../../storage/combined-steps.ts";
import { DELETE_BATCH_SIZE, shopTable } from "../../storage/owned-table.ts";
import { acrossShops, change, lockStatement, query, type Row } from "../../storage/statement.ts";
import type { Storage } from "../../storage/storage.ts";
import { all, type Change, first, type Query } from "../../storage/transaction.ts";
import { type ExpiryClock, HOUR_MS } from "../../timing/clock.ts";
import { ShopDeleted } from "../shops/shops.store.ts";

interface ResponseRow extends Row {
  fingerprint: string;
  response: string;
}
type DigestRow = { digest: string };
type DueRow = DigestRow & { shop: bigint };

type Key = [shop: number, digest: string];

export const storedResponseTables = [shopTable("stored_responses", "digest")];

const LIFETIME = RESPONSE_LIFETIME_HOURS * HOUR_MS;
/** Transactions in one round of background work. The next round deletes the rest. */
const BATCHES = 20;

// The insertion comes first: an engine with concurrent transactions makes it wait for another one of the same key.
const claim = lockStatement<[shop: number, digest: string, fingerprint: string, dueAt: number, now: number], DigestRow>(
  `INSERT INTO stored_responses (shop, digest, fingerprint, response, due_at)
   SELECT shop, $2, $3, '', CAST($4 AS BIGINT) FROM shops WHERE shop = $1 AND account_id IS NOT NULL
   ON CONFLICT (shop, digest) DO UPDATE SET fingerprint = excluded.fingerprint, response = '', due_at = excluded.due_at
     WHERE stored_responses.due_at <= $5
   RETURNING digest`,
);
const find = query<Key, ResponseRow>(
  "SELECT fingerprint, response FROM stored_responses WHERE shop = $1 AND digest = $2",
);
const shopExists = query<[shop: number]>("SELECT shop FROM shops WHERE shop = $1 AND account_id IS NOT NULL");
const setResponse = change<[response: string, ...Key]>(
  "UPDATE stored_responses SET response = $1 WHERE shop = $2 AND digest = $3",
);
const move = change<[to: number, ...Key]>("UPDATE stored_responses SET shop = $1 WHERE shop = $2 AND digest = $3");
const remove = change<Key>("DELETE FROM stored_responses WHERE shop = $1 AND digest = $2");
const due = acrossShops<[dueAt: number, limit: number], DueRow>(
  "SELECT shop, digest FROM stored_responses WHERE due_at <= $1 ORDER BY due_at LIMIT $2",
);
const removeExpired = change<[...Key, dueAt: number]>(
  "DELETE FROM stored_responses WHERE shop = $1 AND digest = $2 AND due_at <= $3",
);
const countWaiting = query<[shop: number, now: number, limit: number], WaitingRow>(
  `SELECT count(*) AS count, min(due_at) AS next FROM
     (SELECT due_at FROM stored_responses WHERE shop = $1 AND due_at > $2 LIMIT $3) AS waiting`,
);
// Not that of the fast-forward itself, which is still empty: it lasts as long as any other.
const bringNearer = change<[milliseconds: number, shop: number]>(
  "UPDATE stored_responses SET due_at = due_at - $1 WHERE shop = $2 AND response <> ''",
);

/** Stored responses, in the store. */
export class StoredResponseStore implements StoredResponses, DueTimes {
  readonly #storage: Storage;
  readonly #expiry: Pick<ExpiryClock, "now">;

  constructor(storage: Storage, expiry: Pick<ExpiryClock, "now">) {
    this.#storage = storage;
    this.#expiry = expiry;
  }

  *claim(shop: number, digest: string, fingerprint: string, now: number): Change<StoredResponse | undefined> {
    const dueAt = now + LIFETIME;
    for (;;) {
      if (yield* first(claim, shop, digest, fingerprint, dueAt, this.#expiry.now())) return undefined;
      const stored = yield* first(find, shop, digest);
      if (stored) return { fingerprint: stored.fingerprint, response: stored.response };
      // Otherwise another process has just released it, or the shop is gone.
      if (!(yield* first(shopExists, shop))) throw new ShopDeleted();
    }
  }

  withoutCommit<T>(part: Change<T>): Change<T> {
    return withoutCommit(part);
  }

  *store(shop: number, digest: string, response: string): Change<void> {
    yield* all(setResponse, response, shop, digest);
  }

  *move(shop: number, digest: string, to: number): Change<void> {
    yield* all(move, to, shop, digest);
  }

  *release(shop: number, digest: string): Change<void> {
    yield* all(remove, shop, digest);
  }

  *waiting({ shop }: Sandbox, most: number): Query<Waiting[]> {
    return waitingOf("stored_response", yield* first(countWaiting, shop, this.#expiry.now(), most));
  }

  *bringNearer({ shop }: Sandbox, milliseconds: number): Change<void> {
    yield* all(bringNearer, milliseconds, shop);
  }

  /** Deletes expired responses, the oldest first: at most `BATCHES` batches. Later calls delete the rest. */
  async deleteExpired(): Promise<void> {
    const now = this.#expiry.now();
    for (let batch = 0; batch < BATCHES; batch++) {
      const found = await this.#storage.read(all(due, now, DELETE_BATCH_SIZE));
      if (found.length === 0) return;
      await this.#storage.write(() =>
        together(found.map(({ shop, digest }) => all(removeExpired, Number(shop), digest, now))),
      );
    }
  }
}
