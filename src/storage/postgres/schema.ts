import {
  digestOf,
  MIGRATIONS_TABLE,
  type Migration,
  olderSchema,
  schemaVersionOf,
  unreleasedSchema,
} from "../applied-migrations.ts";
import { StorageUnusable } from "../errors.ts";
import type { EngineSql } from "../statement.ts";
import { beginReadCommitted, commit, rollback } from "./commit.ts";
import type { Connection } from "./connection.ts";
import { isLockTimeout } from "./errors.ts";

/** How long a migration waits for a lock of another session, such as a process that migrates too, in milliseconds. */
const LOCK_DEADLINE = 60_000;
/** The advisory lock for schema changes: "PETS" in ASCII. */
const LOCK = 0x50455453;

const limitWait: EngineSql = { sql: "SELECT set_config('lock_timeout', $1, true)" };
const lock: EngineSql = { sql: "SELECT pg_advisory_xact_lock($1)" };
const countTables: EngineSql = {
  sql: `SELECT count(*) AS tables, count(*) FILTER (WHERE tablename = 'petstore_leader') AS ours,
          count(*) FILTER (WHERE tablename = '${MIGRATIONS_TABLE}') AS applied
        FROM pg_catalog.pg_tables WHERE schemaname = current_schema()`,
};
const readApplied: EngineSql = { sql: `SELECT digest FROM ${MIGRATIONS_TABLE} ORDER BY step` };
const addApplied: EngineSql = { sql: `INSERT INTO ${MIGRATIONS_TABLE} (step, digest) VALUES ($1, $2)` };
/**
 * The tables that no migration creates: the applied migrations, and the leader, which only this engine has. The second
 * table also identifies the schema as ours.
 */
const createOwnTables = `
  CREATE TABLE ${MIGRATIONS_TABLE} (step BIGINT PRIMARY KEY, digest TEXT NOT NULL);
  CREATE TABLE petstore_leader (
    only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
    holder TEXT COLLATE "C" NOT NULL,
    ends_at BIGINT NOT NULL
  );
  INSERT INTO petstore_leader (only_row, holder, ends_at) VALUES (1, '', 0);
`;

/** A write that changes nothing. */
export const writeNothing: EngineSql = { sql: `UPDATE ${MIGRATIONS_TABLE} SET digest = digest WHERE step = 1` };

export interface SchemaOptions {
  /** The name of the database in messages. */
  readonly shown: string;
  /** False if the store must exist. */
  readonly create: boolean;
  /** False if a store with an older schema is refused. */
  readonly mayMigrate: boolean;
  readonly migrations: readonly Migration[];
}

/**
 * Migrates the schema in one transaction. If several processes start at once, one migrates and the others wait. Throws
 * `StorageUnusable` or the errors of the driver.
 */
export async function prepareSchema(connection: Connection, options: SchemaOptions): Promise<void> {
  const { shown, create, mayMigrate, migrations } = options;
  const found = await schemaVersion(connection, shown, migrations);
  if (found === migrations.length) return;
  if (found === undefined && !create) throw new StorageUnusable(`There is no store in ${shown}.`);
  if (found !== undefined && !mayMigrate) throw olderSchema(shown, found, migrations.length);
  await connection.run(beginReadCommitted);
  try {
    await connection.run(limitWait, [String(LOCK_DEADLINE)]);
    await connection.run(lock, [LOCK]);
    const version = await schemaVersion(connection, shown, migrations); // again: another process may have migrated it
    if (version === undefined) await connection.runScript(createOwnTables);
    for (const [index, migration] of migrations.entries()) {
      if (index < (version ?? 0)) continue;
      await connection.runScript(migration.postgres);
      await connection.run(addApplied, [index + 1, digestOf(migration)]);
    }
    await connection.run(commit);
  } catch (error) {
    await connection.run(rollback).catch(() => connection.close());
    if (!isLockTimeout(error)) throw error;
    throw new StorageUnusable(`Another session has kept the schema of ${shown} locked for ${LOCK_DEADLINE / 1_000} s.`);
  }
}

/** The number of applied migrations; undefined if there is no schema. */
export async function schemaVersion(
  connection: Connection,
  shown: string,
  migrations: readonly Migration[],
): Promise<number | undefined> {
  const [found] = await connection.run(countTables);
  if (found?.["tables"] === 0n) return undefined;
  if (found?.["ours"] === 0n) {
    throw new StorageUnusable(
      `${shown} has tables of another program: give the store a database or a schema of its own.`,
    );
  }
  if (found?.["applied"] === 0n) throw unreleasedSchema(shown);
  const applied = await connection.run(readApplied);
  return schemaVersionOf(
    applied.map(({ digest }) => String(digest)),
    migrations,
    shown,
  );
}
