import { type ShopNumber, shopNumber } from "../../contract/caller.ts";
import { type DueTimes, type SandboxShop, type Waiting, type WaitingRow, waitingOf } from "../../contract/due-times.ts";
import { RESPONSE_LIFETIME_HOURS } from "../../contract/requests.ts";
import type { StoredResponse, StoredResponses } from "../../http/interfaces.ts";
import { together } from "../../storage/combined-steps.ts";
import { acrossShops, change, lookUp, query } from "../../storage/statement.ts";
import type { Storage } from "../../storage/storage.ts";
import { DELETE_BATCH_SIZE, integer, type RowOf, table, text } from "../../storage/table.ts";
import { all, type Change, first, type Query } from "../../storage/transaction.ts";
import { type ExpiryClock, HOUR_MS } from "../../timing/clock.ts";
import { ShopDeleted } from "../shops/shops.store.ts";

type DigestRow = { digest: string };

type Key = [shop: ShopNumber, digest: string];

/** In the order of time, so that only the index of digests is written at random. */
export const storedResponseTable = table(
  "stored_responses",
  { shop: integer, digest: text, fingerprint: text, response: text, due_at: integer },
  { key: ["shop", "digest"], keepsOrder: true, indices: { stored_responses_by_time: { on: "due_at" } } },
);

const LIFETIME = RESPONSE_LIFETIME_HOURS * HOUR_MS;
/** How many responses one transaction brings nearer: nearly each is on another page. */
const NEARER_AT_ONCE = 250;
/** Transactions in one round of background work. The next round deletes the rest. */
const BATCHES = 20;

// Without a condition on the time, so that PostgreSQL never uses the other index: it plans while the table may be empty.
const find = lookUp<Key, Pick<RowOf<typeof storedResponseTable>, "fingerprint" | "response" | "due_at">>(
  (value) =>
    `SELECT fingerprint, response, due_at FROM stored_responses WHERE shop = ${value(1)} AND digest = ${value(2)}`,
);
// An engine with concurrent transactions makes it wait for another one of the same key.
const add = change<[...Key, fingerprint: string, response: string, dueAt: number, now: number], DigestRow>(
  `INSERT INTO stored_responses (shop, digest, fingerprint, response, due_at)
   SELECT shop, $2, $3, $4, CAST($5 AS BIGINT) FROM shops WHERE shop = $1 AND account_id IS NOT NULL
   ON CONFLICT (shop, digest) DO UPDATE
     SET fingerprint = excluded.fingerprint, response = excluded.response, due_at = excluded.due_at
     WHERE stored_responses.due_at <= $6
   RETURNING digest`,
);
const shopExists = query<[shop: ShopNumber]>("SELECT shop FROM shops WHERE shop = $1 AND account_id IS NOT NULL");
const complete = change<[response: string, ...Key]>(
  "UPDATE stored_responses SET response = $1 WHERE shop = $2 AND digest = $3",
);
const due = acrossShops<[dueAt: number, limit: number], DigestRow & { shop: bigint }>(
  "SELECT shop, digest FROM stored_responses WHERE due_at <= $1 ORDER BY due_at LIMIT $2",
);
const removeExpired = change<[...Key, dueAt: number]>(
  "DELETE FROM stored_responses WHERE shop = $1 AND digest = $2 AND due_at <= $3",
);
const countWaiting = query<[shop: ShopNumber, now: number, limit: number], WaitingRow>(
  `SELECT count(*) AS count, min(due_at) AS next FROM
     (SELECT due_at FROM stored_responses WHERE shop = $1 AND due_at > $2 LIMIT $3) AS waiting`,
);
const nextOfShop = query<[shop: ShopNumber, after: string, limit: number], DigestRow>(
  "SELECT digest FROM stored_responses WHERE shop = $1 AND digest > $2 ORDER BY digest LIMIT $3",
);
/** That of the fast-forward itself is still empty. */
const bringNearer = change<[milliseconds: number, shop: ShopNumber, after: string, last: string]>(
  `UPDATE stored_responses SET due_at = due_at - $1
   WHERE shop = $2 AND digest > $3 AND digest <= $4 AND response <> ''`,
);

/** Stored responses, in the store. */
export class StoredResponseStore implements StoredResponses, DueTimes {
  readonly #storage: Storage;
  readonly #expiry: Pick<ExpiryClock, "now">;

  constructor(storage: Storage, expiry: Pick<ExpiryClock, "now">) {
    this.#storage = storage;
    this.#expiry = expiry;
  }

  *find(shop: ShopNumber, digest: string): Query<StoredResponse | undefined> {
    const found = yield* first(find, shop, digest);
    return found && found.due_at > this.#expiry.now() ? found : undefined;
  }

  *add(shop: ShopNumber, digest: string, { fingerprint, response }: StoredResponse, now: number): Change<boolean> {
    const dueAt = now + LIFETIME;
    if (yield* first(add, shop, digest, fingerprint, response, dueAt, this.#expiry.now())) return true;
    if (yield* first(shopExists, shop)) return false;
    throw new ShopDeleted();
  }

  *complete(shop: ShopNumber, digest: string, response: string): Change<void> {
    yield* all(complete, response, shop, digest);
  }

  *waiting({ shop }: SandboxShop, most: number): Query<Waiting[]> {
    return waitingOf("stored_response", yield* first(countWaiting, shop, this.#expiry.now(), most));
  }

  /** Brings all responses of the shop nearer, in several transactions. Those of an interrupted call may lapse earlier. */
  async finish({ shop }: SandboxShop, milliseconds: number): Promise<void> {
    for (let after = ""; ; ) {
      const last = (await this.#storage.read(all(nextOfShop, shop, after, NEARER_AT_ONCE))).at(-1)?.digest;
      if (last === undefined) return;
      const from = after;
      await this.#storage.write(() => all(bringNearer, milliseconds, shop, from, last), shop);
      after = last;
    }
  }

  /** Deletes expired responses, the oldest first: at most `BATCHES` batches. Later calls delete the rest. */
  async deleteExpired(): Promise<void> {
    const now = this.#expiry.now();
    for (let batch = 0; batch < BATCHES; batch++) {
      const found = await this.#storage.read(all(due, now, DELETE_BATCH_SIZE));
      if (found.length === 0) return;
      await this.#storage.write(() =>
        together(found.map(({ shop, digest }) => all(removeExpired, shopNumber(shop), digest, now))),
      );
    }
  }
}
