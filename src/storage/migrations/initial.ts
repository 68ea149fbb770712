import { accountTables } from "./initial/accounts.ts";
import { eventTables } from "./initial/events.ts";
import { limitTables } from "./initial/limits.ts";
import { requestTables } from "./initial/requests.ts";
import { shopTables } from "./initial/shops.ts";
import { usageTables } from "./initial/usage.ts";
import { webhookTables } from "./initial/webhooks.ts";
import type { Migration } from "./migration.ts";

const parts: readonly Migration[] = [
  accountTables,
  shopTables,
  eventTables,
  limitTables,
  usageTables,
  webhookTables,
  requestTables,
];

/** The schema of the first release, in one step. */
export const initial: Migration = {
  name: "initial",
  sqlite: parts.map(({ sqlite }) => sqlite).join(""),
  postgres: parts.map(({ postgres }) => postgres).join(""),
};
