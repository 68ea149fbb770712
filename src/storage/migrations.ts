import { initial } from "./migrations/initial.ts";
import type { Migration } from "./migrations/migration.ts";

/** All migrations, in order. The version of a schema is the number of its applied migrations. */
export const migrations: readonly Migration[] = [initial];
