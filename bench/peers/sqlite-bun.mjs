// Bun's HTTP server that reads the same headers and the same rows of the store as the service, and builds their JSON: what
// HTTP and SQLite alone cost the service on this runtime. It has no keys, limits, checks, logs or metrics.
import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { plainById, rowsAfterByStatus, rowsNear } from "../../src/domains/pets/pets.statements.ts";
import { FIRST_SHOP } from "../seed.ts";
import { readHeaders } from "./read-headers.mjs";

const { get, list } = JSON.parse(readFileSync(process.env.RESPONSES, "utf8"));
const [animalHeaders, pageHeaders] = [get, list].map(({ headers }) => new Headers(headers));
const database = new Database(process.env.STORE);
database.run("PRAGMA cache_size = -8192"); // KiB, as the service
const [begin, end] = [database.prepare("BEGIN"), database.prepare("COMMIT")];
const [byId, near, byStatus] = [plainById, rowsNear.plain, rowsAfterByStatus.plain].map(({ sql }) =>
  database.prepare(sql),
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

const toPet = ({ id, name, category_id, status }) => ({ id, name, categoryId: category_id, status });

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  development: false,
  routes: {
    "/v1/pets": ({ headers, url }) => {
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
