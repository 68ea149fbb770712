// Bun's HTTP server that reads the same headers and the same rows of the store as the service, builds their JSON, and adds
// the same rows: what HTTP and SQLite alone cost the service on this runtime. It has no keys, limits, checks, logs or
// metrics.
import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { plainById, rowsAfterByStatus, rowsNear } from "../../src/domains/pets/pets.statements.ts";
import { withStablePlan } from "../../src/storage/sqlite/stable-plan.ts";
import { FIRST_SHOP } from "../seed.ts";
import { PetStore } from "./embedded/pets.mjs";
import { openStore } from "./embedded/store.mjs";
import { readHeaders } from "./read-headers.mjs";

const { get, list, create } = JSON.parse(readFileSync(process.env.RESPONSES, "utf8"));
const [animalHeaders, pageHeaders, newHeaders] = [get, list, create].map(({ headers }) => new Headers(headers));
const database = new Database(process.env.STORE);
database.run("PRAGMA cache_size = -8192"); // KiB, as the service
const [begin, end] = [database.prepare("BEGIN"), database.prepare("COMMIT")];
const [byId, near, byStatus] = [plainById, rowsNear.plain, rowsAfterByStatus.plain].map(({ sql }) =>
  database.prepare(withStablePlan(sql)),
);
const SPAN = 63;
let isReading = false;

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

const writer = openStore(Database, process.env.STORE);
const [beginWrite, commit] = [writer.prepare("BEGIN IMMEDIATE"), writer.prepare("COMMIT")];
const pets = new PetStore(writer);
let waiting = [];

/** All creates of a turn of the event loop share a commit and its sync. */
function add(pet) {
  return new Promise((resolve) => {
    if (waiting.push([pet, resolve]) === 1) setImmediate(addWaiting);
  });
}

function addWaiting() {
  const group = waiting;
  waiting = [];
  beginWrite.run();
  const added = group.map(([pet, resolve]) => [pets.insert(pet, "key", "request"), resolve]);
  commit.run();
  for (const [pet, resolve] of added) resolve(pet);
}

const toPet = ({ id, name, category_id, status }) => ({ id, name, categoryId: category_id, status });

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
        let rows = near.all(FIRST_SHOP, status, after, after + SPAN, limit + 1);
        if (rows.length <= limit) rows = byStatus.all(FIRST_SHOP, status, after, limit + 1);
        const items = rows.slice(0, limit).map(toPet);
        const path = `/v1/pets?limit=${limit}&status=${status}&cursor=${items.at(-1)?.id}`;
        pageHeaders.set("Link", `<${path}>; rel="next"`);
        return new Response(JSON.stringify(items), { headers: pageHeaders });
      },
      POST: async (request) => {
        readHeaders(request.headers, true);
        const pet = await add(JSON.parse(Buffer.from(await request.bytes()).toString()));
        newHeaders.set("Location", `/v1/pets/${pet.id}`);
        return new Response(JSON.stringify(pet), { status: 201, headers: newHeaders });
      },
    },
    "/v1/pets/:petId": ({ headers, params }) => {
      readHeaders(headers);
      beginRead();
      const row = byId.get(FIRST_SHOP, Number(params.petId));
      return row
        ? new Response(JSON.stringify(toPet(row)), { headers: animalHeaders })
        : new Response(null, { status: 404 });
    },
  },
});
