import { hash } from "node:crypto";

const COLUMNS = "id, name, category_id AS categoryId, status";
/** All animals are in one shop, as in the service's store. */
export const SHOP = 1;
/** How long a response is kept for requests with the same idempotency key, in milliseconds. */
export const KEPT = 86_400_000;

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
      `INSERT INTO events (shop, id, at, type, under, actor, request_id, data)
       VALUES (${SHOP}, ?, ?, 'pet.created', ?, ?, ?, ?)`,
    );
    const find = store.prepare(
      `SELECT fingerprint, response FROM stored_responses WHERE shop = ${SHOP} AND digest = ? AND due_at > ?`,
    );
    const keep = store.prepare(
      `INSERT OR REPLACE INTO stored_responses (shop, digest, fingerprint, response, due_at)
       VALUES (${SHOP}, ?, ?, ?, ?)`,
    );
    const insertPet = ({ name, categoryId, status }, actor, requestId, now) => {
      const { id, eventId } = count.get();
      const text = JSON.stringify({ id, name, categoryId, status });
      // SQLite would refuse a number that better-sqlite3 binds as a real one.
      insert.run(id, name, BigInt(categoryId), status ?? null, now);
      log.run(eventId, now, id, actor, requestId, text);
      return text;
    };
    /** See `add`; in the transaction of the caller. */
    this.insert = (pet, actor, requestId, key) => {
      const now = Date.now();
      if (key === undefined) return { text: insertPet(pet, actor, requestId, now) };
      const digest = digestOf(`${actor}\n${key}`);
      const fingerprint = digestOf(JSON.stringify(pet));
      const known = find.get(digest, now);
      if (known) return known.fingerprint === fingerprint ? { text: known.response, isReplay: true } : undefined;
      const text = insertPet(pet, actor, requestId, now);
      keep.run(digest, fingerprint, text, now + KEPT);
      return { text };
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

  /**
   * Adds one animal, its event and, with an idempotency key, the response, in one transaction; all are on disk when this
   * returns. Returns the animal as JSON, or that of an earlier request with the key; undefined if that one had another body.
   */
  add(pet, actor, requestId, key) {
    return this.#add.immediate(pet, actor, requestId, key);
  }
}

export function digestOf(text) {
  return hash("sha256", text, "base64");
}

/** An animal without a status has no such field. */
export function withoutNull(row) {
  if (row.status === null) delete row.status;
  return row;
}
