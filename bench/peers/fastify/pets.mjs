const COLUMNS = "id, name, category_id AS categoryId, status";

/** The animals, with statements that are prepared once. */
export class PetStore {
  #byId;
  #page;
  #pageByStatus;
  #insert;

  constructor(store) {
    this.#byId = store.prepare(`SELECT ${COLUMNS} FROM pets WHERE id = ?`);
    this.#page = store.prepare(`SELECT ${COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT ?`);
    this.#pageByStatus = store.prepare(`SELECT ${COLUMNS} FROM pets WHERE status = ? AND id > ? ORDER BY id LIMIT ?`);
    this.#insert = store.prepare("INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)");
  }

  get(id) {
    const row = this.#byId.get(id);
    return row && withoutNull(row);
  }

  list(after, limit, status) {
    const rows = status ? this.#pageByStatus.all(status, after, limit) : this.#page.all(after, limit);
    return rows.map(withoutNull);
  }

  /** Adds one animal; it is on disk when this returns. */
  add({ name, categoryId, status }) {
    // SQLite would refuse a number that better-sqlite3 binds as a real one.
    const { lastInsertRowid } = this.#insert.run(name, BigInt(categoryId), status ?? null);
    return { id: Number(lastInsertRowid), name, categoryId, status };
  }
}

/** An animal without a status has no such field. */
function withoutNull(row) {
  if (row.status === null) delete row.status;
  return row;
}
