import { StorageUnusable } from "../errors.ts";
import { storeMark } from "../generation.ts";
import { migrations } from "../migrations.ts";
import { type NewestSecrets, type StoreState, stateQueries } from "../store-state.ts";
import { openWithoutMigrating, schemaVersion } from "./database.ts";

/** Reads the state of the store in a file. A service may use the store at the same time. Throws `StorageUnusable`. */
export function inspectSqlite(file: string): StoreState {
  const database = openWithoutMigrating(file);
  try {
    const read = (sql: string) => database.query<Record<string, string | bigint>, []>(sql).get();
    const schema = schemaVersion(database, file, migrations);
    const generation = read(stateQueries.generation)?.["generation"];
    const environment = read(stateQueries.environment)?.["environment"];
    return {
      engine: `SQLite ${read("SELECT sqlite_version() AS version")?.["version"]}`,
      schema,
      knownSchema: migrations.length,
      belongsToProduction: environment === undefined ? undefined : environment === "production",
      mark: generation === undefined ? undefined : storeMark(String(generation)),
      lastChange: Number(read(stateQueries.lastChange)?.["last_change"] ?? 0),
      serverAhead: undefined,
      newestSecrets: database.query<NewestSecrets, []>(stateQueries.newestSecrets).all(),
    };
  } catch (error) {
    if (error instanceof StorageUnusable) throw error;
    throw new StorageUnusable(`The store at ${file} cannot be read: ${(error as Error).message}.`, { cause: error });
  } finally {
    database.close();
  }
}
