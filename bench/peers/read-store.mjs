// What the peers on Bun's SQLite have in common: they read the store as the service does.
import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";

const { get, list, create } = JSON.parse(readFileSync(process.env.RESPONSES, "utf8"));
/** The service's own headers of an animal, of a page, and of a new animal. */
export const [animalHeaders, pageHeaders, newHeaders] = [get, list, create].map(({ headers }) => new Headers(headers));

export const database = new Database(process.env.STORE);
database.run("PRAGMA cache_size = -8192"); // KiB, as the service
const [begin, end] = [database.prepare("BEGIN"), database.prepare("COMMIT")];
// As texts, because to import them would load a part of the service, and with it 15 MB of memory.
export const [byId, near, byStatus] = JSON.parse(process.env.STATEMENTS).map((sql) => database.prepare(sql));
let isReading = false;

/** All reads of a turn of the event loop share a transaction. */
export function beginRead() {
  if (isReading) return;
  isReading = true;
  begin.run();
  setImmediate(() => {
    isReading = false;
    end.run();
  });
}

/** The response to a read of one animal. */
export function sendAnimal(shop, petId) {
  beginRead();
  const row = byId.get(shop, Number(petId));
  return row
    ? new Response(JSON.stringify(toPet(row)), { headers: animalHeaders })
    : new Response(null, { status: 404 });
}

export function toPet({ id, name, category_id, status }) {
  return { id, name, categoryId: category_id, status };
}
