import { CommitUnknown, StorageUnavailable } from "../errors.ts";
import type { EngineSql } from "../statement.ts";
import type { Connection } from "./connection.ts";
import { endsConnection } from "./errors.ts";

export const begin: EngineSql = { sql: "BEGIN" };
/**
 * For transactions that begin with a lock (see `lockStatement`): after the wait for it, they see the changes of its
 * previous holder.
 */
export const beginReadCommitted: EngineSql = { sql: "BEGIN ISOLATION LEVEL READ COMMITTED" };
export const commit: EngineSql = { sql: "COMMIT" };
export const rollback: EngineSql = { sql: "ROLLBACK" };

/** Commits a transaction. Throws `CommitUnknown` if that may have succeeded. */
export async function commitChange(connection: Connection): Promise<void> {
  const { command } = await connection.run(commit).catch((error: unknown) => {
    throw endsConnection(error) ? commitResultLost(error) : error;
  });
  if (command !== "COMMIT") throw new StorageUnavailable("The database has rolled a transaction back.");
}

/** The error for a commit that may have succeeded. `error` ended its connection. */
function commitResultLost(error: unknown): CommitUnknown {
  return new CommitUnknown("The answer of the database to a commit was lost.", { cause: error });
}
