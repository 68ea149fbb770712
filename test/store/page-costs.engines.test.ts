// A page costs the same however many rows its table has, wherever they lie, and whatever statistics PostgreSQL has
// of them. PostgreSQL chooses how to find the rows, so it is asked how many blocks each read of the stores touches.

import type { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { domains } from "../../src/app/domains.ts";
import { migrations } from "../../src/app/schema.ts";
import { shopNumber } from "../../src/contract/caller.ts";
import { bind, type Handlers } from "../../src/contract/handler.ts";
import { defineOperation } from "../../src/contract/operation.ts";
import { pageParameters } from "../../src/contract/paging.ts";
import { Int64 } from "../../src/contract/schemas.ts";
import { AccountStore } from "../../src/domains/accounts/accounts.store.ts";
import { CategoryStore, firstUnused } from "../../src/domains/categories/categories.store.ts";
import type { Domain } from "../../src/domains/domain.ts";
import { eventRetention } from "../../src/domains/events/event-retention.store.ts";
import { eventLog } from "../../src/domains/events/events.store.ts";
import { StoredResponseStore } from "../../src/domains/idempotency/stored-responses.store.ts";
import { KeyStore } from "../../src/domains/keys/keys.store.ts";
import { lastByPet } from "../../src/domains/orders/orders.statements.ts";
import { OrderStore } from "../../src/domains/orders/orders.store.ts";
import { Reservations } from "../../src/domains/orders/reservations.store.ts";
import { firstUnreferenced } from "../../src/domains/pets/counts/category-animals.store.ts";
import { PetPages } from "../../src/domains/pets/lists/pets-by-id.store.ts";
import { petsByName } from "../../src/domains/pets/lists/pets-by-name.store.ts";
import { PetStore } from "../../src/domains/pets/pets.store.ts";
import { RequestStore } from "../../src/domains/requests/requests.store.ts";
import { days, readSummary } from "../../src/domains/shop.domain.ts";
import type { LockedShop } from "../../src/domains/shops/locked-shop.ts";
import { ShopSettingsStore } from "../../src/domains/shops/shop-settings.store.ts";
import { deleteOldDeliveries } from "../../src/domains/webhooks/deliveries/deliveries.store.ts";
import { EndpointStore } from "../../src/domains/webhooks/endpoints/endpoints.store.ts";
import { webhookDueTimes } from "../../src/domains/webhooks/webhook-due-times.store.ts";
import { belongsToProduction } from "../../src/storage/environment.ts";
import { pageOf } from "../../src/storage/pages.ts";
import { newDatabase } from "../../src/storage/sqlite/database.ts";
import { query as newQuery, type Row } from "../../src/storage/statement.ts";
import type { OpenStorage } from "../../src/storage/storage.ts";
import { all, first, type Read } from "../../src/storage/transaction.ts";
import type { ExpiryTime } from "../../src/timing/clock.ts";
import { allStatements, oneLine } from "../harness/all-statements.ts";
import { development } from "../harness/key-environments.ts";
import {
  clock,
  DAY,
  end,
  half,
  MAX_BLOCKS,
  MAX_BLOCKS_OF_SCAN,
  NOW,
  PageCosts,
  Recorder,
  ROWS,
} from "../harness/page-costs.ts";
import { postgresMissing } from "../harness/postgres-server.ts";
import { toys, toyTable } from "../harness/toys.ts";
import { unchecked } from "../harness/unchecked-pets.ts";

const expired = (seconds: number) => (seconds * 1_000) as ExpiryTime;

// All of one kind come first, then all of another; the rarest are the last.
const rows = `
  INSERT INTO shops (shop, account_id, mode, last_pet_id, last_category_id, last_order_id, last_event_id)
    SELECT i + 1, 'account ' || (i + 500) % 1001, 'test', ${ROWS}, ${ROWS}, ${ROWS}, ${ROWS} FROM generate_series(0, 1000) AS i;
  INSERT INTO pets (shop, id, name, category_id, status, added_at, has_metadata)
    SELECT 1, i, 'Rex', i % 7, CASE WHEN i <= ${ROWS / 2} THEN 'sold' WHEN i % 20000 = 19999 THEN 'pending' ELSE 'available' END, 0,
      CASE WHEN i % 10 = 0 THEN 1 END
    FROM generate_series(1, ${ROWS}) AS i;
  INSERT INTO metadata SELECT 1, 'pet', i, '{"shelf":"B-12"}' FROM generate_series(1, ${ROWS}) AS i;
  INSERT INTO store_orders (shop, id, reference, reference_start, pet_id, status, placed_at, expires_at, due_at, confirmed_at, seller, confirmed_by_key, confirmed_by, pet_name, category_id, returned_at)
    SELECT 1, i, CASE WHEN i % 1000 = 999 THEN NULL WHEN i > ${ROWS / 4} THEN 'receipt 2026-117' ELSE CAST(i AS TEXT) END, CASE WHEN i % 1000 = 999 THEN NULL WHEN i > ${ROWS / 4} THEN 'receipt 2026-117' ELSE CAST(i AS TEXT) END,
      CASE WHEN i > ${ROWS - 5} THEN 3 WHEN i <= ${ROWS / 2} THEN 1 ELSE 2 END,
      CASE WHEN i > ${ROWS - 5} THEN 'returned' WHEN i <= ${ROWS / 2} THEN 'confirmed' ELSE 'expired' END, i, i, i,
      CASE WHEN i > ${ROWS - 5} OR i <= ${ROWS / 2} THEN i END, 'till', CASE WHEN i % 9 = 0 THEN 'key_5fQ0c2mN8xWbT1Lz' ELSE 'key_1' END, 'till', 'Rex',
      CASE WHEN i % 20000 = 19999 THEN 3 ELSE 1 END, CASE WHEN i > ${ROWS - 5} THEN i END
    FROM generate_series(1, ${ROWS}) AS i;
  INSERT INTO events (shop, id, at, type, under, subject, actor, data)
    SELECT 1, i, i, CASE WHEN i % 20000 = 19999 THEN 'pet.deleted' ELSE 'order.placed' END,
      CASE WHEN i <= ${ROWS / 2} THEN 1 ELSE i / 20 END, CAST(i AS TEXT), 'system', '{"id":7,"name":"Rex","categoryId":1}'
    FROM generate_series(1, ${ROWS}) AS i;
  INSERT INTO categories SELECT 1, i, CAST(i AS TEXT), CAST(i AS TEXT) FROM generate_series(1, ${ROWS}) AS i;
  INSERT INTO stored_responses SELECT 1, CAST(i AS TEXT), 'print', 'response', ${NOW * 1000} + i FROM generate_series(1, ${ROWS}) AS i;
  INSERT INTO usage_counts (day, account_id, mode, key_id, operation, status, h7)
    SELECT ${Math.floor(NOW / DAY)} - i % 30, 'account ' || i / 60, 'live', '', 'listPets', i / 30 % 2, 1 FROM generate_series(0, ${ROWS} - 1) AS i;
  INSERT INTO request_records
    SELECT 1 + i / 10000, i, CAST(i AS TEXT), i % 10000 * 6,
      CASE WHEN i % 9 = 0 THEN 'key_5fQ0c2mN8xWbT1Lz' ELSE 'key' END, CASE WHEN i % 5 = 0 THEN 'createPet' ELSE 'getPet' END,
      CASE WHEN i % 7 = 0 THEN 429 ELSE 201 END, CASE WHEN i % 7 = 0 THEN 'rate_limit_exceeded' ELSE '' END,
      '{"method":"GET","durationMs":1,"message":"' || repeat('x', 300) || '"}'
    FROM generate_series(0, ${ROWS} - 1) AS i;
  INSERT INTO api_keys (id, account_id, mode, name, digest, hint, scopes, created_at)
    SELECT 'key ' || i, 'account ' || i / 60, 'test', '', 'digest ' || i, '', 'read', i FROM generate_series(0, ${ROWS} - 1) AS i;
  INSERT INTO shops (shop, account_id, mode) VALUES (2000, 'account 500', 'live');
  INSERT INTO webhook_endpoints (account_id, mode, id, url, types, description, state, secrets, created_at, followed_shop, position, health)
    SELECT 'account ' || i % 1001, 'live', 'we_' || i, '', '*', '', 'enabled', '[]', i, 1, 0, '{"hours":[],"failingSince":null,"retriesAt":null,"lastFailure":null}'
    FROM generate_series(1, 1000) AS i;
  INSERT INTO webhook_endpoints (account_id, mode, id, url, types, description, state, secrets, created_at, followed_shop, position, health)
    SELECT account_id, mode, 'we_5f0c2a8e1b7d94c3a6e0f1d2', url, types, description, state, secrets, 0, 1, 0, health FROM webhook_endpoints WHERE id = 'we_500';
  INSERT INTO webhook_deliveries (shop, endpoint_id, id, kind, webhook_id, event_id, event_type, attempt, at, duration, outcome, failure, status, response)
    SELECT 1, 'we_5f0c2a8e1b7d94c3a6e0f1d2', i, 'event', 'msg_' || i, i, 'pet.created', 1, i, 1, CASE WHEN i > 10 THEN 'succeeded' ELSE 'failed' END, NULL, 200, repeat('x', 1000)
    FROM generate_series(1, ${ROWS}) AS i;
`;

/** A list of the table of `toys`, which a later release may add. */
interface ToyRow extends Row {
  id: bigint;
  name: string;
}
const toToy = ({ id }: ToyRow) => ({ id });
const toyId = Int64({ description: "Its identifier." });
const listToys = defineOperation({
  name: "listToys",
  method: "GET",
  path: "/toys",
  tag: { name: "toys", description: "What animals play with.", stability: "stable" },
  summary: "List toys",
  description: "Returns toys.",
  query: Type.Object(pageParameters("toys")),
  paged: { position: toyId },
  response: {
    status: 200,
    description: "A page.",
    schema: Type.Array(Type.Object({ id: toyId })),
    examples: { None: [] },
  },
});

const sandbox = { shop: shopNumber(1), accountId: "account 500", mode: "test" } as const;

/** Reads besides the pages of lists, which follow from the contract. */
const work: Record<string, (storage: OpenStorage) => Read<unknown> | Promise<unknown>> = {
  "animals by name, deep among equal names": () => petsByName(shopNumber(1), `rex ${half}`, 20, { sort: "name" }),
  "animals by name backwards, deep among equal names": () =>
    petsByName(shopNumber(1), `rex ${half}`, 20, { sort: "-name" }),
  "an exact hit, and animals by name": () => petsByName(shopNumber(1), undefined, 20, { search: "7" }),
  "a search of a common name": () => petsByName(shopNumber(1), undefined, 20, { search: "rex" }),
  "the same backwards": () => petsByName(shopNumber(1), undefined, 20, { search: "rex", sort: "-name" }),
  "an animal": (storage) => new PetStore(storage, unchecked).get(shopNumber(1), end),
  "an order": () => new OrderStore(clock, 0).get(shopNumber(1), end),
  "orders that are due": (storage) => new Reservations(storage, clock).expireDue(),
  "the last order of an animal": () => first(lastByPet, shopNumber(1), 2n),
  "the last order of an animal with few": () => first(lastByPet, shopNumber(1), 3n),
  "orders of a shop that are due": (storage) => new Reservations(storage, clock).finish(sandbox, 0, 100),
  "open orders of a shop": (storage) => new Reservations(storage, clock).waiting(sandbox, 10_000),
  "deliveries of a shop that wait": () => webhookDueTimes(clock).waiting(sandbox, 10_000),
  "stored responses of a sandbox": (storage) =>
    new StoredResponseStore(storage, { now: () => expired(0) }).waiting(sandbox, 100),
  "the figures of a shop": () => readSummary(shopNumber(1), clock.now()),
  "time zones to look up": (storage) => new ShopSettingsStore(storage, clock, days).renewOffsets(),
  "a category": (storage) => new CategoryStore(storage, clock).get(shopNumber(1), end),
  "an id for a category that none has had": () => first(firstUnused, BigInt(ROWS), shopNumber(1)),
  "an id for a category that no animal refers to": () => firstUnreferenced({ shop: 1 } as LockedShop, 1n),
  "whether a shop has events that are too old": (storage) => eventRetention(storage, 30)(expired(0)),
  "an event": () => eventLog.get(shopNumber(1), end),
  "an account": (storage) => new AccountStore(storage).get("account 500"),
  "a key by its id": (storage) => new KeyStore(storage, development).find("key 30000"),
  "a key": (storage) => new KeyStore(storage, development).findCaller("digest 500", NOW),
  "whether the store belongs to production": (storage) => belongsToProduction(storage),
  "the webhook endpoints of a shop": () =>
    new EndpointStore(clock, {} as never).list({ accountId: "account 500", mode: "live" }),
  "a request": (storage) => new RequestStore(storage).get(shopNumber(1), "500"),
  "records of requests that are too old": (storage) => new RequestStore(storage).sweep(expired(7 * DAY)),
  "deliveries that are too old": (storage) => deleteOldDeliveries(storage, expired(0)),
  "whether a stored response has expired": (storage) =>
    new StoredResponseStore(storage, { now: () => expired(NOW) }).deleteExpired(),
};

/** Reads whose cost is not measured here: a part of the text of each, and the reason. */
const others: readonly (readonly [part: string, reason: string])[] = [
  ["SELECT DISTINCT shop FROM request_records WHERE at >= $1", "a command that sums up records by address"],
  ["FROM request_records WHERE shop = $1 AND at >= $2", "a command that sums up records by address"],
  ["WHERE shop IN (SELECT shop FROM shops UNION ALL SELECT 0) AND id = $1", "looks in each shop, for an operator"],
  ["AND coalesce(status, '') = $2 AND id > $3 AND id <= $4", "at most 303 ids, and only in the embedded store"],
  ["SELECT shop FROM shops WHERE shop = $1", "by its key"],
  ["SELECT shop FROM shops WHERE account_id = $1 AND mode = $2", "by a unique index"],
  ["FROM shops WHERE account_id IS NULL", "by a unique index"],
  ["FROM accounts WHERE deleted_at IS NOT NULL", "one row for each account, after one may have changed"],
  ["GROUP BY 1, 2, 3, 4", "groups at most 500 sales or returns, by an index"],
  ["id LIMIT 1 OFFSET 500", "skips at most 500 sales or returns, by an index"],
  ["AS marked_sold, ", "counts at most 10,000 events, by their ids, when a shop gets another time zone"],
  ["SELECT time_zone, currency FROM shops", "by its key"],
  ["SELECT shop, account_id, last_at FROM shops", "500 shops a round, by their key"],
  ["AS size FROM events WHERE shop = $1", "the sizes of events that a stream reads next, by their ids"],
  ["SELECT last_order_id AS orders, ", "counts categories, twenty times a minute for an account"],
  ["FROM pets WHERE shop = $1 ORDER BY id", "an export reads all animals"],
  ["AS animals FROM shops WHERE shop = $1", "by its key, in an export"],
  ["SELECT id FROM accounts LIMIT 1", "one row, at the start of the service"],
  ["FROM accounts WHERE deleted_at IS NULL LIMIT 2", "a command for a store with one account"],
  ["SELECT generation FROM store_generation", "one row, at the start of the service"],
  ["FROM accounts ORDER BY created_at, id", "a command that lists all accounts"],
  ["FROM api_keys WHERE (SELECT deleted_at FROM accounts", "a command that lists all keys"],
  ["FROM api_keys WHERE id = $1 AND (SELECT deleted_at", "by its key, for an operator or a ban"],
  ["FROM api_keys WHERE account_id = $1 AND (SELECT deleted_at", "a command that lists all keys of an account"],
  ["AS requests FROM usage_counts WHERE day >= $1", "a command that sums the requests of a month"],
  ["AS hour FROM usage_counts WHERE day >= $1", "a command that counts the calls of a month"],
  ["FROM limit_windows WHERE account_id = $1 AND mode = $2", "by its key, and only in the embedded store"],
  ["FROM stored_responses WHERE shop = $1 AND digest = $2", "by its key, in a transaction"],
  ["FROM stored_responses WHERE shop = $1 AND digest > $2", "250 of a shop, in the order of their key"],
  ["FROM store_orders WHERE status = 'placed' AND shop = $1 AND pet_id = $2", "by a unique index, in a transaction"],
  ["FROM categories WHERE shop = $1 AND name_key = $2", "by a unique index, in a transaction"],
  ["SELECT last_category_id AS id FROM shops", "one row, in a transaction"],
  ["SELECT last_pet_id AS id FROM shops", "one row, in a transaction"],
  [
    "FROM category_animals WHERE shop = $1 AND category_id = $2",
    "counts the animals of a category, in a transaction that deletes it",
  ],
  [
    "FROM api_keys WHERE account_id = $1 AND mode = $2 AND revoked_at IS NULL",
    "the keys of one account, in a transaction",
  ],
  [
    "SELECT count(*) AS keys FROM api_keys WHERE account_id = $1 AND mode = $2",
    "the keys of one account, in a transaction",
  ],
  [
    "FROM webhook_endpoints JOIN shops USING (account_id, mode) WHERE ((state",
    "looks at all endpoints, of which there are few, once a round",
  ],
  ["shop, last_event_id, version, (SELECT count(*) FROM webhook_attempts", "by its key; at most 1,000 attempts"],
  ["(account_id, mode) WHERE expires_at <= $1", "by an index: the endpoints that are due"],
  ["AS event_id FROM ( SELECT event_id FROM webhook_attempts", "at most 2,000 rows, when an endpoint is disabled"],
  ["SELECT event_id, kind, attempt FROM webhook_attempts", "by an index: what is due, of at most 1,000"],
  ["FROM webhook_redeliveries WHERE shop = $1 AND endpoint_id = $2", "at most 10"],
  ["AS position, shop FROM webhook_endpoints JOIN shops", "a command that lists all endpoints"],
  ["response FROM webhook_deliveries WHERE shop = $1 AND endpoint_id = $2 AND id = $3", "by its key"],
  ["SELECT id, name_key AS key FROM categories WHERE shop = $1", "an export or an import names all categories"],
  ["AS endpoints FROM webhook_endpoints WHERE state = 'disabled'", "looks at all endpoints, of which there are few"],
  ["SELECT substr(secrets, 1, 48) AS newest", "looks at all endpoints, of which there are few, at the start"],
  ["SELECT number, account_id FROM account_changes", "one row and, by an index, the accounts that have just changed"],
  ["SELECT MAX(last_at) AS at FROM shops", "a command that looks at the store"],
];

/** The SQL of the reads of all stores. */
const readsOfAll = allStatements.map(({ sql }) => sql).filter((sql) => /^(SELECT|WITH) /.test(sql));

/** Those that are neither among the reads that were made, nor among the others. */
function uncovered(sources: readonly string[], made: Iterable<string>): string[] {
  const measured = new Set([...made].map(oneLine));
  return sources.filter((sql) => !measured.has(sql) && !others.some(([part]) => sql.includes(part)));
}

/** How SQLite finds the rows of a read. */
function planOf(database: Database, sql: string): string {
  const steps = database.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
  return steps.map(({ detail }) => detail).join("\n");
}

/** Reads that sort a bounded number of rows, each by a part of its text. */
const sorted = ["FROM page_rows", "FROM shops LEFT JOIN (", "FROM webhook_endpoints JOIN shops"];

/** True for a read of which SQLite sorts or copies all rows of a shop, or looks through those of every status. */
function isExpensiveOnSqlite(sql: string, plan: string): boolean {
  const sorts = plan.includes("USE TEMP B-TREE FOR ORDER BY") && !sorted.some((part) => sql.includes(part));
  const isBounded = sql.includes("AS scanned_rows");
  const looksThrough = !isBounded && / status (=|IN) /.test(sql) && !/status=\?|\bid=\?|store_orders_due/.test(plan);
  return sorts || looksThrough || plan.includes("LIST SUBQUERY");
}

describe.skipIf(postgresMissing !== undefined)("on PostgreSQL, only the blocks that a page needs are read for", () => {
  let costs: PageCosts;
  beforeAll(async () => {
    costs = await PageCosts.open([...migrations, toyTable], rows);
  });
  afterAll(() => costs.remove());

  const lists = domains.flatMap(({ operations }) => operations.filter(({ paged }) => paged)).map(({ name }) => name);
  /** The expensive reads of each list and of each entry of `work`, by name. */
  const expensive = new Map<string, Promise<unknown[]>>();
  const ofList = (name: string) => expensive.getOrInsertComputed(name, () => costs.expensivePagesOf(name, domains));
  const ofWork = (name: string) =>
    expensive.getOrInsertComputed(name, async () => {
      const recorder = new Recorder(costs.storage);
      const asked = work[name]?.(recorder.storage);
      await (asked && "next" in asked ? recorder.storage.read(asked) : asked);
      const reads = recorder.take();
      expect(reads).not.toBeEmpty();
      const isScan = name === "whether a shop has events that are too old";
      return costs.tooExpensive(reads, isScan ? MAX_BLOCKS_OF_SCAN : MAX_BLOCKS);
    });
  /** The SQL of all these reads. */
  const madeByAll = async () => {
    for (const name of lists) await ofList(name);
    for (const name of Object.keys(work)) await ofWork(name);
    return costs.made;
  };

  test.each(lists)("every page of %s", async (name) => expect(await ofList(name)).toEqual([]));

  test.each(Object.keys(work))("%s", async (name) => expect(await ofWork(name)).toEqual([]));

  test("every read that a store has", async () => {
    const made = await madeByAll();
    expect(uncovered(readsOfAll, made)).toEqual([]);
    expect(others.filter(([part]) => !readsOfAll.some((sql) => sql.includes(part)))).toEqual([]);
    const added = "SELECT id, name FROM pets ORDER BY name";
    expect(uncovered([...readsOfAll, added], made)).toEqual([added]);
  });

  // SQLite does not tell what a read touches, but how it finds its rows.
  test("every one of these on SQLite, too", async () => {
    const made = await madeByAll();
    const database = newDatabase(migrations);
    const plans = [...made].map((sql) => [sql, planOf(database, sql)] as const);
    database.close();
    expect(plans.filter(([sql, plan]) => isExpensiveOnSqlite(sql, plan))).toEqual([]);
  });

  test("every page of a domain without an entry here", async () => {
    expect(await costs.expensivePagesOf("listToys", [...domains, toys])).toEqual([]);
  });

  test("control: a list that is read without an index is reported", async () => {
    const page = newQuery<[id: bigint, limit: number], ToyRow>(
      "SELECT id, name FROM toys WHERE id > $1 ORDER BY name, id LIMIT $2",
    );
    const handlers: Handlers<readonly [typeof listToys]> = {
      *listToys({ query: { limit }, after = 0n }) {
        return pageOf(yield* all(page, after, limit + 1), limit, toToy, ({ id }) => id);
      },
    };
    const domain: Domain = {
      name: "toys",
      operations: [listToys],
      open: () => bind([listToys], handlers),
    };
    expect(await costs.expensivePagesOf("listToys", [domain])).not.toBeEmpty();
  });

  test("queries whose plan is the same for all values", async () => {
    const recorder = new Recorder(costs.storage);
    await recorder.storage.read(new PetPages(recorder.storage).page(shopNumber(1), half, 20, { status: "sold" }));
    for (const read of recorder.take()) expect((await costs.explain(read)).plan).toMatch(/id > \$\d/);
  });
});
