import { StorageUnavailable } from "../errors.ts";
import type { EngineSql, Row, Values } from "../statement.ts";
import type { Connection } from "./connection.ts";
import { postgresCode } from "./errors.ts";

/** How long the consumer may take for one batch, in milliseconds. Until then, the server keeps a snapshot. */
export const STREAM_IDLE = 600_000;

const begin: EngineSql = { sql: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" };
/** The server's code for a session that it ended because this process was idle in a transaction for too long. */
const IDLE = "25P03";
/** Only these rows are in memory at a time. */
const fetch: EngineSql = { sql: "FETCH FORWARD 500 FROM streamed" };

/**
 * All rows of a read, from one snapshot, through a cursor (PostgreSQL documentation, DECLARE). The connection must have
 * no other user, and must be closed afterwards.
 */
export async function* streamRows<R extends Row>(
  connection: Connection,
  { sql }: EngineSql<Values, R>,
  parameters: Values,
): AsyncGenerator<R[]> {
  try {
    await connection.run(begin);
    await connection.run({ sql: `DECLARE streamed NO SCROLL CURSOR FOR ${sql}` }, parameters);
    for (;;) {
      const rows = await connection.run(fetch);
      if (rows.length === 0) return;
      yield rows as Row[] as R[];
    }
  } catch (error) {
    if (postgresCode(error) !== IDLE) throw error;
    throw new StorageUnavailable(`The next rows were not read for ${STREAM_IDLE / 60_000} minutes.`, { cause: error });
  }
}
