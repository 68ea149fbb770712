import { StorageUnavailable, StorageUnusable } from "../errors.ts";
import { type StorageObserver, silentObserver } from "../storage.ts";
import type { PostgresAddress } from "./address.ts";
import { Connection } from "./connection.ts";
import { cannotOpen, endsConnection } from "./errors.ts";
import { PostgresStorage } from "./postgres-storage.ts";
import { prepareSchema, type SchemaOptions } from "./schema.ts";

/** How long to wait for an unreachable server, in milliseconds. */
const DEADLINE = 10_000;
const RETRY = 100;
/** How long a statement of a migration may take, in milliseconds. */
const SCHEMA_DEADLINE = 600_000;

export interface OpeningOptions extends Partial<Pick<SchemaOptions, "create" | "mayMigrate" | "migrations">> {
  readonly observer?: StorageObserver | undefined;
  /** Ends the wait. */
  readonly stop?: AbortSignal | undefined;
}

/**
 * Opens the store in a database as soon as its server is reachable, and migrates an older schema. Rejects with
 * `StorageUnusable`.
 */
export async function openPostgres(address: PostgresAddress, options: OpeningOptions = {}): Promise<PostgresStorage> {
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
