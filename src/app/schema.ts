import { storedResponseTable } from "../domains/idempotency/stored-responses.store.ts";
import { windowTable } from "../limits/limits.store.ts";
import { creating, type Migration } from "../storage/applied-migrations.ts";
import { environmentTable } from "../storage/environment.ts";
import { generationTable } from "../storage/generation.ts";
import { domains } from "./domains.ts";

/** Tables of no domain: requests to any domain leave rows in them. */
export const sharedTables = [windowTable, storedResponseTable];

/** All tables of a store, as domains declare them. */
export const tables = [
  generationTable,
  environmentTable,
  ...sharedTables,
  ...domains.flatMap((domain) => domain.tables ?? []),
];

/**
 * All migrations, in order. The version of a schema is the number of its applied migrations. Until the first release, one
 * makes all tables as they are declared. From then on it is what that release has made, and each change of a declaration
 * needs a migration: `test/store/schema.both.test.ts` compares the two.
 */
export const migrations: readonly Migration[] = [creating("initial", tables)];
