import { CommitUnknown, StorageUnavailable } from "../errors.ts";
import type { Command } from "../statement.ts";
import type { Connection } from "./connection.ts";
import { endsConnection } from "./errors.ts";

export const begin: Command = { sql: "BEGIN" };
/**
 * For transactions that begin with a lock (see `lockStatement`): after the wait for it, they see the changes of its
 * previous holder.
 */
export const beginReadCommitted: Command = { sql: "BEGIN ISOLATION LEVEL READ COMMITTED" };
export const commit: Command = { sql: "COMMIT" };
export const rollback: Command = { sql: "ROLLBACK" };

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
