// Bun's HTTP server that finds the shop of each key in memory, counts its requests there, and saves the counts twice a
// second, as the service does. It reads the same row of an animal as the service, and keeps the first page of each shop:
// what it costs the service, with HTTP, memory and SQLite alone, that each request is about another shop. It has no checks,
// usage, logs or metrics, and does not merge the counts with those of another process.
import { Database } from "bun:sqlite";
import { openStore } from "./embedded/store.mjs";
import { readHeaders } from "./read-headers.mjs";
import { beginRead, byStatus, database, pageHeaders, sendAnimal, toPet } from "./read-store.mjs";

const PAGE = 20;
/** How often the counts are saved, in milliseconds, and for how many shops in one transaction. */
const [PERIOD, BATCH] = [500, 250];
const pages = new Map();
const shops = new Map(
  database
    .query("SELECT digest, shop, account_id FROM api_keys JOIN shops USING (account_id, mode)")
    .values()
    .map(([digest, shop, accountId]) => [digest, { shop, accountId, used: 0, isChanged: false }]),
);
let changed = [];

const writer = openStore(Database, process.env.STORE);
const [beginWrite, commit] = [writer.prepare("BEGIN IMMEDIATE"), writer.prepare("COMMIT")];
const insert = writer.prepare(
  `INSERT INTO limit_windows (account_id, mode, minute_ends_at, minute_used, day, day_used, previous_day, previous_day_used)
   VALUES (?, 'live', 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING`,
);
const update = writer.prepare(
  "UPDATE limit_windows SET minute_ends_at = ?, minute_used = ?, day_used = ? WHERE account_id = ? AND mode = 'live'",
);
saveTogether([...shops.values()], ({ accountId }) => insert.run(accountId));
setInterval(() => void saveChanged(), PERIOD);

/** Finds the shop of the key, by the digest of the key as the service stores it, and counts the request. */
function shopOf(headers) {
  readHeaders(headers);
  const key = headers.get("authorization").slice("Bearer ".length);
  const found = shops.get(Bun.SHA256.hash(key, "base64"));
  found.used++;
  if (!found.isChanged) {
    found.isChanged = true;
    changed.push(found);
  }
  return found.shop;
}

/** Saves the counts that have changed, in the order of the rows. Between two transactions, requests are answered. */
async function saveChanged() {
  const due = changed.toSorted((one, other) => one.shop - other.shop);
  changed = [];
  for (let start = 0; start < due.length; start += BATCH) {
    saveTogether(due.slice(start, start + BATCH), (one) => {
      one.isChanged = false;
      update.run(Date.now(), one.used, one.used, one.accountId);
    });
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function saveTogether(some, save) {
  beginWrite.run();
  for (const one of some) save(one);
  commit.run();
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
