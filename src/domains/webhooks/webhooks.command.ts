import { shopNumber } from "../../contract/caller.ts";
import { isFailure } from "../../contract/errors.ts";
import { all } from "../../storage/transaction.ts";
import { type Command, CommandFailed, withStore } from "../../terminal/command.ts";
import { iso, table } from "../../terminal/output.ts";
import { systemClock } from "../../timing/clock.ts";
import { operator } from "../events/publish.ts";
import { requireAccount } from "../shops/shop-options.ts";
import { allEndpoints, type OwnedEndpointRow } from "./endpoints/endpoints.statements.ts";
import { EndpointStore, type StoredEndpoint, toEndpoint } from "./endpoints/endpoints.store.ts";
import { endpointNotFound } from "./shared.operations.ts";

const headings = ["ID", "ACCOUNT", "MODE", "STATE", "URL", "EXPIRES", "FAILING SINCE", "LAST FAILURE"];

const list: Command = {
  name: "webhooks list",
  summary: "List the webhook endpoints of all accounts.",
  example: "webhooks list --account acc_8sK2mX0qVb4TzR1c",
  options: { account: { meaning: "Only the endpoints of this account.", value: "ACCOUNT" } },
  run: ({ options: { account } }, context) =>
    withStore(context, async (storage) => {
      await requireAccount(storage, account);
      const rows = await storage.read(all(allEndpoints));
      const found = rows
        .filter(({ account_id }) => account === undefined || account_id === account)
        .map((row) => shown(row, toEndpoint(row)));
      const lines = found.map(({ id, accountId, mode, state, url, expiresAt, failingSince, lastFailure }) => [
        id,
        accountId,
        mode,
        state,
        url,
        ...[expiresAt, failingSince, lastFailure].map((cell) => cell ?? "-"),
      ]);
      return { json: found, text: lines.length > 0 ? table(headings, lines) : "There are no webhook endpoints." };
    }),
};

/** A command that pauses or resumes an endpoint. */
function stateCommand(verb: "pause" | "resume", summary: string): Command {
  return {
    name: `webhooks ${verb}`,
    summary,
    example: `webhooks ${verb} we_5f0c2a8e1b7d94c3a6e0f1d2`,
    args: ["ENDPOINT_ID"],
    run: ({ args: [id = ""] }, context) =>
      withStore(context, async (storage) => {
        const row = (await storage.read(all(allEndpoints))).find((one) => one.id === id);
        if (!row) throw noSuchEndpoint(id);
        const owner = { accountId: row.account_id, mode: row.mode, expiresAt: Number.POSITIVE_INFINITY };
        const endpoints = new EndpointStore(systemClock, undefined);
        const changed = await storage.write(() =>
          endpoints.change(owner, operator(shopNumber(row.shop)), id, { paused: verb === "pause" }),
        );
        if (isFailure(changed)) {
          if (changed.error === endpointNotFound) throw noSuchEndpoint(id);
          throw new CommandFailed("webhook_endpoint_expired", expiredEndpoint);
        }
        return { json: shown(row, changed), text: `The webhook endpoint ${id} is ${changed.state}.` };
      }),
  };
}

/** The commands that manage webhook endpoints. */
export const webhookCommands: readonly Command[] = [
  list,
  stateCommand(
    "pause",
    "Stop sending to a webhook endpoint. Its events wait as long as they are stored (PETSTORE_EVENT_DAYS).",
  ),
  stateCommand(
    "resume",
    "Let a paused or disabled webhook endpoint receive events. A disabled one starts with new events.",
  ),
];

const expiredEndpoint =
  "The endpoint has expired with the key that set its URL. A key of its shop must confirm it first.";

function noSuchEndpoint(id: string): CommandFailed {
  return new CommandFailed("webhook_endpoint_not_found", `There is no webhook endpoint ${id}.`);
}

function shown({ account_id: accountId, mode }: OwnedEndpointRow, endpoint: StoredEndpoint) {
  const { id, state, url, types, expiresAt, health } = endpoint;
  return {
    id,
    accountId,
    mode,
    state,
    url,
    types,
    expiresAt: iso(expiresAt),
    failingSince: iso(health.failingSince),
    lastFailure: health.lastFailure?.failure ?? null,
  };
}
