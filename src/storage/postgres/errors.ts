import { SQL } from "bun";
import { StorageUnavailable, StorageUnusable } from "../errors.ts";

/**
 * The SQLSTATE of an error from the server (PostgreSQL documentation, appendix A), or the code of an error from the
 * driver (`ERR_POSTGRES_CONNECTION_CLOSED`). Empty for all other errors.
 */
export function postgresCode(error: unknown): string {
  if (!(error instanceof SQL.PostgresError)) return "";
  return typeof error.errno === "string" && error.errno !== "" ? error.errno : error.code;
}

/** No connection could be had in time. */
export class NoConnection extends StorageUnavailable {}

/** The code that a failure of the store is counted by; empty for an error of the work itself. */
export function failureCode(error: unknown): string {
  const code = postgresCode(error) || postgresCode((error as Error).cause);
  return code === "" && error instanceof NoConnection ? "NO_CONNECTION" : code;
}

/** Codes of servers that do not know whether they committed. PostgreSQL itself never sends them. */
const unclear: ReadonlySet<string> = new Set(["40003", "08007"]);

/** True if the server reported the error, so that the outcome of the work is known. */
function isReported(error: unknown): boolean {
  const code = postgresCode(error);
  return /^[0-9A-Z]{5}$/.test(code) && !unclear.has(code);
}

/** True if the transaction was rolled back because of a conflict with others. It may run again. */
export function isConflict(error: unknown): boolean {
  return /^(40001|40P01)$/.test(postgresCode(error));
}

/** True if the statement has waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return postgresCode(error) === "55P03";
}

/** The code of a server that accepts no writes. */
export const READ_ONLY = "25006";

/**
 * True if the connection is unusable: it was lost, a proxy lost its connection, the server no longer accepts writes, or
 * it ended the session because this process was idle in a transaction for too long.
 */
export function endsConnection(error: unknown): boolean {
  return /^(ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME)|08|40003|57P0|25006|25P03)/.test(postgresCode(error));
}

/** True if the server, which responds, closed a new connection before it was ready, with or without a reason. */
export function endsNewConnection(error: unknown): boolean {
  return postgresCode(error) === "ERR_POSTGRES_CONNECTION_FAILED" || (isReported(error) && endsConnection(error));
}

/** The error for work that has waited too long for a lock. */
export function dataLocked(cause?: unknown): StorageUnavailable {
  return new StorageUnavailable("Another transaction has kept the data locked for too long.", { cause });
}

/** Converts an error of the driver to `StorageUnavailable`. Returns other errors unchanged. */
export function asStorageError(error: unknown): unknown {
  if (error instanceof StorageUnavailable || error instanceof StorageUnusable) return error;
  if (isConflict(error))
    return new StorageUnavailable("This write conflicted with other writes at each attempt.", { cause: error });
  if (isLockTimeout(error)) return dataLocked(error);
  return postgresCode(error) === "" ? error : new StorageUnavailable((error as Error).message, { cause: error });
}

/** The error for an operator about a store that cannot be opened. */
export function cannotOpen(shown: string, error: unknown): StorageUnusable {
  if (error instanceof StorageUnusable) return error;
  const reason = (error as Error).message.replace(/\.$/, "");
  return new StorageUnusable(`The store in ${shown} cannot be opened: ${reason}.`, { cause: error });
}
