import { ANSWER_KEPT_HOURS } from "../../contract/idempotency-key.ts";
import type { Change } from "../../contract/operation.ts";
import type { AnswerRecord, AnswerRecords } from "../../http/ports.ts";
import {
  acrossShops,
  all,
  each,
  first,
  lockStatement,
  nested,
  type Row,
  type Storage,
  statement,
  type Transaction,
} from "../../storage/storage.ts";
import { ShopDeleted } from "../shops/shops.store.ts";

interface RecordRow extends Row {
  fingerprint: string;
  response: string;
}
interface NameRow extends Row {
  digest: string;
}
interface ExpiredRow extends NameRow {
  shop: bigint;
  expires_at: bigint;
}

const LIFETIME = ANSWER_KEPT_HOURS * 60 * 60 * 1000;
/** Records forgotten in one transaction, a bound on the time that it takes from requests, and such in one round. */
const FORGOTTEN_AT_ONCE = 500;
const BATCHES = 20;

// The insertion comes first: an engine with transactions side by side lets it wait for another of the same name. Times
// are those of the shop's clock.
const take = lockStatement<NameRow>(
  `INSERT INTO stored_responses (shop, digest, fingerprint, response, expires_at)
   SELECT shop, $1, $2, '', $3 + ahead FROM shops WHERE shop = $4
   ON CONFLICT (shop, digest) DO UPDATE SET
     fingerprint = excluded.fingerprint, response = '', expires_at = excluded.expires_at
     WHERE stored_responses.expires_at <= excluded.expires_at - $5
   RETURNING digest`,
);
const find = statement<RecordRow>("SELECT fingerprint, response FROM stored_responses WHERE shop = $1 AND digest = $2");
const shopIsThere = statement("SELECT shop FROM shops WHERE shop = $1");
const complete = statement("UPDATE stored_responses SET response = $1 WHERE shop = $2 AND digest = $3");
const remove = statement("DELETE FROM stored_responses WHERE shop = $1 AND digest = $2");
const expired = acrossShops<ExpiredRow>(
  "SELECT shop, digest, expires_at FROM stored_responses WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2",
);
const removeExpired = statement("DELETE FROM stored_responses WHERE shop = $1 AND digest = $2 AND expires_at <= $3");

/** The answers that are kept, in the store. */
export class RetryStore implements AnswerRecords {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  *claim(shop: number, digest: string, fingerprint: string, now: number): Transaction<AnswerRecord | undefined> {
    for (;;) {
      if (yield* first(take, digest, fingerprint, now + LIFETIME, shop, LIFETIME)) return undefined;
      const record = yield* first(find, shop, digest);
      if (record) return { fingerprint: record.fingerprint, answer: record.response };
      // Otherwise another process has just forgotten it, or the shop is gone.
      if (!(yield* first(shopIsThere, shop))) throw new ShopDeleted();
    }
  }

  around<T>(change: Change<T>): Change<T> {
    return nested(change as Transaction<T>) as Change<T>;
  }

  *keep(shop: number, digest: string, answer: string): Transaction<void> {
    yield* all(complete, answer, shop, digest);
  }

  *release(shop: number, digest: string): Transaction<void> {
    yield* all(remove, shop, digest);
  }

  /** Forgets records that have expired, the oldest first: of very many some, the others in later calls. */
  async forgetExpired(now: number): Promise<void> {
    for (let batch = 0; batch < BATCHES; batch++) {
      const found = await this.#storage.all(expired, now, FORGOTTEN_AT_ONCE);
      if (found.length === 0) return;
      const rows = found.map(({ shop, digest }) => [shop, digest, now]);
      await this.#storage.write(() => each(removeExpired, rows));
    }
  }
}
