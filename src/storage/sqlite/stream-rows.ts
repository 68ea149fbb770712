import { STREAM_IDLE, streamIdle } from "../errors.ts";
import type { Row, Statement, Values } from "../statement.ts";
import { Connection } from "./connection.ts";
import { asStorageError, openWithoutMigrating } from "./database.ts";

/** Rows per batch. */
const BATCH = 500;

/**
 * All rows of a read on the store in `file`, from one snapshot. It uses a separate connection, because SQLite keeps the
 * snapshot for that connection until the read ends. Until then, the write-ahead log grows: a consumer that pauses for
 * longer than `STREAM_IDLE` loses the snapshot.
 */
export async function* streamRows<R extends Row>(
  file: string,
  statement: Statement<Values, R>,
  parameters: Values,
): AsyncGenerator<R[]> {
  const connection = new Connection(openWithoutMigrating(file));
  let isIdle = false;
  const idle = setTimeout(() => {
    isIdle = true;
    connection.close();
  }, STREAM_IDLE);
  try {
    for (const rows of connection.batches(statement, parameters, BATCH)) {
      idle.refresh();
      yield rows as R[];
      if (isIdle) throw streamIdle();
    }
  } catch (error) {
    throw asStorageError(error, file);
  } finally {
    clearTimeout(idle);
    connection.close();
  }
}
