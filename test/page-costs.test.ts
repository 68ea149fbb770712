// A page costs the same however many rows its table has, wherever they lie, and whatever the server knows of them. On
// PostgreSQL a plan decides that, so the server is asked how many of its blocks each read of the stores touches.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { AccountStore } from "../src/domains/accounts/accounts.store.ts";
import { UsageStore } from "../src/domains/accounts/usage.store.ts";
import { CategoryStore } from "../src/domains/categories/categories.store.ts";
import { OrderStore } from "../src/domains/orders/orders.store.ts";
import { PetStore } from "../src/domains/pets/pets.store.ts";
import { RetryStore } from "../src/retries/retries.store.ts";
import { type PostgresAddress, parsePostgresAddress } from "../src/storage/postgres/address.ts";
import { Connection } from "../src/storage/postgres/connection.ts";
import { openPostgres } from "../src/storage/postgres/opening.ts";
import type { SqlParameter, Statement, Storage } from "../src/storage/storage.ts";
import { PostgresServer, postgresMissing } from "./harness/postgres-server.ts";

/** Rows of the larger tables. Each is some hundred blocks. */
const ROWS = 60_000;
/** Blocks that a read may touch: those of a page, or of 10,000 rows that a page of a category looks through, or of 31 days. */
const MOST = 60;
const MOST_OF_MANY = 300;
const DAY = 86_400;
const NOW = 100 * DAY;

/** As if the tables were larger than the server's memory, and other processes cost nothing: so all bad plans are tempting. */
const large = [
  "effective_cache_size=1MB",
  "parallel_setup_cost=0",
  "parallel_tuple_cost=0",
  "min_parallel_table_scan_size=0",
  "min_parallel_index_scan_size=0",
];

// All of one kind come first, then all of another; the rarest are the last.
const rows = `
  INSERT INTO pets (name, category_id, status)
    SELECT 'Rex', i % 7, CASE WHEN i <= ${ROWS / 2} THEN 'sold' WHEN i % 20000 = 19999 THEN 'pending' ELSE 'available' END
    FROM generate_series(1, ${ROWS}) AS i;
  INSERT INTO store_orders (pet_id, status, placed_at, expires_at)
    SELECT CASE WHEN i > ${ROWS - 5} THEN 3 WHEN i <= ${ROWS / 2} THEN 1 ELSE 2 END,
      CASE WHEN i > ${ROWS - 5} THEN 'returned' WHEN i <= ${ROWS / 2} THEN 'confirmed' ELSE 'expired' END, i, i
    FROM generate_series(1, ${ROWS}) AS i;
  INSERT INTO pet_status_changes SELECT i / 3 + 2, i % 3 + 1, i, 'sold', 'available', 'updated' FROM generate_series(1, ${ROWS}) AS i;
  INSERT INTO categories SELECT i, CAST(i AS TEXT) FROM generate_series(1, ${ROWS}) AS i;
  INSERT INTO kept_answers SELECT CAST(i AS TEXT), 'print', 'answer', ${NOW * 1000} + i FROM generate_series(1, ${ROWS}) AS i;
  INSERT INTO usage_counts
    SELECT 'day', ${NOW} - i % 30 * ${DAY}, 'account ' || i / 60, 'listPets', i / 30 % 2, '1' FROM generate_series(0, ${ROWS} - 1) AS i;
  INSERT INTO accounts (id, name, plan, created_at) SELECT 'account ' || i, 'Ada', 'free', i FROM generate_series(0, 999) AS i;
  INSERT INTO api_keys (id, account_id, name, digest, hint, scopes, created_at)
    SELECT 'key ' || i, 'account ' || i / 60, '', 'digest ' || i, '', 'read', i FROM generate_series(0, ${ROWS} - 1) AS i;
`;

interface Read {
  readonly statement: Statement;
  readonly parameters: readonly SqlParameter[];
}

/** What the work reads of a store. */
async function readsOf(work: (storage: Storage) => unknown): Promise<Read[]> {
  const reads: Read[] = [];
  const all = (statement: Statement, ...parameters: SqlParameter[]) => {
    reads.push({ statement, parameters });
    return [];
  };
  const storage: Partial<Storage> = {
    noticesEveryWrite: false,
    onForeignWrite: () => {},
    all,
    first: (...read) => all(...read)[0],
  };
  await work(storage as Storage);
  return reads;
}

const half = BigInt(ROWS / 2);
const end = BigInt(ROWS - 100);
const orders = (storage: Storage) => new OrderStore(storage, {} as never, {} as never, 0);
const statuses = ["available", "pending", "sold"] as const;
const places = [undefined, half, end];
const everyPlace = (page: (after: bigint | undefined) => unknown) => Promise.all(places.map(page));

