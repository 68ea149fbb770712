import { CommitUnknown, StorageUnavailable } from "../errors.ts";
import type { Command } from "../statement.ts";
import type { Connection } from "./connection.ts";
import { endsConnection, isReported } from "./errors.ts";

export const begin: Command = { sql: "BEGIN" };
/**
 * For transactions that begin with a lock (see `lockStatement`): after the wait for it, they see the changes of its
 * previous holder.
 */
export const beginReadCommitted: Command = { sql: "BEGIN ISOLATION LEVEL READ COMMITTED" };
export const commit: Command = { sql: "COMMIT" };
export const rollback: Command = { sql: "ROLLBACK" };

/**
 * Sends a commit right after the statements of `before`, without waiting for them. Throws the error of `before`, or
 * `CommitUnknown` if the commit may have succeeded.
 */
export async function commitAfter(connection: Connection, before: Promise<unknown>): Promise<void> {
  const [earlier, committed] = await Promise.allSettled([before, connection.run(commit)]);
  if (committed.status === "fulfilled") {
    if (earlier.status === "rejected") throw earlier.reason;
    if (committed.value.command === "COMMIT") return;
    throw new StorageUnavailable("The database has rolled a transaction back.");
  }
  if (earlier.status === "rejected" && isReported(earlier.reason)) throw earlier.reason;
  throw endsConnection(committed.reason) ? commitResultLost(committed.reason) : committed.reason;
}

/** The error for a commit that may have succeeded. `error` ended its connection. */
function commitResultLost(error: unknown): CommitUnknown {
  return new CommitUnknown("The answer of the database to a commit was lost.", { cause: error });
}
