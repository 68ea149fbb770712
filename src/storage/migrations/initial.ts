import type { Migration } from "../applied-migrations.ts";
import { accountSchema } from "./initial/accounts.ts";
import { eventSchema } from "./initial/events.ts";
import { limitSchema } from "./initial/limits.ts";
import { requestSchema } from "./initial/requests.ts";
import { shopSchema } from "./initial/shops.ts";
import { usageSchema } from "./initial/usage.ts";
import { webhookSchema } from "./initial/webhooks.ts";

const parts: readonly Migration[] = [
  accountSchema,
  shopSchema,
  eventSchema,
  limitSchema,
  usageSchema,
  webhookSchema,
  requestSchema,
];

/** The schema of the first release, in one step. */
export const initial: Migration = {
  name: "initial",
  sqlite: parts.map(({ sqlite }) => sqlite).join(""),
  postgres: parts.map(({ postgres }) => postgres).join(""),
};
