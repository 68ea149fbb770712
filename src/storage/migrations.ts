import { initial } from "./migrations/initial.ts";
import type { Migration } from "./migrations/migration.ts";

/** All steps, in order. The version of a schema is the number of steps that it has taken. */
export const migrations: readonly Migration[] = [initial];
