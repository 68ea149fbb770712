import type { Statement } from "../statement.ts";

/** Takes no lock before the first statement that needs one. */
export const begin: Statement = { sql: "BEGIN" };
/** Takes the write lock of the store. */
export const beginImmediate: Statement = { sql: "BEGIN IMMEDIATE" };
export const commit: Statement = { sql: "COMMIT" };
export const rollback: Statement = { sql: "ROLLBACK" };
