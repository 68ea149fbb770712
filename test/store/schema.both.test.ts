// The migrations make the tables that domains declare: a declaration that changes needs a migration.
import { expect, test } from "bun:test";
import { migrations, tables } from "../../src/app/schema.ts";
import { petTable } from "../../src/domains/pets/pets.table.ts";
import { creating, type Migration } from "../../src/storage/applied-migrations.ts";
import { type PostgresAddress, parsePostgresAddress } from "../../src/storage/postgres/address.ts";
import { openPostgres } from "../../src/storage/postgres/opening.ts";
import { newDatabase } from "../../src/storage/sqlite/database.ts";
import { optional, text } from "../../src/storage/table.ts";
import { newTestStore, onPostgres } from "../harness/test-store.ts";

const postgresStructure = `
  SELECT table_name || '.' || column_name AS name, concat_ws(' ', data_type, collation_name, is_nullable, column_default,
    is_identity, generation_expression) AS definition
    FROM information_schema.columns WHERE table_schema = 'public'
  UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL SELECT relname, reloptions::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
  UNION ALL SELECT conrelid::regclass || ' ' || conname, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace`;

/** All that a new store has, sorted. The order of columns does not matter. */
async function structureOf(steps: readonly Migration[]): Promise<string[]> {
  if (!onPostgres) {
    using database = newDatabase(steps);
    const found = database.query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_schema WHERE sql <> ''",
    );
    return found
      .all()
      .flatMap(({ name, sql }) => partsOf(sql).map((part) => `${name}: ${part}`))
      .toSorted();
  }
  const store = await newTestStore();
  await store.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  const address = parsePostgresAddress(store.settings["PETSTORE_DATABASE_URL"] as string) as PostgresAddress;
  await (await openPostgres(address, { migrations: steps })).close();
  const found = (await store.rows(postgresStructure)) as { name: string; definition: string | null }[];
  await store.remove();
  return found.map(({ name, definition }) => `${name}: ${definition}`).toSorted();
}

/** The definitions in a statement, separated by commas outside of inner parentheses. */
function partsOf(sql: string): string[] {
  const [, start = "", list = "", end = ""] = /^([^(]*)\(([^]*)\)([^)]*)$/.exec(sql) ?? [];
  const parts = list.split(/,(?![^(]*\))/).map((part) => part.trim().replaceAll(/\s+/g, " "));
  return [start.trim(), end.trim(), ...parts];
}

const declared = (all = tables) => structureOf([creating("all", all)]);

test("the migrations make what is declared", async () => {
  const structure = await declared();
  expect(structure.length).toBeGreaterThan(200);
  expect(await structureOf(migrations)).toEqual(structure);
});

test("a column that is only declared is noticed, until a migration adds it", async () => {
  const colored = { ...petTable, columns: { ...petTable.columns, color: optional(text) } };
  const structure = await declared(tables.map((table) => (table === petTable ? colored : table)));
  expect(await structureOf(migrations)).not.toEqual(structure);
  const sqlite = "ALTER TABLE pets ADD COLUMN color TEXT;";
  const adding = { name: "color", sqlite, postgres: 'ALTER TABLE pets ADD COLUMN color TEXT COLLATE "C";' };
  expect(await structureOf([...migrations, adding])).toEqual(structure);
});
