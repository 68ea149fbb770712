import { ANSWER_KEPT_HOURS } from "../../contract/idempotency-key.ts";
import type { Change } from "../../contract/operation.ts";
import type { AnswerRecord, AnswerRecords } from "../../http/ports.ts";
import { all, first, nested, type Row, type Storage, statement, type Transaction } from "../../storage/storage.ts";

interface RecordRow extends Row {
  fingerprint: string;
  answer: string;
}
interface NameRow extends Row {
  digest: string;
}

const LIFETIME = ANSWER_KEPT_HOURS * 60 * 60 * 1000;
/** Records forgotten in one transaction, a bound on the time that it takes from requests, and such in one round. */
const FORGOTTEN_AT_ONCE = 500;
const BATCHES = 20;

// The insertion comes first: an engine with transactions side by side lets it wait for another of the same name.
const take = statement<NameRow>(
  `INSERT INTO kept_answers (digest, fingerprint, answer, expires_at) VALUES ($1, $2, '', $3)
   ON CONFLICT (digest) DO UPDATE SET
     fingerprint = excluded.fingerprint, answer = '', expires_at = excluded.expires_at
     WHERE kept_answers.expires_at <= $4
   RETURNING digest`,
);
const find = statement<RecordRow>("SELECT fingerprint, answer FROM kept_answers WHERE digest = $1");
const complete = statement("UPDATE kept_answers SET answer = $1 WHERE digest = $2");
const remove = statement("DELETE FROM kept_answers WHERE digest = $1");
const firstExpired = statement<NameRow>(
  "SELECT digest FROM kept_answers WHERE expires_at <= $1 ORDER BY expires_at LIMIT 1",
);
const removeExpired = statement(
  `DELETE FROM kept_answers WHERE digest IN (
     SELECT digest FROM kept_answers WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2
   )`,
);

/** The answers that are kept, in the store. */
export class RetryStore implements AnswerRecords {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  *claim(digest: string, fingerprint: string, now: number): Transaction<AnswerRecord | undefined> {
    for (;;) {
      if (yield* first(take, digest, fingerprint, now + LIFETIME, now)) return undefined;
      const record = yield* first(find, digest);
      if (record) return record; // otherwise another process has just forgotten it
    }
  }

  around<T>(change: Change<T>): Change<T> {
    return nested(change as Transaction<T>) as Change<T>;
  }

  *keep(digest: string, answer: string): Transaction<void> {
    yield* all(complete, answer, digest);
  }

  *release(digest: string): Transaction<void> {
    yield* all(remove, digest);
  }

  /** Forgets records that have expired, the oldest first: of very many some, the others in later calls. */
  async forgetExpired(now: number): Promise<void> {
    for (let batch = 0; batch < BATCHES; batch++) {
      if (!(await this.#storage.first(firstExpired, now))) return;
      await this.#storage.write(() => all(removeExpired, now, FORGOTTEN_AT_ONCE));
    }
  }
}
