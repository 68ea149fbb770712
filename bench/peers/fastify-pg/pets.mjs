import { digestOf, KEPT, withoutNull } from "../embedded/pets.mjs";

const COLUMNS = 'id, name, category_id AS "categoryId", status';

// All animals are in one shop, as in the service's store.
const BY_ID = `SELECT ${COLUMNS} FROM pets WHERE shop = 1 AND id = $1`;
const PAGE = `SELECT ${COLUMNS} FROM pets WHERE shop = 1 AND id > $1 ORDER BY id LIMIT $2`;
const PAGE_BY_STATUS = `SELECT ${COLUMNS} FROM pets WHERE shop = 1 AND status = $1 AND id > $2 ORDER BY id LIMIT $3`;
// An animal, its event and, with an idempotency key, the response, in one statement and so in one transaction.
const INSERT = `
  WITH known AS (
    SELECT fingerprint, response FROM stored_responses WHERE shop = 1 AND digest = $8 AND due_at > $4
  ), counted AS (
    UPDATE shops SET last_pet_id = last_pet_id + 1, last_event_id = last_event_id + 1
    WHERE shop = 1 AND NOT EXISTS (SELECT FROM known)
    RETURNING last_pet_id AS id, last_event_id AS event_id, '{"id":' || last_pet_id || $7 AS text
  ), added AS (
    INSERT INTO pets (shop, id, name, category_id, status, added_at)
    SELECT 1, id, $1::text, $2::bigint, $3::text, $4::bigint FROM counted
  ), logged AS (
    INSERT INTO events (shop, id, at, type, under, actor, request_id, data)
    SELECT 1, event_id, $4::bigint, 'pet.created', id, $5, $6, text FROM counted
  ), kept AS (
    INSERT INTO stored_responses (shop, digest, fingerprint, response, due_at)
    SELECT 1, $8::text, $9::text, text, $10::bigint FROM counted WHERE $8::text IS NOT NULL
  )
  SELECT text, NULL AS fingerprint FROM counted UNION ALL SELECT response, fingerprint FROM known`;
/** The error of two requests with the same idempotency key at the same time. */
const UNIQUE_VIOLATION = "23505";

/** The animals. Statements have names, so that each connection prepares them once. */
export class PetStore {
  #pool;

  constructor(pool) {
    this.#pool = pool;
  }

  async get(id) {
    const { rows } = await this.#pool.query({ name: "pet", text: BY_ID, values: [id] });
    return rows[0] && withoutNull(rows[0]);
  }

  async list(after, limit, status) {
    const { rows } = await this.#pool.query(
      status
        ? { name: "page-by-status", text: PAGE_BY_STATUS, values: [status, after, limit] }
        : { name: "page", text: PAGE, values: [after, limit] },
    );
    return rows.map(withoutNull);
  }

  /** As that of the embedded store. */
  async add({ name, categoryId, status }, actor, requestId, key) {
    const now = Date.now();
    const body = JSON.stringify({ name, categoryId, status });
    const [digest, fingerprint] = key === undefined ? [null, null] : [digestOf(`${actor}\n${key}`), digestOf(body)];
    const values = [name, categoryId, status ?? null, now, actor, requestId, `,${body.slice(1)}`];
    const insert = { name: "add", text: INSERT, values: [...values, digest, fingerprint, now + KEPT] };
    const { rows } = await this.#pool.query(insert).catch((error) => {
      if (error.code === UNIQUE_VIOLATION) return this.#pool.query(insert); // which finds the response
      throw error;
    });
    const [{ text, fingerprint: known }] = rows;
    if (known === null) return { text };
    return known === fingerprint ? { text, isReplay: true } : undefined;
  }
}
