import type { Row, SqlParameter, Statement } from "../statement.ts";
import { Connection } from "./connection.ts";
import { asStorageError, openWithoutMigrating } from "./database.ts";

/** Rows given at a time. */
const BATCH = 500;

/**
 * All rows of a read on the store in `file`, as they were at one moment. It has a connection of its
 * own: as long as it reads, SQLite keeps that state of the store for this connection alone.
 */
export async function* streamRows<R extends Row>(
  file: string,
  statement: Statement<R>,
  parameters: readonly SqlParameter[],
): AsyncGenerator<R[]> {
  const connection = new Connection(openWithoutMigrating(file));
  try {
    let batch: R[] = [];
    for (const row of connection.iterate(statement, parameters)) {
      if (batch.push(row as R) < BATCH) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  } catch (error) {
    throw asStorageError(error);
  } finally {
    connection.close();
  }
}
