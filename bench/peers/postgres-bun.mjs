// Bun's HTTP server that reads the same headers and the same rows of PostgreSQL as the service, builds their JSON, adds the
// same rows, and counts requests in Valkey: what these alone cost the service on this runtime. If there is a limit, it
// refuses the requests above it. It has no keys, checks, windows, bans, logs or metrics.
import { readFileSync } from "node:fs";
import { SQL } from "bun";
import { Redis } from "ioredis";
import { rowsAfterByStatus } from "../../src/domains/pets/pet-pages.store.ts";
import { byId, newPet } from "../../src/domains/pets/pets.statements.ts";
import { appendStatement } from "../../src/storage/postgres/append.ts";
import { listsOf, readTogether } from "../../src/storage/postgres/shared-reads.ts";
import { readHeaders } from "./read-headers.mjs";

const SHOP = 1;
// The connections, their settings and the pages in one statement are those of the service.
const READERS = 2;
const READING = {
  plan_cache_mode: "force_generic_plan",
  enable_sort: "off",
  enable_incremental_sort: "off",
  jit: "off",
};
const PAGES_AT_ONCE = 32;
/** The number of requests that are not refused; undefined if none are. */
const LIMIT = process.env.LIMIT && Number(process.env.LIMIT);
const REFUSAL = JSON.stringify({ code: "rate_limit_exceeded", message: "The requests of the minute are used up." });

const processes = Number(process.env.PROCESSES);
if (processes > 1) startWorkers();
else await serve();

/** Starts the processes behind the port. The kernel spreads connections over them. */
function startWorkers() {
  const env = { ...process.env, PROCESSES: "1" };
  const workers = Array.from({ length: processes }, () => Bun.spawn([process.execPath, import.meta.path], { env }));
  process.once("SIGTERM", () => {
    for (const worker of workers) worker.kill();
    process.exit(0);
  });
}

async function serve() {
  const { get, list, create } = JSON.parse(readFileSync(process.env.RESPONSES, "utf8"));
  const [animalHeaders, pageHeaders, newHeaders] = [get, list, create].map(({ headers }) => new Headers(headers));
  const readers = await Promise.all(Array.from({ length: READERS }, () => connect(READING)));
  const rowOf = reading(readers, byId);
  const pageOf = reading(readers, rowsAfterByStatus, PAGES_AT_ONCE);
  const add = adding(await connect());
  const count = counting(new Redis(process.env.VALKEY_URL));

  Bun.serve({
    hostname: "127.0.0.1",
    port: Number(process.env.PORT),
    development: false,
    reusePort: true,
    routes: {
      "/v1/pets": {
        GET: async ({ headers, url }) => {
          readHeaders(headers);
          const query = new URLSearchParams(url.slice(url.indexOf("?")));
          const [limit, status] = [Number(query.get("limit")), query.get("status")];
          const after = Number.parseInt(query.get("cursor") ?? "0", 10); // the service's cursors begin with the id
          const [rows] = await Promise.all([pageOf([SHOP, status, after, limit + 1]), count()]);
          const items = rows.slice(0, limit).map(toPet);
          const path = `/v1/pets?limit=${limit}&status=${status}&cursor=${items.at(-1)?.id}`;
          pageHeaders.set("Link", `<${path}>; rel="next"`);
          return new Response(JSON.stringify(items), { headers: pageHeaders });
        },
        POST: async (request) => {
          readHeaders(request.headers, true);
          const [body] = await Promise.all([request.bytes(), count()]);
          const pet = await add(JSON.parse(Buffer.from(body).toString()));
          newHeaders.set("Location", `/v1/pets/${pet.id}`);
          return new Response(JSON.stringify(pet), { status: 201, headers: newHeaders });
        },
      },
      "/v1/pets/:petId": async ({ headers, params }) => {
        readHeaders(headers);
        if (LIMIT && (await count()) > LIMIT) return new Response(REFUSAL, { status: 429, headers: animalHeaders });
        const [[row]] = await Promise.all([rowOf([SHOP, Number(params.petId)]), count()]);
        return row
          ? new Response(JSON.stringify(toPet(row)), { headers: animalHeaders })
          : new Response(null, { status: 404 });
      },
    },
  });
}

/** Opens a session. Statements that are sent without waiting for earlier results share round trips. */
function connect(settings) {
  return new SQL({ url: process.env.DATABASE_URL, max: 1, bigint: true, connection: settings }).reserve();
}

/** Reads of a turn of the event loop are one statement. The connections take turns. */
function reading(connections, statement, atOnce) {
  let sql;
  let statements = 0;
  return together(
    async (reads) => {
      const [types, lists] = listsOf(reads);
      sql ??= readTogether(statement, types).sql;
      const found = reads.map(() => []);
      const connection = connections[statements++ % connections.length];
      for (const row of await connection.unsafe(sql, lists)) {
        found[Number(row.read_number) - 1].push(row);
      }
      return found;
    },
    { atOnce },
  );
}

/** Creates of a turn, or that arrive during the previous commit, are one statement with one sync. */
function adding(connection) {
  return together(
    async (pets) => {
      const now = Date.now();
      const steps = pets.map((pet) => ({
        append: newPet,
        shop: SHOP,
        now,
        row: [pet.name, null, pet.categoryId, pet.status, null],
        amounts: [1, 0, 0, 0], // all are available
        logged: ["pet.created", "key", "request", `,${JSON.stringify(pet).slice(1)}`],
      }));
      const [{ sql }, parameters] = appendStatement(steps);
      const [{ id }] = await connection.unsafe(sql, parameters);
      return pets.map((pet, index) => ({ id: Number(id) + index, ...pet }));
    },
    { inSequence: true },
  );
}

/** Requests of a turn are one command. Returns the number of requests so far. */
function counting(valkey) {
  return together(async (requests) => {
    const before = (await valkey.incrby("requests", requests.length)) - requests.length;
    return requests.map((_, index) => before + index + 1);
  });
}

/** Collects the questions of a turn of the event loop. `answerAll` returns the answers in their order. */
function together(answerAll, { atOnce = Infinity, inSequence = false } = {}) {
  const waiting = [];
  let isCollecting = false;
  const answer = async (group) => {
    const answers = await answerAll(group.map(({ question }) => question));
    for (const [index, { resolve }] of group.entries()) resolve(answers[index]);
  };
  const endTurn = async () => {
    while (waiting.length > 0) {
      const answered = answer(waiting.splice(0, atOnce));
      if (inSequence) await answered;
    }
    isCollecting = false;
  };
  return (question) =>
    new Promise((resolve) => {
      waiting.push({ question, resolve });
      if (!isCollecting) setImmediate(() => void endTurn());
      isCollecting = true;
    });
}

function toPet({ id, name, category_id, status }) {
  return { id: Number(id), name, categoryId: Number(category_id), status };
}
