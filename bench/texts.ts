import type { PageTexts } from "./report.ts";

/** How the figures came about, for the page. */
const aboutMeasuring = `All figures are of one run on one machine; only the
ratios say something about other machines. The server has one core, \`wrk\` another. Contestants take turns (A B C A B C),
so that other work on the machine affects all of them; before the first turn each is warmed up. A ratio is computed within
each round, and the median of the rounds is what a target is compared with. Bars are medians, whiskers the least and the
most of the rounds.

\`wrk\` keeps a fixed number of requests on their way and sends the next one when an answer is there. Its percentiles thus
say how long answers take under full load: they compare servers, and are not what a caller of a server with spare time
sees. *Core* is the share of its core that the server used: well below 100 %, the server was waiting, for the disk or for
the load. *Passes* tells how often the list of different requests was sent.

Every request carries a valid key, and the limits are high enough, except under *Refuse*. All limits are on, all headers
are sent, the store is on disk, and requests are logged in the default form, to \`/dev/null\` for all servers alike.`;

/** Where the comparison favours the peers, for the page. */
const aboutPeers = `- **nginx, bare Bun.serve, reading Bun.serve, bare node:http** give the service's own answers, byte by byte (nginx and node:http write the
  headers \`Date\`, \`Server\` or \`Connection\` of their own), and do nothing else: no key, no limits, no store. Only nginx logs. *Reading Bun.serve* also reads the same headers, path and body as the service, but not the
  client's address, and makes its response headers once; *bare Bun.serve* makes them for each response. They are the limit of what can be reached.
- **Bun.serve with SQLite** reads the same headers, and the same rows from a copy of the store with the service's own
  statements, builds their JSON, and adds the same rows in one commit for each turn of its event loop. It does nothing
  else, and shows what the runtime and SQLite alone cost.
- **Bun.serve with keys** finds the shop of a key in memory, by the digest of the key as the service does. It reads the
  same row of an animal, and keeps the first page of each shop in memory. It counts the requests of each shop, refuses
  none, and saves the counts twice a second. It shows what many shops cost the runtime, memory and SQLite alone.
- **Fastify** (on Node, with better-sqlite3) and **Hono** (on Bun, with bun:sqlite and Zod) share the code that depends
  on neither framework nor driver. Both work on a copy of the service's store with the same tables, indexes and
  durability, and have keys, two windows of limits, schemas, all headers, entity tags, pages by key and one log line a
  request. They have no strikes and bans, keep their limits in memory only, do not check the filter of a cursor or the
  scopes of a key, have no metrics, and notice a revoked key by reading it again each second. In a body, Fastify converts
  types and rounds integers above 2^53; Hono refuses both. Each create writes its event too, and is a commit of its own,
  as both drivers are commonly used.
- **json-server** has no keys, limits or validation. It holds 1,000 animals instead of 100,000, because it looks through
  all of them for each request and writes all of them to its file after each create, without waiting for the disk.
- **Prism** answers with the examples of the OpenAPI document. It checks requests, but has no store, keys that mean
  anything, or limits.`;

export const performanceTexts: PageTexts = {
  title: "Measured performance",
  command: "npm run bench",
  aboutMeasuring,
  aboutPeers,
};
