import { bind } from "../contract/handler.ts";
import { changeTable } from "./accounts/account-changes.store.ts";
import { accountCommands } from "./accounts/accounts.command.ts";
import { accountTable } from "./accounts/accounts.statements.ts";
import type { ServedDomain } from "./callers.ts";
import { keySettings } from "./keys/api-key.ts";
import { currentKeyHandlers } from "./keys/current-key.handlers.ts";
import { currentKeyOperations } from "./keys/current-key.operations.ts";
import { keyCommands } from "./keys/keys.command.ts";
import { keyHandlers } from "./keys/keys.handlers.ts";
import { keyEventTypes, keyOperations } from "./keys/keys.operations.ts";
import { keyTable } from "./keys/keys.statements.ts";
import { requestsCommand } from "./requests/requests.command.ts";
import { requestHandlers } from "./requests/requests.handlers.ts";
import { requestOperations } from "./requests/requests.operations.ts";
import { requestTables } from "./requests/requests.statements.ts";
import { usageHandlers } from "./usage/usage.handlers.ts";
import { usageOperations } from "./usage/usage.operations.ts";
import { usageTable } from "./usage/usage.statements.ts";
import { usageCommand } from "./usage.command.ts";

/** Accounts, their keys, their usage and the records of their requests: what `CallerParts` holds. */
export const accountsDomain: ServedDomain = {
  name: "accounts",
  operations: [...currentKeyOperations, ...keyOperations, ...usageOperations, ...requestOperations],
  eventTypes: keyEventTypes,
  settings: keySettings,
  tables: [changeTable, accountTable, keyTable, usageTable, ...requestTables],
  commands: [...accountCommands, ...keyCommands, usageCommand, requestsCommand],
  open: ({ clock, limiter, callers, operations }) => [
    ...bind(currentKeyOperations, currentKeyHandlers(callers.keys, callers.accounts, limiter, clock)),
    ...bind(keyOperations, keyHandlers(callers.keys, callers.authenticator, clock)),
    ...bind(usageOperations, usageHandlers(callers.usage, operations)),
    ...bind(requestOperations, requestHandlers(callers.requestStore, operations)),
  ],
};
