import type { Row } from "./statement.ts";

/** The state of a store, read without changing it. */
export interface StoreState {
  /** The engine and its version. */
  readonly engine: string;
  /** The number of applied migrations, and the number that this release knows. */
  readonly schema: number;
  readonly knownSchema: number;
  /** Undefined if the store has no environment yet. */
  readonly belongsToProduction: boolean | undefined;
  /** The mark of its backups: see `storeMark`. Undefined before the first start of a service. */
  readonly mark: string | undefined;
  /** The time of the last change of a shop, in unix milliseconds; 0 if there was none. */
  readonly lastChange: number;
  /** How far the clock of the database server is ahead of this machine's, in milliseconds; undefined without a server. */
  readonly serverAhead: number | undefined;
  readonly newestSecrets: readonly NewestSecrets[];
}

/**
 * The number of enabled webhook endpoints for each newest secret. `newest` is the start of the column `secrets`, long
 * enough for the version and the key id of the newest secret: see `endpointsWithoutKey`.
 */
export interface NewestSecrets extends Row {
  readonly newest: string;
  readonly endpoints: bigint;
}

/** The queries that read it, for all engines. The schema of the store must not be newer than this release. */
export const stateQueries = {
  environment: "SELECT environment FROM store_environment",
  generation: "SELECT generation FROM store_generation",
  lastChange: "SELECT COALESCE(MAX(last_at), 0) AS last_change FROM shops",
  newestSecrets: `SELECT substr(secrets, 1, 48) AS newest, count(*) AS endpoints FROM webhook_endpoints
    WHERE state = 'enabled' GROUP BY newest`,
};
