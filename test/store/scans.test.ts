// No statement of a store reads a whole table of SQLite: in a write transaction, that would hold up all shops. And no
// query changes the store; an engine would refuse it, but only when it runs.

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
  "joined",
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

/** True if the program that SQLite makes of a statement begins a write (https://sqlite.org/opcode.html#Transaction). */
function writes(sql: string): boolean {
  const steps = database.query<{ opcode: string; p2: number }, []>(`EXPLAIN ${forSqlite(sql)}`).all();
  return steps.some(({ opcode, p2 }) => opcode === "Transaction" && p2 > 0);
}

/** The statements that SQLite runs: the others are only for PostgreSQL. */
const statements = allStatements.filter(({ sql }) => !sql.includes("jsonb_"));
const ofSqlite = statements.map(({ sql }) => sql);

test("no statement reads a whole table", () => {
  expect(ofSqlite.length).toBeGreaterThan(200);
  const scans = ofSqlite
    .filter((sql) => !rare.some((part) => sql.includes(part)))
    .flatMap((sql) => scannedBy(sql).map((table) => ({ sql, table })))
    .filter(({ table }) => !small.has(table));
  expect(scans).toEqual([]);
});

test("a query changes nothing", () => {
  const queries = statements.filter(({ kind }) => kind === "query").map(({ sql }) => sql);
  expect(queries).not.toBeEmpty();
  expect(queries.filter(writes)).toEqual([]);
});

test("control: a read without an index is found", () => {
  expect(scannedBy("SELECT shop FROM shops WHERE former_account_id = $1")).toEqual(["shops"]);
});

test("a statement that SQLite plans only once has the same plan", () => {
  for (const sql of ofSqlite) expect({ sql, plan: planOf(forSqlite(sql)) }).toEqual({ sql, plan: planOf(sql) });
});
