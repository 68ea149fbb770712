// No statement of a store reads a whole table of SQLite: in a write transaction, that would hold up all shops.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { staged } from "../../src/domains/pets/pets.import.statements.ts";
import { newDatabase } from "../../src/storage/sqlite/database.ts";

/** Tables with few rows, and subqueries that return few. */
const small = new Set([
  "accounts",
  "webhook_endpoints",
  "staged_pets",
  "CONSTANT",
  "candidate",
  "numbered",
  "open",
  "page_rows",
  "part",
]);
/** Reads of commands, by their names in the source. */
const ofCommands = new Set(["keysOfAll", "findById"]);

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

/** The tables that a statement reads completely. */
function scannedBy(sql: string): string[] {
  const steps = database.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
  return steps.map(({ detail }) => /^SCAN (\w+)/.exec(detail)?.[1] ?? "").filter((table) => table !== "");
}

beforeAll(async () => {
  database.run(`CREATE TABLE ${staged.name} (${Object.keys(staged.columns).join(", ")})`);
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!/\.(store|statements)\.ts$/.test(file)) continue;
    const exported = Object.entries((await import(join(root, file))) as object);
    for (const [name, value] of exported) collect(name, value);
  }
});

test("no statement reads a whole table", () => {
  expect(statements.size).toBeGreaterThan(150);
  const scans = [...statements]
    .filter(([name, sql]) => !ofCommands.has(name) && !sql.includes("jsonb_")) // that is only for PostgreSQL
    .flatMap(([name, sql]) => scannedBy(sql).map((table) => ({ name, table })))
    .filter(({ table }) => !small.has(table));
  expect(scans).toEqual([]);
});

test("control: a read without an index is found", () => {
  expect(scannedBy("SELECT shop FROM shops WHERE former_account_id = $1")).toEqual(["shops"]);
});
