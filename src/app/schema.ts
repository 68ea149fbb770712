import type { Migration } from "../storage/applied-migrations.ts";
import { initial } from "../storage/migrations/initial.ts";

/** All migrations, in order. The version of a schema is the number of its applied migrations. */
export const migrations: readonly Migration[] = [initial];
