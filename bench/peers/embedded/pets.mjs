const COLUMNS = "id, name, category_id AS categoryId, status";
/** All animals are in one shop, as in the service's store. */
export const SHOP = 1;

/** The animals, with statements that are prepared once. */
export class PetStore {
  #byId;
  #page;
  #pageByStatus;
  #add;

  constructor(store) {
    this.#byId = store.prepare(`SELECT ${COLUMNS} FROM pets WHERE shop = ${SHOP} AND id = ?`);
    this.#page = store.prepare(`SELECT ${COLUMNS} FROM pets WHERE shop = ${SHOP} AND id > ? ORDER BY id LIMIT ?`);
    this.#pageByStatus = store.prepare(
      `SELECT ${COLUMNS} FROM pets WHERE shop = ${SHOP} AND status = ? AND id > ? ORDER BY id LIMIT ?`,
    );
    const count = store.prepare(
      `UPDATE shops SET last_pet_id = last_pet_id + 1, last_event_id = last_event_id + 1 WHERE shop = ${SHOP}
       RETURNING last_pet_id AS id, last_event_id AS eventId`,
    );
    const insert = store.prepare(
      `INSERT INTO pets (shop, id, name, category_id, status, added_at) VALUES (${SHOP}, ?, ?, ?, ?, ?)`,
    );
    const log = store.prepare(
      `INSERT INTO events (shop, id, at, type, pet_id, actor, request_id, data)
       VALUES (${SHOP}, ?, ?, 'pet.created', ?, ?, ?, ?)`,
    );
    /** Adds one animal and its event in the transaction of the caller. */
    this.insert = ({ name, categoryId, status }, actor, requestId) => {
      const { id, eventId } = count.get();
      const now = Date.now();
      const pet = { id, name, categoryId, status };
      // SQLite would refuse a number that better-sqlite3 binds as a real one.
      insert.run(id, name, BigInt(categoryId), status ?? null, now);
      log.run(eventId, now, id, actor, requestId, JSON.stringify(pet));
      return pet;
    };
    this.#add = store.transaction(this.insert);
  }

  get(id) {
    const row = this.#byId.get(id);
    return row && withoutNull(row);
  }

  list(after, limit, status) {
    const rows = status ? this.#pageByStatus.all(status, after, limit) : this.#page.all(after, limit);
    return rows.map(withoutNull);
  }

  /** Adds one animal and its event in one transaction; both are on disk when this returns. */
  add(pet, actor, requestId) {
    return this.#add.immediate(pet, actor, requestId);
  }
}

/** An animal without a status has no such field. */
function withoutNull(row) {
  if (row.status === null) delete row.status;
  return row;
}
