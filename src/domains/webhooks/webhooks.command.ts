import { type Command, CommandFailed } from "../../terminal/command.ts";
import { table } from "../../terminal/table.ts";
import { withStore } from "../../terminal/with-store.ts";
import { operator } from "../events/author.ts";
import { allEndpoints, type OwnedEndpointRow } from "./endpoints.statements.ts";
import { EndpointStore, toEndpoint } from "./endpoints.store.ts";

const clock = { now: () => Date.now() };

const headings = ["ID", "ACCOUNT", "MODE", "STATE", "URL", "FAILING SINCE", "LAST FAILURE"];

const list: Command = {
  name: "webhooks list",
  summary: "List the webhook endpoints of all accounts.",
  example: "webhooks list --account acc_8sK2mX0qVb4TzR1c",
  options: { account: { meaning: "Only the endpoints of this account.", value: "ACCOUNT" } },
  run: ({ options: { account } }, context) =>
    withStore(context, async (storage) => {
      const rows = await storage.all(allEndpoints);
      const found = rows.filter(({ account_id }) => account === undefined || account_id === account).map(shown);
      const lines = found.map(({ id, accountId, mode, state, url, failingSince, lastFailure }) => [
        id,
        accountId,
        mode,
        state,
        url,
        failingSince ?? "-",
        lastFailure ?? "-",
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
        const row = (await storage.all(allEndpoints)).find((one) => one.id === id);
        if (!row) throw new CommandFailed("webhook_endpoint_not_found", `There is no webhook endpoint ${id}.`);
        const shop = Number(row.shop);
        const of = { shop: { accountId: row.account_id, mode: row.mode, shop }, author: operator(shop) };
        const endpoints = new EndpointStore(storage, clock, undefined);
        await storage.write(() => endpoints.change(of, id, { paused: verb === "pause" }));
        const state = verb === "pause" ? "paused" : "enabled";
        return { json: { ...shown(row), state }, text: `The webhook endpoint ${id} is ${state}.` };
      }),
  };
}

/** The commands that manage webhook endpoints. */
export const webhookCommands: readonly Command[] = [
  list,
  stateCommand("pause", "Stop sending to a webhook endpoint. Nothing is lost while it is paused."),
  stateCommand("resume", "Send again to a webhook endpoint that is paused or disabled."),
];

function shown(row: OwnedEndpointRow) {
  const { id, state, url, types, health } = toEndpoint(row);
  return {
    id,
    accountId: row.account_id,
    mode: row.mode,
    state,
    url,
    types,
    failingSince: iso(health.failingSince),
    lastFailure: health.lastFailure?.failure ?? null,
  };
}

function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
