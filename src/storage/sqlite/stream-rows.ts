import type { Row, SqlParameter, Statement } from "../statement.ts";
import { Connection } from "./connection.ts";
import { asStorageError, openWithoutMigrating } from "./database.ts";

/** Rows per batch. */
const BATCH = 500;

/**
 * All rows of a read on the store in `file`, from one snapshot. It uses a separate connection, because SQLite keeps the
 * snapshot for that connection until the read ends.
 */
export async function* streamRows<R extends Row>(
  file: string,
  statement: Statement<R>,
  parameters: readonly SqlParameter[],
): AsyncGenerator<R[]> {
  const connection = new Connection(openWithoutMigrating(file));
  try {
    yield* connection.batches(statement, parameters, BATCH) as Generator<R[]>;
  } catch (error) {
    throw asStorageError(error);
  } finally {
    connection.close();
  }
}
