// Bun's HTTP server that reads the same headers and the same rows of the store as the service, builds their JSON, and adds
// the same rows: what HTTP and SQLite alone cost the service on this runtime. It has no API keys, limits, checks, logs or
// metrics.
import { Database } from "bun:sqlite";
import { PetStore, SHOP } from "./embedded/pets.mjs";
import { openStore } from "./embedded/store.mjs";

const SPAN = 63;
const READ = ["authorization", "petstore-simulate", "if-none-match", "content-length", "x-request-id"];
const READ_OF_CREATE = [...READ, "idempotency-key", "content-type", "content-encoding"];
/** The service's own headers of an animal, of a page, and of a new animal. */
const [animalHeaders, pageHeaders, newHeaders] = JSON.parse(process.env.HEADERS).map((one) => new Headers(one));

const database = new Database(process.env.STORE);
database.run("PRAGMA cache_size = -8192"); // KiB, as the service
const [begin, end] = [database.prepare("BEGIN"), database.prepare("COMMIT")];
// As texts, because to import them would load a part of the service, and with it 15 MB of memory.
const [byId, near, byStatus] = JSON.parse(process.env.STATEMENTS).map((sql) => database.prepare(sql));
let isReading = false;
/** The total length of what was read. Without a use, the compiler could remove the reads. */
let length = 0;

/** Reads the headers that the service reads. */
function readHeaders(headers, names = READ) {
  for (const name of names) length += headers.get(name)?.length ?? 0;
  return length;
}

/** All reads of a turn of the event loop share a transaction. */
function beginRead() {
  if (isReading) return;
  isReading = true;
  begin.run();
  setImmediate(() => {
    isReading = false;
    end.run();
  });
}

function toPet({ id, name, category_id, status }) {
  return { id, name, categoryId: category_id, status };
}

const writer = openStore(Database, process.env.STORE);
const [beginWrite, commit] = [writer.prepare("BEGIN IMMEDIATE"), writer.prepare("COMMIT")];
const pets = new PetStore(writer);
let waiting = [];

/** All creates of a turn of the event loop share a commit and its sync. */
function add(pet, key) {
  return new Promise((resolve) => {
    if (waiting.push([pet, key, resolve]) === 1) setImmediate(addWaiting);
  });
}

function addWaiting() {
  const group = waiting;
  waiting = [];
  beginWrite.run();
  const added = group.map(([pet, key, resolve]) => [pets.insert(pet, "key", "request", key), resolve]);
  commit.run();
  for (const [outcome, resolve] of added) resolve(outcome);
}

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  development: false,
  routes: {
    "/v1/pets": {
      GET: ({ headers, url }) => {
        readHeaders(headers);
        const query = new URLSearchParams(url.slice(url.indexOf("?")));
        const [limit, status, after] = [Number(query.get("limit")), query.get("status"), Number(query.get("cursor"))];
        beginRead();
        let rows = near.all(SHOP, status, after, after + SPAN, limit + 1);
        if (rows.length <= limit) rows = byStatus.all(SHOP, status, after, limit + 1);
        const items = rows.slice(0, limit).map(toPet);
        const path = `/v1/pets?limit=${limit}&status=${status}&cursor=${items.at(-1)?.id}`;
        pageHeaders.set("Link", `<${path}>; rel="next"`);
        return new Response(JSON.stringify(items), { headers: pageHeaders });
      },
      POST: async (request) => {
        readHeaders(request.headers, READ_OF_CREATE);
        const pet = JSON.parse(Buffer.from(await request.bytes()).toString());
        const { text } = await add(pet, request.headers.get("Idempotency-Key") ?? undefined);
        newHeaders.set("Location", `/v1/pets/${JSON.parse(text).id}`);
        return new Response(text, { status: 201, headers: newHeaders });
      },
    },
    "/v1/pets/:petId": ({ headers, params }) => {
      readHeaders(headers);
      beginRead();
      const row = byId.get(SHOP, Number(params.petId));
      return row
        ? new Response(JSON.stringify(toPet(row)), { headers: animalHeaders })
        : new Response(null, { status: 404 });
    },
  },
});
