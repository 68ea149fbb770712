import { StorageUnavailable, StorageUnusable } from "../errors.ts";
import type { Command } from "../statement.ts";
import type { PostgresAddress } from "./address.ts";
import { Connection } from "./connection.ts";
import { cannotOpen } from "./errors.ts";

/** How long a statement may take, in milliseconds. */
const DEADLINE = 10_000;
/** How long the server may still list a session after its process has ended, in milliseconds. */
const LISTED_AFTER_END = 3_000;
const RETRY = 100;

type CountRow = { sessions: bigint };

const countOthers: Command<[], CountRow> = {
  sql: `SELECT count(*) AS sessions FROM pg_stat_activity
        WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
};

/**
 * Rejects with `StorageUnusable` if the database has other sessions. A running service always has some. Rejects with
 * `StorageUnusable` or `StorageUnavailable` if the database cannot be reached.
 */
export async function requireNoOtherSession(address: PostgresAddress): Promise<void> {
  const { shown } = address;
  let connection: Connection | undefined;
  try {
    connection = await Connection.open({ address, deadline: DEADLINE });
    const others = await countAtLast(connection);
    if (others > 0) {
      const sessions = others === 1 ? "1 other session is" : `${others} other sessions are`;
      throw new StorageUnusable(
        `The store in ${shown} is in use: ${sessions} connected to it. Stop its services and end other connections first.`,
      );
    }
  } catch (error) {
    throw error instanceof StorageUnavailable ? error : cannotOpen(shown, error);
  } finally {
    connection?.close();
  }
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
