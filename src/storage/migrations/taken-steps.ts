import { CryptoHasher } from "bun";
import { StorageUnusable } from "../errors.ts";
import type { Migration } from "./migration.ts";

/** The table in which a store tells which steps made its schema. Each engine creates it. */
export const STEPS_TABLE = "petstore_steps";

/** What a step is known by in a store: changes with any statement of the step. */
export function digestOf({ sqlite, postgres }: Migration): string {
  return new CryptoHasher("sha256").update(`${sqlite}\0${postgres}`).digest("hex").slice(0, 16);
}

/**
 * The version of a store's schema: the number of steps that it has taken, by their digests in order. Throws
 * `StorageUnusable` where a newer release made the store, or one that never was: then its tables may look right, and
 * statements fail later. `shown` is the store, for people.
 */
export function versionOf(digests: readonly string[], migrations: readonly Migration[], shown: string): number {
  const known = migrations.slice(0, digests.length);
  if (known.some((step, index) => digestOf(step) !== digests[index])) throw unreleasedSchema(shown);
  if (digests.length > migrations.length) throw newerSchema(shown, digests.length, migrations.length);
  return digests.length;
}

export function newerSchema(shown: string, version: number, known: number): StorageUnusable {
  return new StorageUnusable(
    `The store at ${shown} was written by a newer release: its schema is ${version}, this release knows ${known}.`,
  );
}

/** For a store of a version before the first release, too. */
export function unreleasedSchema(shown: string): StorageUnusable {
  return new StorageUnusable(
    `The store at ${shown} was made by a version of Petstore that was never released, and this release cannot read it. ` +
      "To keep its animals, start that version again and run `petstore export`. Then start this release with a new " +
      "store and run `petstore import`.",
  );
}
