const COLUMNS = 'id, name, category_id AS "categoryId", status';

const BY_ID = `SELECT ${COLUMNS} FROM pets WHERE id = $1`;
const PAGE = `SELECT ${COLUMNS} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`;
const PAGE_BY_STATUS = `SELECT ${COLUMNS} FROM pets WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3`;
const INSERT = "INSERT INTO pets (name, category_id, status, added_at) VALUES ($1, $2, $3, $4) RETURNING id";

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

  /** Adds one animal; it is on disk when this resolves. */
  async add({ name, categoryId, status }) {
    const values = [name, categoryId, status ?? null, Date.now()];
    const { rows } = await this.#pool.query({ name: "add", text: INSERT, values });
    return { id: rows[0].id, name, categoryId, status };
  }
}

/** An animal without a status has no such field. */
function withoutNull(row) {
  if (row.status === null) delete row.status;
  return row;
}
