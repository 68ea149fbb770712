const COLUMNS = 'id, name, category_id AS "categoryId", status';

// All animals are in one shop, as in the service's store.
const BY_ID = `SELECT ${COLUMNS} FROM pets WHERE shop = 1 AND id = $1`;
const PAGE = `SELECT ${COLUMNS} FROM pets WHERE shop = 1 AND id > $1 ORDER BY id LIMIT $2`;
const PAGE_BY_STATUS = `SELECT ${COLUMNS} FROM pets WHERE shop = 1 AND status = $1 AND id > $2 ORDER BY id LIMIT $3`;
// An animal and its event, in one statement and so in one transaction.
const INSERT = `
  WITH counted AS (
    UPDATE shops SET last_pet_id = last_pet_id + 1, last_event_id = last_event_id + 1 WHERE shop = 1
    RETURNING last_pet_id AS id, last_event_id AS event_id
  ), added AS (
    INSERT INTO pets (shop, id, name, category_id, status, added_at)
    SELECT 1, id, $1::text, $2::bigint, $3::text, $4::bigint FROM counted RETURNING id
  ), logged AS (
    INSERT INTO events (shop, id, at, type, pet_id, actor, request_id, data)
    SELECT 1, event_id, $4::bigint, 'pet.created', id, $5, $6, '{"id":' || id || $7 FROM counted
  )
  SELECT id FROM added`;

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

  /** Adds one animal and its event; both are on disk when this resolves. */
  async add({ name, categoryId, status }, actor, requestId) {
    const jsonAfterId = `,${JSON.stringify({ name, categoryId, status }).slice(1)}`;
    const values = [name, categoryId, status ?? null, Date.now(), actor, requestId, jsonAfterId];
    const { rows } = await this.#pool.query({ name: "add", text: INSERT, values });
    return { id: rows[0].id, name, categoryId, status };
  }
}

/** An animal without a status has no such field. */
function withoutNull(row) {
  if (row.status === null) delete row.status;
  return row;
}
