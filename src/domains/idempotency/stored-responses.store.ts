import { RESPONSE_LIFETIME_HOURS } from "../../contract/requests.ts";
import type { ClaimTimes, StoredResponse, StoredResponses } from "../../http/interfaces.ts";
import { together, withoutCommit } from "../../storage/combined-steps.ts";
import { DELETE_BATCH_SIZE, shopTable } from "../../storage/owned-table.ts";
import { acrossShops, lockStatement, type Row, statement } from "../../storage/statement.ts";
import type { Storage } from "../../storage/storage.ts";
import { all, first, type Transaction } from "../../storage/transaction.ts";
import { HOUR_MS } from "../../timing/clock.ts";
import { ShopDeleted } from "../shops/shops.store.ts";

interface ResponseRow extends Row {
  fingerprint: string;
  response: string;
}
interface DigestRow extends Row {
  digest: string;
}
/** A response that may be deleted after `due_at`, a real time in Unix milliseconds. */
interface DueRow extends DigestRow {
  shop: bigint;
  due_at: bigint;
}

type Key = [shop: number, digest: string];

export const storedResponseTables = [shopTable("stored_responses", "digest")];

const LIFETIME = RESPONSE_LIFETIME_HOURS * HOUR_MS;
/** Transactions in one round of background work. The next round deletes the rest. */
const BATCHES = 20;

// The insertion comes first: an engine with concurrent transactions makes it wait for another one of the same key. A
// response expires by the shop's clock. It is deleted by real time, which clients cannot advance. `$4` is the real time
// of deletion, and `excluded.expires_at - $5` the present time of the shop's clock.
const claim = lockStatement<
  [shop: number, digest: string, fingerprint: string, dueAt: number, lifetime: number],
  DigestRow
>(
  `INSERT INTO stored_responses (shop, digest, fingerprint, response, expires_at, due_at)
   SELECT shop, $2, $3, '', $4 + ahead, $4 FROM shops WHERE shop = $1 AND account_id IS NOT NULL
   ON CONFLICT (shop, digest) DO UPDATE SET
     fingerprint = excluded.fingerprint, response = '', expires_at = excluded.expires_at, due_at = excluded.due_at
     WHERE stored_responses.expires_at <= excluded.expires_at - $5
   RETURNING digest`,
);
const find = statement<Key, ResponseRow>(
  "SELECT fingerprint, response FROM stored_responses WHERE shop = $1 AND digest = $2",
);
const shopExists = statement<[shop: number]>("SELECT shop FROM shops WHERE shop = $1 AND account_id IS NOT NULL");
// The change may have advanced the clock of the shop.
const setResponse = statement<[response: string, ...Key]>(`
  UPDATE stored_responses SET response = $1, expires_at = due_at + (SELECT ahead FROM shops WHERE shop = $2)
  WHERE shop = $2 AND digest = $3
`);
const move = statement<[to: number, ...Key]>("UPDATE stored_responses SET shop = $1 WHERE shop = $2 AND digest = $3");
const remove = statement<Key>("DELETE FROM stored_responses WHERE shop = $1 AND digest = $2");
const due = acrossShops<[dueAt: number, limit: number], DueRow>(
  "SELECT shop, digest, due_at FROM stored_responses WHERE due_at <= $1 ORDER BY due_at LIMIT $2",
);
const removeExpired = statement<[...Key, dueAt: number]>(
  "DELETE FROM stored_responses WHERE shop = $1 AND digest = $2 AND due_at <= $3",
);

/** Stored responses, in the store. */
export class StoredResponseStore implements StoredResponses {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  *claim(
    shop: number,
    digest: string,
    fingerprint: string,
    { now, expiry }: ClaimTimes,
  ): Transaction<StoredResponse | undefined> {
    const dueAt = now + LIFETIME;
    for (;;) {
      if (yield* first(claim, shop, digest, fingerprint, dueAt, dueAt - expiry)) return undefined;
      const stored = yield* first(find, shop, digest);
      if (stored) return { fingerprint: stored.fingerprint, response: stored.response };
      // Otherwise another process has just released it, or the shop is gone.
      if (!(yield* first(shopExists, shop))) throw new ShopDeleted();
    }
  }

  withoutCommit<T>(change: Transaction<T>): Transaction<T> {
    return withoutCommit(change);
  }

  *store(shop: number, digest: string, response: string): Transaction<void> {
    yield* all(setResponse, response, shop, digest);
  }

  *move(shop: number, digest: string, to: number): Transaction<void> {
    yield* all(move, to, shop, digest);
  }

  *release(shop: number, digest: string): Transaction<void> {
    yield* all(remove, shop, digest);
  }

  /** Deletes expired responses, the oldest first: at most `BATCHES` batches. Later calls delete the rest. */
  async deleteExpired(now: number): Promise<void> {
    for (let batch = 0; batch < BATCHES; batch++) {
      const found = await this.#storage.read(all(due, now, DELETE_BATCH_SIZE));
      if (found.length === 0) return;
      await this.#storage.write(() =>
        together(found.map(({ shop, digest }) => all(removeExpired, Number(shop), digest, now))),
      );
    }
  }
}
