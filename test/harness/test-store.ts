import { Database } from "bun:sqlite";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { domains } from "../../src/app/domains.ts";
import { openStorage } from "../../src/app/store/engines.ts";
import { readConfig } from "../../src/config.ts";
import { settingsOf } from "../../src/domains/domain.ts";
import { shopFigures } from "../../src/domains/shop.domain.ts";
import type { OpenStorage } from "../../src/storage/storage.ts";
import { eventually } from "./program.ts";
import { SharedPostgres } from "./shared-postgres.ts";

/** The store of a service under test. */
export interface TestStore {
  /** The settings with which a service uses it. */
  readonly settings: Record<string, string>;
  /** The folder of an embedded store; empty on PostgreSQL. */
  readonly folder: string;
  /** Runs SQL alongside the running service. */
  run(sql: string): Promise<void>;
  /** Runs one statement alongside the running service and returns its rows. */
  rows(sql: string): Promise<unknown[]>;
  /** Opens it alongside the running service. */
  open(): Promise<OpenStorage>;
  /** Deletes all animals, orders, categories and events alongside the running service, and resets their ids and times. */
  empty(): Promise<void>;
  /** Begins a transaction with SQL. The returned function ends it, by default with a rollback. */
  hold(sql: string): Promise<(end?: string) => Promise<void>>;
  /** Locks the animals against writes until the returned function is called. */
  lock(): Promise<() => Promise<void>>;
  /** Locks a shop against changes in the same way; on SQLite, the whole store. */
  lockShop(shop: number): Promise<() => Promise<void>>;
  /** All of its contents, as bytes or as text. */
  contents(): Promise<string>;
  remove(): Promise<void>;
}

/** The tables of animals, orders, categories and events. */
const shopTables = ["pets", "events", "store_orders", "categories", "deleted_categories", "category_animals"];
const resetShops = `UPDATE shops SET ${[
  "last_event_id",
  "last_at",
  ...Object.keys(shopFigures.columns).filter((column) => column !== "animals_allowed"),
]
  .map((column) => `${column} = 0`)
  .join(", ")};`;

/** True if services under test keep their stores in PostgreSQL: `TEST_ENGINE=postgres`. */
export const onPostgres = process.env["TEST_ENGINE"] === "postgres";

/** An empty store of the engine that the tests run on. */
export function newTestStore(): Promise<TestStore> {
  return onPostgres ? newDatabase() : newFolder();
}

async function newFolder(): Promise<TestStore> {
  const dataDir = mkdtempSync(join(tmpdir(), "petstore-test-"));
  const settings = { PETSTORE_DATA_DIR: dataDir };
  const withDatabase = async <T>(work: (database: Database) => T) => {
    const database = new Database(join(dataDir, "petstore.db"));
    database.run("PRAGMA busy_timeout = 5000");
    const result = work(database);
    database.close();
    // A service in this process keeps its read transaction until the end of the event-loop turn.
    await new Promise((resolve) => setImmediate(resolve));
    return result;
  };
  const run = async (sql: string) => void (await withDatabase((database) => database.run(sql)));
  const hold = async (sql: string) => {
    const database = new Database(join(dataDir, "petstore.db"));
    database.run("PRAGMA busy_timeout = 10000");
    database.run(`BEGIN IMMEDIATE; ${sql}`);
    return async (end = "ROLLBACK") => {
      database.run(end);
      database.close();
    };
  };
  return {
    settings,
    folder: dataDir,
    run,
    rows: (sql) => withDatabase((database) => database.query(sql).all()),
    open: () => openStorage(readConfig(settings, undefined, settingsOf(domains))),
    empty: () =>
      run(`
        ${shopTables.map((table) => `DELETE FROM ${table};`).join(" ")}
        ${resetShops}
      `),
    hold,
    lock: () => hold(""),
    lockShop: () => hold(""),
    contents: async () =>
      readdirSync(dataDir)
        .map((file) => readFileSync(join(dataDir, file), "latin1"))
        .join("\n"),
    remove: async () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

/** Resolves when a session waits for a lock; on PostgreSQL. */
export async function lockAwaited(store: TestStore): Promise<void> {
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  await eventually(async () => (await store.rows(waiting)).length > 0);
}

let shared: Promise<SharedPostgres> | undefined;

async function newDatabase(): Promise<TestStore> {
  const postgres = await (shared ??= SharedPostgres.find());
  const { server } = postgres;
  const name = await postgres.newDatabase();
  const settings = { PETSTORE_DATABASE_URL: server.url(name) };
  const run = async (sql: string) => void (await server.run(sql, name));
  const hold = async (sql: string) => {
    const pool = new Bun.SQL({ url: server.url(name), max: 1 });
    const session = await pool.reserve();
    await session.unsafe(`BEGIN; ${sql}`);
    return async (end = "ROLLBACK") => {
      await session.unsafe(end); // keeps a reference: the pool may close a session without one
      await pool.close({ timeout: 0 });
    };
  };
  return {
    settings,
    folder: "",
    run,
    rows: (sql) => server.run(sql, name),
    open: () => openStorage(readConfig(settings, undefined, settingsOf(domains))),
    empty: () =>
      run(`
        TRUNCATE ${shopTables.join(", ")};
        ${resetShops}
      `),
    hold,
    lock: () => hold("LOCK TABLE pets IN EXCLUSIVE MODE"),
    lockShop: (shop) => hold(`SELECT 1 FROM shops WHERE shop = ${shop} FOR UPDATE`),
    contents: async () => {
      const tables = await server.run<{ tablename: string }>(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
        name,
      );
      const texts = tables.map(({ tablename }) => server.run(`SELECT t::text AS row FROM ${tablename} AS t`, name));
      return JSON.stringify(await Promise.all(texts));
    },
    remove: async () => void (await server.run(`DROP DATABASE ${name} WITH (FORCE)`)),
  };
}
