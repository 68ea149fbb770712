// Makes and opens stores as releases leave them: later releases open them, walk through them and change them.
import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../../src/app/schema.ts";
import { scopes } from "../../src/contract/caller.ts";
import { MIGRATIONS_TABLE } from "../../src/storage/applied-migrations.ts";
import { parsePostgresAddress } from "../../src/storage/postgres/address.ts";
import { openPostgres } from "../../src/storage/postgres/opening.ts";
import { TestService } from "../harness/service.ts";
import { newTestStore, onPostgres, type TestStore } from "../harness/test-store.ts";
import type { Engine, SampleStore } from "./sample-files.ts";

/** The engine that the tests run on. */
export const engine: Engine = onPostgres ? "postgresql" : "sqlite";
/** What the engine keeps for itself, and makes again. */
const ownTables = `'${MIGRATIONS_TABLE}', 'petstore_leader'`;
const paths = ["/pets?limit=100", "/categories?limit=100", "/store/orders?limit=100", "/events?limit=100", "/shop"];

/** Makes a shop with something of each kind, and takes its store. */
export async function makeSample(): Promise<SampleStore> {
  const service = await TestService.start();
  const key = await service.newKey("enterprise", undefined, scopes);
  const send = (method: string, path: string, body?: unknown) =>
    service.call(method, path, { key, ...(body !== undefined && { body }) });
  await send("POST", "/categories", { name: "Dogs", metadata: { shelf: "B-12" } });
  for (const status of [undefined, "available", "pending", "sold"]) {
    await send("POST", "/pets", { name: `Ünal ${status}`, categoryId: 1, ...(status && { status }) });
  }
  await send("POST", "/pets", { name: "Rex", categoryId: 7, status: "available" });
  await send("POST", "/pets", { name: "Ida", categoryId: 1, status: "available", metadata: { supplier: "Tiny Paws" } });
  await send("POST", "/store/orders", { petId: 2, reference: "receipt 1" });
  await send("POST", "/store/orders", { petId: 5, metadata: { till: "3" } });
  await send("POST", "/store/orders/1/confirm");
  await send("DELETE", "/pets/1");
  const replies = await readAll(service, key);
  await service.app.stop();
  const content = onPostgres ? await rowsOf(service.store) : fileOf(service.store);
  await service.store.remove();
  return { steps: migrations, key, replies, content };
}

/** What a shop answers now, as samples keep it. */
export async function readAll(service: TestService, key: string): Promise<Record<string, unknown>> {
  const replies: Record<string, unknown> = {};
  for (const path of paths) replies[path] = (await service.call("GET", path, { key })).json;
  return replies;
}

/** A store with what a sample holds, as its release has left it. */
export async function storeWith({ content, steps }: SampleStore): Promise<TestStore> {
  const store = await newTestStore();
  if (typeof content === "string") {
    await Bun.write(join(store.folder, "petstore.db"), Buffer.from(content, "base64"));
    return store;
  }
  await store.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  const address = parsePostgresAddress(store.settings["PETSTORE_DATABASE_URL"] as string);
  if (!address || "problem" in address) throw new TypeError("The tests have no address of a database.");
  await (await openPostgres(address, { migrations: steps })).close();
  // PostgreSQL makes the values of generated columns itself.
  const columns = (await store.rows(
    `SELECT table_name, string_agg(column_name, ', ') AS columns FROM information_schema.columns
     WHERE table_schema = 'public' AND is_generated = 'NEVER' GROUP BY table_name`,
  )) as { table_name: string; columns: string }[];
  const columnsOf = new Map(columns.map((one) => [one.table_name, one.columns]));
  const fill = Object.entries(content).map(([table, rows]) => {
    const all = columnsOf.get(table);
    const given = `json_populate_recordset(NULL::${table}, $rows$${rows}$rows$::json)`;
    return `DELETE FROM ${table}; INSERT INTO ${table} (${all}) SELECT ${all} FROM ${given};`;
  });
  // Rows come in any order: their references are not checked.
  await store.run(`SET session_replication_role = replica; ${fill.join("\n")}
    SELECT setval(pg_get_serial_sequence('shops', 'shop'), (SELECT max(shop) FROM shops));
    SET session_replication_role = DEFAULT;`);
  return store;
}

function fileOf({ folder }: TestStore): string {
  const copy = join(folder, "sample.db");
  const database = new Database(join(folder, "petstore.db"));
  database.run(`VACUUM INTO '${copy}'`);
  database.close();
  return readFileSync(copy).toString("base64");
}

async function rowsOf(store: TestStore): Promise<Record<string, string>> {
  const tables = (await store.rows(
    `SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN (${ownTables})`,
  )) as { tablename: string }[];
  const filled: Record<string, string> = {};
  for (const { tablename } of tables) {
    const [row] = (await store.rows(`SELECT json_agg(t)::text AS rows FROM ${tablename} AS t`)) as {
      rows: string | null;
    }[];
    if (row?.rows) filled[tablename] = row.rows;
  }
  return filled;
}
