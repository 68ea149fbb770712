import { accountTables } from "./initial/accounts.ts";
import { limitTables } from "./initial/limits.ts";
import { shopTables } from "./initial/shops.ts";
import { usageTables } from "./initial/usage.ts";
import type { Migration } from "./migration.ts";

const parts: readonly Migration[] = [accountTables, shopTables, limitTables, usageTables];

/** The schema of the first release, in one step. */
export const initial: Migration = {
  name: "initial",
  sqlite: parts.map(({ sqlite }) => sqlite).join(""),
  postgres: parts.map(({ postgres }) => postgres).join(""),
};
