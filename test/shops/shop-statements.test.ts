// No statement reads or changes a row of a shop without naming the shop: every statement of every store is inspected.

import { afterAll, describe, expect, test } from "bun:test";
import { migrations, tables } from "../../src/app/schema.ts";
import { shopNumber } from "../../src/contract/caller.ts";
import { newestEventsOf } from "../../src/domains/events/events.statements.ts";
import type { OrderFilters } from "../../src/domains/orders/orders.operations.ts";
import { readOrders } from "../../src/domains/orders/orders.statements.ts";
import { type FiltersById, readPets } from "../../src/domains/pets/lists/pets-by-id.store.ts";
import { petsByName } from "../../src/domains/pets/lists/pets-by-name.store.ts";
import { newDatabase } from "../../src/storage/sqlite/database.ts";
import { allStatements, oneLine } from "../harness/all-statements.ts";
import { firstStatementOf } from "../harness/stepwise-read.ts";

/** Statements on all shops, of background work or for operators, each by its beginning. */
const allowedAcrossShops = [
  "SELECT shop, offset_until FROM shops WHERE offset_until <= $1",
  "SELECT shop, id, due_at FROM store_orders WHERE status = 'placed' AND due_at <= $1",
  "SELECT shop, digest FROM stored_responses WHERE due_at <= $1",
  "SELECT shop, last_event_id AS id FROM shops WHERE shop IN (",
  "SELECT shop, id, at FROM request_records WHERE shop IN (SELECT shop FROM shops UNION ALL SELECT 0) AND id = $1",
  "SELECT shop, endpoint_id, id, at FROM webhook_deliveries WHERE at <= $1",
  "SELECT shop, id, at FROM request_records WHERE at < $1",
  "SELECT DISTINCT shop FROM request_records WHERE at >= $1",
  "SELECT account_id, mode, id FROM webhook_endpoints JOIN shops USING (account_id, mode) WHERE ((state = 'enabled' AND",
  "SELECT account_id, mode, id FROM webhook_endpoints JOIN shops USING (account_id, mode) WHERE expires_at <= $1",
  "SELECT account_id, mode, id, url, types, description, expires_at, state, secrets, created_at, health,",
  "SELECT shop, last_at FROM shops WHERE account_id IS NULL AND (last_at <= $1 OR last_at > $2)",
  "SELECT shop FROM shops WHERE account_id IS NULL AND former_account_id = $1",
  "SELECT MAX(last_at) AS at FROM shops",
  "SELECT shop, account_id, last_at FROM shops WHERE shop > $1 AND account_id IS NOT NULL",
  "SELECT shops.shop, oldest.id, oldest.at, last_event_id AS last_id FROM shops LEFT JOIN events AS oldest",
];
/** Indexes of such statements, which begin with the time. */
const indexesByTime = [
  "request_records_due",
  "store_orders_due",
  "stored_responses_by_time",
  "webhook_deliveries_by_time",
];

const database = newDatabase(migrations);
afterAll(() => database.close());
const rows = (sql: string) => database.query<{ name: string; key: string }, []>(sql).all();
/** Tables whose rows belong to a shop, and the shops. */
const shopTables = tablesWith("shop");

/** Tables with a column of this name. */
function tablesWith(column: string): string[] {
  const found = rows(`
    SELECT tables.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table' AND columns.name = '${column}'
  `);
  return found.map(({ name }) => name);
}

/** A shop or account that is a parameter, or that of the row for which a subquery runs. */
const namesShop =
  /\b(shop|account_id) = (\$|shops\.shop\b|api_keys\.account_id\b)|^SELECT pairs FROM metadata WHERE metadata\.shop = \w+\.shop\b/;

/** What a statement does to tables of shops without naming the shop. */
function faultsOf(text: string): string[] {
  return [...text.matchAll(/\b(FROM|JOIN|INTO|UPDATE) (\w+)/g)]
    .filter(([, verb, table = ""]) => shopTables.includes(table) && !(verb === "UPDATE" && table === "SET"))
    .filter(({ 1: verb, 2: table, index }) => {
      if (verb === "INTO")
        return !text.startsWith(`INTO ${table} (${table === "shops" ? "account_id" : "shop"}, `, index);
      return !namesShop.test(withoutSubqueries(scopeAt(text, index)));
    })
    .map(([match]) => `${match}: ${text}`);
}

/** The part of a statement in whose parentheses a place lies. */
function scopeAt(text: string, at: number): string {
  let depth = 0;
  let start = at;
  while (start > 0 && depth >= 0) depth += { ")": 1, "(": -1 }[text[--start] as string] ?? 0;
  if (depth < 0) start++;
  depth = 0;
  let end = at;
  while (end < text.length && depth >= 0) depth += { "(": 1, ")": -1 }[text[end++] as string] ?? 0;
  if (depth < 0) end--;
  return text.slice(start, end);
}