const work: Record<string, (storage: Storage) => unknown> = {
  "an animal": (storage) => new PetStore(storage).get(end),
  "pages of animals": (storage) => everyPlace((after) => new PetStore(storage).page(after, 20)),
  "pages of animals, newest first": (storage) =>
    everyPlace((after) => new PetStore(storage).page(after, 20, { sort: "-id" })),
  ...Object.fromEntries(
    statuses.flatMap((status) => [
      [
        `pages of ${status} animals`,
        (storage: Storage) => everyPlace((after) => new PetStore(storage).page(after, 20, { status })),
      ],
      [
        `pages of ${status} animals, newest first`,
        (storage: Storage) => everyPlace((after) => new PetStore(storage).page(after, 20, { status, sort: "-id" })),
      ],
      [
        `some ${status} animals`,
        (storage: Storage) => new PetStore(storage).page(undefined, 20, { status, ids: [1n, half, end] }),
      ],
    ]),
  ),
  "pages of a category": (storage) => everyPlace((after) => new PetStore(storage).page(after, 20, { categoryId: 99n })),
  "pages of available animals of a category": (storage) =>
    everyPlace((after) => new PetStore(storage).page(after, 20, { status: "available", categoryId: 99n })),
  "pages of available animals of a category, newest first": (storage) =>
    everyPlace((after) => new PetStore(storage).page(after, 20, { status: "available", categoryId: 99n, sort: "-id" })),
  "an animal's history": (storage) => new PetStore(storage).statusChanges(end / 3n, undefined, 20),
  "pages of orders": (storage) => everyPlace((after) => orders(storage).page(after, 20, {})),
  "pages of confirmed orders": (storage) =>
    everyPlace((after) => orders(storage).page(after, 20, { status: "confirmed" })),
  "pages of expired orders": (storage) => everyPlace((after) => orders(storage).page(after, 20, { status: "expired" })),
  "pages of returned orders": (storage) =>
    everyPlace((after) => orders(storage).page(after, 20, { status: "returned" })),
  "pages of an animal's orders": (storage) => everyPlace((after) => orders(storage).page(after, 20, { petId: 3n })),
  "pages of an animal's returned orders": (storage) =>
    everyPlace((after) => orders(storage).page(after, 20, { petId: 3n, status: "returned" })),
  "pages of categories": (storage) => everyPlace((after) => new CategoryStore(storage, {} as never).page(after, 20)),
  "an account's usage": (storage) =>
    new UsageStore(storage).page("account 500", "day", {
      before: undefined,
      limit: 20,
      now: NOW * 1000,
      unsaved: () => [],
    }),
  "pages of an account's keys": (storage) => new AccountStore(storage, "test").page("account 500", "30000-key 1", 20),
  "a key": (storage) => new AccountStore(storage, "test").findValid("digest 500", NOW),
  "whether a kept answer has expired": (storage) => new RetryStore(storage).forgetExpired(NOW * 1000),
};

describe.skipIf(postgresMissing !== undefined)("on PostgreSQL, as few blocks are read as a page needs, for", () => {
  let server: PostgresServer;
  let reader: Connection;
  beforeAll(async () => {
    server = await PostgresServer.start(large);
    const address = parsePostgresAddress(server.url()) as PostgresAddress;
    await (await openPostgres(address)).close();
    await server.run(rows);
    await server.run("VACUUM ANALYZE");
    reader = await Connection.open({ address, deadline: 10_000, isReader: true });
  }, 120_000);
  afterAll(async () => {
    reader.close();
    await server.remove();
  });

  test.each(Object.entries(work))("%s", async (name, act) => {
    const reads = await readsOf(act);
    expect(reads).not.toBeEmpty();
    const plans: { blocks: number; plan: string }[] = [];
    for (const read of reads) plans.push(await explain(read));
    // A plan for the very values must not be bad either: other engines may have no other.
    await reader.runScript("SET plan_cache_mode = force_custom_plan");
    for (const read of reads) plans.push(await explain(read));
    await reader.runScript("RESET plan_cache_mode");
    const most = /of a category|usage/.test(name) ? MOST_OF_MANY : MOST;
    expect(plans.filter(({ blocks }) => blocks > most)).toEqual([]);
  });

  test("which are planned once for all values", async () => {
    for (const read of await readsOf((storage) => new PetStore(storage).page(half, 20, { status: "sold" }))) {
      expect((await explain(read)).plan).toContain("(id > $2)");
    }
  });

  /** What the server does for a read in a session of those that serve requests, and how many blocks it touches. */
  async function explain({ statement, parameters }: Read): Promise<{ blocks: number; plan: string }> {
    await reader.runScript(`PREPARE read AS ${statement.sql}`);
    const values = parameters.map((value) => (typeof value === "string" ? `'${value}'` : String(value)));
    const given = values.length > 0 ? `(${values.join(", ")})` : "";
    const lines = await reader.run({ sql: `EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) EXECUTE read${given}` });
    await reader.runScript("DEALLOCATE read");
    const plan = lines.map((line) => String(line["QUERY PLAN"])).join("\n");
    const [first = ""] = plan.match(/Buffers:.*/) ?? [];
    const blocks = [...first.matchAll(/(?:hit|read)=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
    return { blocks, plan };
  }
});
