// Bun's HTTP server that reads the same headers and the same rows of the store as the service, builds their JSON, and adds
// the same rows: what HTTP and SQLite alone cost the service on this runtime. It has no keys, limits, checks, logs or
// metrics.
import { Database } from "bun:sqlite";
import { PetStore, SHOP } from "./embedded/pets.mjs";
import { openStore } from "./embedded/store.mjs";
import { readHeaders } from "./read-headers.mjs";
import { beginRead, byStatus, near, newHeaders, pageHeaders, sendAnimal, toPet } from "./read-store.mjs";

const SPAN = 63;
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
        readHeaders(request.headers, true);
        const pet = await add(JSON.parse(Buffer.from(await request.bytes()).toString()));
        newHeaders.set("Location", `/v1/pets/${pet.id}`);
        return new Response(JSON.stringify(pet), { status: 201, headers: newHeaders });
      },
    },
    "/v1/pets/:petId": ({ headers, params }) => {
      readHeaders(headers);
      return sendAnimal(SHOP, params.petId);
    },
  },
});
