/** What is seen of a store without changing it. */
export interface StoreState {
  /** The engine and its version. */
  readonly engine: string;
  /** Steps of the schema that the store has taken, and those that this release knows. */
  readonly schema: number;
  readonly knownSchema: number;
  /** Undefined while the store belongs to no environment. */
  readonly isOfProduction: boolean | undefined;
  /** When a shop was changed last, by real time, in unix milliseconds; 0 for never. */
  readonly lastChange: number;
  /** The clock of the database server, in unix milliseconds; undefined where there is no server. */
  readonly serverTime: number | undefined;
}

/** Reads that each engine can run on a store whose schema is not newer than this release. */
export const readStoreState = {
  environment: "SELECT environment FROM store_environment",
  lastChange: "SELECT COALESCE(MAX(last_at - ahead), 0) AS last_change FROM shops",
};
