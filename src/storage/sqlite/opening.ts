import type { Migration } from "../applied-migrations.ts";
import { StorageUnusable } from "../errors.ts";
import { type EngineState, type Look, type StorageObserver, silentObserver } from "../storage.ts";
import { isBusy, openWithoutMigrating, schemaVersion } from "./database.ts";
import { SqliteStorage } from "./sqlite-storage.ts";

/** How long to wait for another process that opens, migrates or locks the store, in milliseconds. */
const DEADLINE = 10_000;
const RETRY = 5;

interface OpeningOptions {
  readonly migrations: readonly Migration[];
  /** If false, a store with an older schema is refused. */
  readonly mayMigrate?: boolean;
  readonly observer?: StorageObserver | undefined;
  /** Ends the wait. */
  readonly stop?: AbortSignal | undefined;
}

/**
 * Opens the store at a path, its file or a link to it, as soon as no other process has it locked. The wait does not block
 * the thread. Rejects with `StorageUnusable`.
 */
export async function openSqlite(givenPath: string, options: OpeningOptions): Promise<SqliteStorage> {
  const { migrations, mayMigrate, observer = silentObserver, stop } = options;
  const deadline = performance.now() + DEADLINE;
  for (let isWaiting = false; ; isWaiting = true) {
    try {
      return new SqliteStorage(givenPath, migrations, observer, mayMigrate);
    } catch (error) {
      if (!isBusy((error as Error).cause) || stop?.aborted || performance.now() > deadline) throw error;
      if (!isWaiting) observer.postponed("open_store", error as Error);
    }
    await Bun.sleep(RETRY);
  }
}

/** Reads the state of the store in a file, which a service may use at the same time. Rejects with `StorageUnusable`. */
export async function inspectSqlite<T>(
  file: string,
  migrations: readonly Migration[],
  read: (look: Look) => Promise<T>,
): Promise<EngineState & T> {
  const database = openWithoutMigrating(file);
  try {
    const schema = schemaVersion(database, file, migrations);
    const engine = database.query<{ version: string }, []>("SELECT sqlite_version() AS version").get();
    return {
      engine: `SQLite ${engine?.version}`,
      schema,
      knownSchema: migrations.length,
      serverAhead: undefined,
      ...(await read(({ sql }) => database.query<never, []>(sql).all())),
    };
  } catch (error) {
    if (error instanceof StorageUnusable) throw error;
    throw new StorageUnusable(`The store at ${file} cannot be read: ${(error as Error).message}.`, { cause: error });
  } finally {
    database.close();
  }
}
