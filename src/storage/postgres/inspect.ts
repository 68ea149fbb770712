import { StorageUnavailable } from "../errors.ts";
import { storeMark } from "../generation.ts";
import { migrations } from "../migrations.ts";
import type { Command } from "../statement.ts";
import { type NewestSecrets, type StoreState, stateQueries } from "../store-state.ts";
import type { PostgresAddress } from "./address.ts";
import { Connection } from "./connection.ts";
import { cannotOpen } from "./errors.ts";
import { schemaVersion } from "./schema.ts";

/** How long a statement may take, in milliseconds. */
const DEADLINE = 5_000;

const readServer: Command = {
  sql: `SELECT current_setting('server_version') AS version,
          CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now`,
};

/**
 * Reads the state of the store in a database; undefined if there is none. Rejects with `StorageUnusable` or
 * `StorageUnavailable`.
 */
export async function inspectPostgres(address: PostgresAddress): Promise<StoreState | undefined> {
  const { shown } = address;
  let connection: Connection | undefined;
  try {
    connection = await Connection.open({ address, deadline: DEADLINE });
    const schema = await schemaVersion(connection, shown, migrations);
    if (schema === undefined) return undefined;
    const read = (sql: string) => (connection as Connection).run({ sql });
    const [[environment], [last]] = [await read(stateQueries.environment), await read(stateQueries.lastChange)];
    const [generation] = await read(stateQueries.generation);
    const [server] = await connection.run(readServer);
    const serverAhead = Number(server?.["now"]) - Date.now(); // now, because the next query may take seconds
    return {
      engine: `PostgreSQL ${server?.["version"]}`,
      schema,
      knownSchema: migrations.length,
      belongsToProduction: environment && environment["environment"] === "production",
      mark: generation && storeMark(String(generation["generation"])),
      lastChange: Number(last?.["last_change"] ?? 0),
      serverAhead,
      newestSecrets: (await read(stateQueries.newestSecrets)) as unknown as NewestSecrets[],
    };
  } catch (error) {
    throw error instanceof StorageUnavailable ? error : cannotOpen(shown, error);
  } finally {
    connection?.close();
  }
}
