import { SQL } from "bun";
import { StorageUnavailable, StorageUnusable } from "../errors.ts";

/**
 * SQLSTATE of an error that the server reported (PostgreSQL documentation, appendix A), the driver's
 * own code for one that it made (`ERR_POSTGRES_CONNECTION_CLOSED`), or an empty text for all others.
 */
export function postgresCode(error: unknown): string {
  if (!(error instanceof SQL.PostgresError)) return "";
  return typeof error.errno === "string" && error.errno !== "" ? error.errno : error.code;
}

/** What a server says that does not know itself whether it has committed; PostgreSQL alone never does. */
const unclear: ReadonlySet<string> = new Set(["40003", "08007"]);

/** True if the server itself reported it, so that it is known how far it came. */
export function isReported(error: unknown): boolean {
  const code = postgresCode(error);
  return /^[0-9A-Z]{5}$/.test(code) && !unclear.has(code);
}

/** True if the transaction did nothing, because others were in its way: it may run again. */
export function isConflict(error: unknown): boolean {
  return /^(40001|40P01)$/.test(postgresCode(error));
}

/** True if the connection is of no more use: it was lost, the server lost its own, or takes no writes. */
export function endsConnection(error: unknown): boolean {
  return /^(ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME)|08|40003|57P0|25006)/.test(postgresCode(error));
}

/** The error of the port for an error of the driver. */
export function asStorageError(error: unknown): unknown {
  if (error instanceof StorageUnavailable || error instanceof StorageUnusable) return error;
  if (isConflict(error))
    return new StorageUnavailable("Other writes were in the way, again and again.", { cause: error });
  return postgresCode(error) === "" ? error : new StorageUnavailable((error as Error).message, { cause: error });
}
