// Bun's HTTP server that finds the shop of each key in memory, reads the same row of an animal as the service, and keeps
// the first page of each shop: what it costs the service, with HTTP, memory and SQLite alone, that each request is about
// another shop. It has no limits, checks, counts, logs or metrics.
import { readHeaders } from "./read-headers.mjs";
import { beginRead, byStatus, database, pageHeaders, sendAnimal, toPet } from "./read-store.mjs";

const PAGE = 20;
const shops = new Map(database.query("SELECT digest, shop FROM api_keys JOIN shops USING (account_id, mode)").values());
const pages = new Map();

/** The shop of the key, by the digest of the key as the service stores it. */
function shopOf(headers) {
  readHeaders(headers);
  const key = headers.get("authorization").slice("Bearer ".length);
  return shops.get(Bun.SHA256.hash(key, "base64"));
}

/** Reads the first page of available animals, and keeps it. */
function readPage(shop) {
  beginRead();
  const page = JSON.stringify(byStatus.all(shop, "available", 0, PAGE).map(toPet));
  pages.set(shop, page);
  return page;
}

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  development: false,
  routes: {
    "/v1/pets": ({ headers }) => {
      const shop = shopOf(headers);
      return new Response(pages.get(shop) ?? readPage(shop), { headers: pageHeaders });
    },
    "/v1/pets/:petId": ({ headers, params }) => sendAnimal(shopOf(headers), params.petId),
  },
});
