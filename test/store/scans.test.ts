// No statement of a store reads a whole table of SQLite: in a write transaction, that would hold up all shops.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { forSqlite } from "../../src/storage/sqlite/connection.ts";
import { newDatabase } from "../../src/storage/sqlite/database.ts";

/** Tables with few rows, and subqueries that return few. */
const small = new Set(["webhook_endpoints", "CONSTANT", "candidate", "open", "page_rows", "part"]);
/** Reads of commands, of the first start, and after a change of an account, by their names in the source. */
const rare = new Set(["keysOfAll", "findById", "allAccounts", "anyAccount", "deletedAccounts"]);

const root = join(import.meta.dir, "../../src");
const database = newDatabase();
afterAll(() => database.close());

/** The SQL of each exported statement, by its name. */
const statements = new Map<string, string>();

/** Adds a statement, or those in an object. */
function collect(name: string, value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if ("sql" in value) statements.set(name, String(value.sql));
  else for (const [part, inner] of Object.entries(value)) collect(`${name}.${part}`, inner);
}

function planOf(sql: string): string[] {
  const steps = database.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
  return steps.map(({ detail }) => detail);
}

/** The tables that a statement reads completely. */
function scannedBy(sql: string): string[] {
  const tables = planOf(forSqlite(sql)).map((step) => /^SCAN (\w+)/.exec(step)?.[1] ?? "");
  return tables.filter((table) => table !== "");
}

/** The statements that SQLite runs, with their names: the others are only for PostgreSQL. */
function ofSqlite(): [string, string][] {
  return [...statements].filter(([, sql]) => !sql.includes("jsonb_"));
}

beforeAll(async () => {
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!/\.(store|statements)\.ts$/.test(file)) continue;
    const exported = Object.entries((await import(join(root, file))) as object);
    for (const [name, value] of exported) collect(name, value);
  }
});

test("no statement reads a whole table", () => {
  expect(statements.size).toBeGreaterThan(150);
  const scans = ofSqlite()
    .filter(([name]) => !rare.has(name))
    .flatMap(([name, sql]) => scannedBy(sql).map((table) => ({ name, table })))
    .filter(({ table }) => !small.has(table));
  expect(scans).toEqual([]);
});

test("control: a read without an index is found", () => {
  expect(scannedBy("SELECT shop FROM shops WHERE former_account_id = $1")).toEqual(["shops"]);
});

test("a statement that SQLite plans only once has the same plan", () => {
  for (const [name, sql] of ofSqlite()) {
    expect({ name, plan: planOf(forSqlite(sql)) }).toEqual({ name, plan: planOf(sql) });
  }
});
