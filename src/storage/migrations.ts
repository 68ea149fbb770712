import type { Migration } from "./migrations/migration.ts";
import { steps1To6 } from "./migrations/steps-1-to-6.ts";
import { stepsFrom7 } from "./migrations/steps-from-7.ts";

/** All steps, in order. The version of a schema is the number of steps that it has taken. */
export const migrations: readonly Migration[] = [...steps1To6, ...stepsFrom7];
