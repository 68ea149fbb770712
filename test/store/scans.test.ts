// No statement of a store reads a whole table of SQLite: in a write transaction, that would hold up all shops.
import { afterAll, expect, test } from "bun:test";
import { migrations } from "../../src/app/schema.ts";
import { forSqlite } from "../../src/storage/sqlite/connection.ts";
import { newDatabase } from "../../src/storage/sqlite/database.ts";
import { allStatements } from "../harness/all-statements.ts";

/** Tables with few rows, and subqueries that return few. */
const small = new Set([
  "account_changes",
  "webhook_endpoints",
  "endpoints",
  "store_environment",
  "store_generation",
  "CONSTANT",
  "candidate",
  "largest",
  "looked",
  "open",
  "others",
  "page_rows",
  "part",
  "waiting",
]);
/** Reads of commands, of the start, and after a change of accounts, keys or bans: a part of the text of each. */
const rare = [
  "FROM accounts ORDER BY created_at, id",
  "SELECT id FROM accounts LIMIT 1",
  "SELECT MAX(last_at) AS at FROM shops",
  "FROM accounts WHERE deleted_at IS NOT NULL",
  "FROM accounts WHERE deleted_at IS NULL LIMIT 2",
  "FROM api_keys WHERE (SELECT deleted_at",
  "SELECT shop FROM shops UNION ALL SELECT 0",
];

const database = newDatabase(migrations);
afterAll(() => database.close());

function planOf(sql: string): string[] {
  const steps = database.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
  return steps.map(({ detail }) => detail);
}

/** The tables that a statement reads completely. */
function scannedBy(sql: string): string[] {
  const tables = planOf(forSqlite(sql)).map((step) => /^SCAN (\w+)/.exec(step)?.[1] ?? "");
  return tables.filter((table) => table !== "");
}

/** The statements that SQLite runs: the others are only for PostgreSQL. */
const ofSqlite = allStatements.map(({ sql }) => sql).filter((sql) => !sql.includes("jsonb_"));

test("no statement reads a whole table", () => {
  expect(ofSqlite.length).toBeGreaterThan(200);
  const scans = ofSqlite
    .filter((sql) => !rare.some((part) => sql.includes(part)))
    .flatMap((sql) => scannedBy(sql).map((table) => ({ sql, table })))
    .filter(({ table }) => !small.has(table));
  expect(scans).toEqual([]);
});

test("control: a read without an index is found", () => {
  expect(scannedBy("SELECT shop FROM shops WHERE former_account_id = $1")).toEqual(["shops"]);
});

test("a statement that SQLite plans only once has the same plan", () => {
  for (const sql of ofSqlite) expect({ sql, plan: planOf(forSqlite(sql)) }).toEqual({ sql, plan: planOf(sql) });
});