/** A statement without its subqueries, and without the other parentheses. */
function withoutSubqueries(text: string): string {
  const innermost = /\(([^()]*)\)/g;
  const left = text.replaceAll(innermost, (_, inner: string) => (inner.includes("SELECT ") ? "" : ` ${inner} `));
  return left === text ? text : withoutSubqueries(left);
}

describe("every statement of a store", () => {
  test("names the shop, unless it is marked acrossShops", () => {
    expect(shopTables).toContain("pets");
    expect(allStatements.length).toBeGreaterThan(200);
    expect(allStatements.filter((one) => !one.acrossShops).flatMap(({ sql }) => faultsOf(sql))).toEqual([]);
  });

  test("is in the allow-list if it is marked acrossShops", () => {
    const marked = [...allStatements.filter((one) => one.acrossShops), firstStatementOf(newestEventsOf([1]))].map(
      ({ sql }) => sql,
    );
    expect(marked.filter((text) => !allowedAcrossShops.some((start) => text.startsWith(start)))).toEqual([]);
    expect(marked).toHaveLength(allowedAcrossShops.length);
  });

  test.each([
    "SELECT name FROM pets WHERE id = $1",
    "UPDATE pets SET name = $1 WHERE id = $2",
    "INSERT INTO pets (id, shop) VALUES ($1, $2)",
    "SELECT name FROM pets WHERE shop = $1 AND id IN (SELECT pet_id FROM store_orders)",
    "SELECT name FROM pets WHERE shop = $1 AND id IN (SELECT id FROM pets)",
    "SELECT name FROM pets WHERE id IN (SELECT pet_id FROM store_orders WHERE shop = $1)",
    "SELECT name FROM pets JOIN accounts ON accounts.shop = pets.shop",
    "SELECT name FROM pets WHERE id IN (SELECT pet_id FROM store_orders WHERE (shop = $1))",
  ])("is detected if it does not name the shop: %s", (sql) => {
    expect(faultsOf(sql)).toHaveLength(1);
  });
});

test("every table of shops is emptied when a shop is deleted", () => {
  const emptied = tables.flatMap(({ name, owned }) => (owned?.owner === "shop" ? [name] : []));
  expect(emptied.toSorted()).toEqual(shopTables.filter((name) => name !== "shops").toSorted());
});

test("a table whose rows are deleted with no shop and no account is one of these", () => {
  const others = tables.flatMap(({ name, owned }) => (owned ? [] : [name]));
  expect(others.toSorted()).toEqual([
    "account_changes",
    "accounts",
    "shops",
    "store_environment",
    "store_generation",
    "usage_counts",
  ]);
});

test("every table of accounts is emptied when an account is deleted", () => {
  const emptied = tables.flatMap(({ name, owned }) => (owned?.owner === "account_id" ? [name] : []));
  expect([...emptied, "usage_counts", "shops"].toSorted()).toEqual(tablesWith("account_id").toSorted());
});

test("every list of animals names the shop", () => {
  const filters: FiltersById[] = [{}, { status: "sold" }, { categoryId: 1n }, { ids: [1n] }, { sort: "-id" }];
  for (const one of filters) {
    for (const other of filters) {
      const statement = firstStatementOf(readPets(shopNumber(1), 5n, 20, { ...one, ...other }));
      expect(faultsOf(oneLine(statement.sql))).toEqual([]);
    }
    for (const sort of ["name", "-name"] as const) {
      const statement = firstStatementOf(petsByName(shopNumber(1), "rex 7", 20, { ...one, sort }));
      expect(faultsOf(oneLine(statement.sql))).toEqual([]);
    }
  }
});

test("every list of orders names the shop", () => {
  const at = "2026-11-21T12:00:00Z";
  const filters: OrderFilters[] = [
    {},
    { status: "placed" },
    { petId: [1n] },
    { petId: [1n, 2n] },
    { confirmedSince: at, confirmedUntil: at },
    { confirmedBy: "key_1" },
    { categoryId: 1n },
    { sort: "-confirmedAt" },
    { reference: "7" },
    { search: "7" },
    { since: at },
    { until: at },
    { sort: "-id" },
  ];
  for (const one of filters) {
    for (const other of filters) {
      const statement = firstStatementOf(readOrders(shopNumber(1), "5", 20, { ...one, ...other }));
      expect(faultsOf(oneLine(statement.sql))).toEqual([]);
    }
  }
});

test("every key and index of a shop's tables begins with the shop, or with the time for background work", () => {
  const keys = rows(`
    SELECT indexes.name, (SELECT name FROM pragma_index_info(indexes.name) WHERE seqno = 0) AS key
    FROM sqlite_schema AS tables, pragma_index_list(tables.name) AS indexes WHERE tables.type = 'table'
      AND EXISTS (SELECT 1 FROM pragma_table_info(tables.name) WHERE name = 'shop') AND tables.name <> 'shops'
  `);
  expect(keys.length).toBeGreaterThan(10);
  const others = keys.filter(({ key }) => key !== "shop").map(({ name }) => name);
  expect(others.toSorted()).toEqual(indexesByTime);
});
