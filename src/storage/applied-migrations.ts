import { CryptoHasher } from "bun";
import { creationOf } from "./creation.ts";
import { StorageUnusable } from "./errors.ts";
import type { Table } from "./table.ts";

/** One change of the schema. Migrations never change after their release; new ones are added at the end. */
export interface Migration {
  readonly name: string;
  /** The statements for SQLite. */
  readonly sqlite: string;
  /** The statements for PostgreSQL. Processes of the previous release use the new schema until they are replaced. */
  readonly postgres: string;
}

/** A migration that creates tables. */
export function creating(name: string, tables: readonly Table[]): Migration {
  const [sqlite, postgres] = (["sqlite", "postgres"] as const).map((engine) =>
    tables.map((table) => creationOf(table, engine)).join(""),
  ) as [string, string];
  return { name, sqlite, postgres };
}

/**
 * The table of the migrations that were applied to a store, by their digests. Each engine creates it. Its name and its
 * column `step` cannot change: every store has them.
 */
export const MIGRATIONS_TABLE = "petstore_steps";

/** Identifies a migration in a store. It changes with any statement of the migration. */
export function digestOf({ sqlite, postgres }: Migration): string {
  return new CryptoHasher("sha256").update(`${sqlite}\0${postgres}`).digest("hex").slice(0, 16);
}

/**
 * The version of a store's schema: the number of applied migrations. `digests` are theirs, in order. Throws
 * `StorageUnusable` if a newer release or an unreleased version wrote the store. Its tables may look right, and
 * statements would fail later. `shown` is the name of the store in messages.
 */
export function schemaVersionOf(digests: readonly string[], migrations: readonly Migration[], shown: string): number {
  const known = migrations.slice(0, digests.length);
  if (known.some((migration, index) => digestOf(migration) !== digests[index])) throw unreleasedSchema(shown);
  if (digests.length > migrations.length) throw newerSchema(shown, digests.length, migrations.length);
  return digests.length;
}

/** For a store that may not be migrated: a service of an earlier release may use it. */
export function olderSchema(shown: string, version: number, known: number): StorageUnusable {
  return new StorageUnusable(
    `The store at ${shown} has schema ${version}; this release uses ${known}. Take a backup, then start the service ` +
      "on this store, which updates it.",
  );
}

export function newerSchema(shown: string, version: number, known: number): StorageUnusable {
  return new StorageUnusable(
    `The store at ${shown} was written by a newer release: its schema is ${version}, this release knows ${known}.`,
  );
}

/** For a store that an unreleased version wrote, for example before the first release. */
export function unreleasedSchema(shown: string): StorageUnusable {
  return new StorageUnusable(
    `The store at ${shown} was made by a version of Petstore that was never released, and this release cannot read it. ` +
      "To keep its animals, start that version again and run `petstore export`. Then start this release with a new " +
      "store and run `petstore import`.",
  );
}
