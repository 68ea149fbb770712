import type { Migration } from "../applied-migrations.ts";
import { StorageUnavailable, StorageUnusable } from "../errors.ts";
import type { EngineSql } from "../statement.ts";
import { type EngineState, type Look, type StorageObserver, silentObserver } from "../storage.ts";
import type { PostgresAddress } from "./address.ts";
import { Connection, withConnection } from "./connection.ts";
import { cannotOpen, endsConnection } from "./errors.ts";
import { PostgresStorage } from "./postgres-storage.ts";
import { prepareSchema, type SchemaOptions, schemaVersion } from "./schema.ts";

/** How long to wait for an unreachable server, in milliseconds. */
const DEADLINE = 10_000;
const RETRY = 100;
/** How long a statement of a migration may take, in milliseconds. */
const SCHEMA_DEADLINE = 600_000;

export interface OpeningOptions extends Partial<Pick<SchemaOptions, "create" | "mayMigrate">> {
  readonly migrations: SchemaOptions["migrations"];
  readonly observer?: StorageObserver | undefined;
  /** Ends the wait. */
  readonly stop?: AbortSignal | undefined;
}

/**
 * Opens the store in a database as soon as its server is reachable, and migrates an older schema. Rejects with
 * `StorageUnusable`.
 */
export async function openPostgres(address: PostgresAddress, options: OpeningOptions): Promise<PostgresStorage> {
  const { observer = silentObserver, stop, create = true, mayMigrate = true, migrations } = options;
  const { shown } = address;
  const deadline = performance.now() + DEADLINE;
  for (let isWaiting = false; ; isWaiting = true) {
    let connection: Connection | undefined;
    const end = () => connection?.close();
    stop?.addEventListener("abort", end);
    try {
      connection = await Connection.open({ address, deadline: SCHEMA_DEADLINE });
      await prepareSchema(connection, { shown, create, mayMigrate, migrations });
      return new PostgresStorage(address, observer);
    } catch (error) {
      if (error instanceof StorageUnusable) throw error;
      const isAway = endsConnection(error) || error instanceof StorageUnavailable;
      if (!isAway || stop?.aborted || performance.now() > deadline) throw cannotOpen(shown, error);
      if (!isWaiting) observer.postponed("open_store", error as Error);
    } finally {
      connection?.close();
      stop?.removeEventListener("abort", end);
    }
    await Bun.sleep(RETRY);
  }
}

/** How long other statements may take, in milliseconds. */
const STATEMENT_DEADLINE = 5_000;

const readServer: EngineSql = {
  sql: `SELECT current_setting('server_version') AS version,
          CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now`,
};

/**
 * Reads the state of the store in a database; undefined if there is none. Rejects with `StorageUnusable` or
 * `StorageUnavailable`.
 */
export async function inspectPostgres<T>(
  address: PostgresAddress,
  migrations: readonly Migration[],
  read: (look: Look) => Promise<T>,
): Promise<(EngineState & T) | undefined> {
  return withConnection({ address, deadline: STATEMENT_DEADLINE }, async (connection) => {
    const schema = await schemaVersion(connection, address.shown, migrations);
    if (schema === undefined) return undefined;
    const [server] = await connection.run(readServer);
    const serverAhead = Number(server?.["now"]) - Date.now(); // now, because the next query may take seconds
    const known = { engine: `PostgreSQL ${server?.["version"]}`, schema, knownSchema: migrations.length, serverAhead };
    return { ...known, ...(await read(async (query) => (await connection.run(query)) as never)) };
  });
}

/** How long the server may still list a session after its process has ended, in milliseconds. */
const LISTED_AFTER_END = 3_000;

type CountRow = { sessions: bigint };

const countOthers: EngineSql<[], CountRow> = {
  sql: `SELECT count(*) AS sessions FROM pg_stat_activity
        WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
};

/**
 * Rejects with `StorageUnusable` if the database has other sessions. A running service always has some. Rejects with
 * `StorageUnusable` or `StorageUnavailable` if the database cannot be reached.
 */
export async function requireNoOtherSession(address: PostgresAddress): Promise<void> {
  await withConnection({ address, deadline: STATEMENT_DEADLINE }, async (connection) => {
    const others = await countAtLast(connection);
    if (others === 0) return;
    const sessions = others === 1 ? "1 other session is" : `${others} other sessions are`;
    throw new StorageUnusable(
      `The store in ${address.shown} is in use: ${sessions} connected to it. Stop its services and end other connections first.`,
    );
  });
}

/** Waits until there are no other sessions and returns 0, or returns their number after `LISTED_AFTER_END`. */
async function countAtLast(connection: Connection): Promise<number> {
  const deadline = performance.now() + LISTED_AFTER_END;
  for (;;) {
    const [row] = (await connection.run(countOthers)) as unknown as CountRow[];
    const others = Number(row?.sessions);
    if (others === 0 || performance.now() > deadline) return others;
    await Bun.sleep(RETRY);
  }
}
