import { change, query } from "./statement.ts";
import type { Storage } from "./storage.ts";
import { enumeration, onlyRow, table } from "./table.ts";
import { type Change, first } from "./transaction.ts";

export const environmentTable = table(
  "store_environment",
  { only_row: onlyRow, environment: enumeration("production", "other") },
  { key: ["only_row"] },
);

type EnvironmentRow = { environment: "production" | "other" };

export const readEnvironment = query<[], EnvironmentRow>("SELECT environment FROM store_environment");
// If two services create the first key at the same time, the record of the first one stays.
const keepEnvironment = change<[environment: string], EnvironmentRow>(
  `INSERT INTO store_environment (only_row, environment) VALUES (1, $1)
   ON CONFLICT (only_row) DO UPDATE SET environment = store_environment.environment RETURNING environment`,
);

/** True if the store belongs to production; undefined until it is assigned to an environment. */
export async function belongsToProduction(storage: Storage): Promise<boolean | undefined> {
  const row = await storage.read(first(readEnvironment));
  return row && row.environment === "production";
}

/** Part of a transaction: records whether the store belongs to production, unless it is recorded. Returns the record. */
export function* recordEnvironment(isProduction: boolean): Change<boolean> {
  // `keepEnvironment` locks the only row until the commit. Keys of all accounts would wait for each other.
  const recorded = yield* first(readEnvironment);
  const kept = recorded ?? (yield* first(keepEnvironment, isProduction ? "production" : "other"));
  return kept?.environment === "production";
}
