import { retiredCodes } from "../../contract/errors.ts";
import { didYouMean, suggest } from "../../contract/messages.ts";
import type { Operation } from "../../contract/operation.ts";
import { errorCatalogue } from "../../contract/operation-properties.ts";
import { DISCONNECT } from "../../contract/requests.ts";
import { DateTime } from "../../contract/schemas.ts";
import { compileValidator } from "../../contract/validators.ts";
import type { Storage } from "../../storage/storage.ts";
import {
  type Command,
  CommandFailed,
  choiceOf,
  type ParsedArguments,
  type Report,
  UsageError,
  wholeNumber,
  withStore,
} from "../../terminal/command.ts";
import { columns, plain, table } from "../../terminal/output.ts";
import { chosenShop, shopOptions } from "../shops/shop-options.ts";
import { toRequestRecord } from "./request-record.ts";
import {
  MAX_PER_SECOND,
  MAX_RECORDS,
  RETENTION_DAYS,
  type RequestRecord,
  statusClasses,
} from "./requests.operations.ts";
import { RequestStore } from "./requests.store.ts";
import { NO_SHOP } from "./stored-request.ts";

const headings = ["TIME", "ID", "STATUS", "CODE", "OPERATION", "PATH", "KEY", "ADDRESS"];

export const requestsCommand: Command = {
  name: "requests",
  summary: "List requests of a shop that changed something or failed, the newest first, or explain one.",
  description:
    "With a REQUEST_ID, the X-Request-Id of its response, explains what happened and what to do: also for requests of\n" +
    "other shops and without a valid key, which the API does not show. The options are for the list.",
  example: "requests --account acc_8sK2mX0qVb4TzR1c --status 4xx --limit 50",
  args: ["[REQUEST_ID]"],
  options: {
    ...shopOptions,
    status: { meaning: `Only those of a class: ${statusClasses.join(", ")}.`, value: "CLASS" },
    code: { meaning: "Only those with this error code.", value: "CODE" },
    operation: { meaning: "Only those of this operation.", value: "NAME" },
    key: { meaning: "Only those of this key.", value: "KEY_ID" },
    since: { meaning: "Only those from this time on, such as 2026-11-21T12:00:00Z.", value: "TIME" },
    until: { meaning: "Only those before this time.", value: "TIME" },
    limit: { meaning: `How many to show, at most ${MAX_RECORDS}.`, value: "N", fallback: "20" },
  },
  run: (given, context) => {
    const { filters, limit } = readOptions(given, context.operations);
    const [id] = given.args;
    if (id !== undefined) return withStore(context, (storage) => explain(id, storage, context.operations));
    return withStore(context, async (storage) => {
      const shop = await chosenShop(given, context.store, storage);
      const { items } = await storage.read(new RequestStore(storage).page(shop, filters, undefined, limit));
      const catalogue = errorCatalogue(context.operations);
      const records = items.map((request) => toRequestRecord(request, catalogue));
      return { json: records, text: records.length > 0 ? table(headings, records.map(row)) : "There are none." };
    });
  },
};

/** Rejects with `CommandFailed` if there is no record of the request. */
async function explain(id: string, storage: Storage, operations: readonly Operation[]): Promise<Report> {
  const found = await new RequestStore(storage).find(id);
  if (!found) {
    const reason = `Only changes and failures of the last ${RETENTION_DAYS} days are recorded, at most ${MAX_PER_SECOND} per key and second.`;
    throw new CommandFailed("request_not_found", `There is no record of a request ${id}. ${reason}`);
  }
  const shown = toRequestRecord(found, errorCatalogue(operations));
  return { json: { ...shown, hasValidKey: found.shop !== NO_SHOP }, text: describe(shown) };
}

function readOptions(given: ParsedArguments, operations: readonly Operation[]) {
  const { code, operation, key: keyId, since, until } = given.options;
  const status = given.options["status"] === undefined ? undefined : choiceOf(given, "status", statusClasses);
  const names = operations.map(({ name }) => name);
  requireKnown("an operation", operation, names);
  const codes = errorCatalogue(operations).map((error) => error.code);
  requireKnown("an error code", code, [...codes, ...retiredCodes, DISCONNECT]);
  const isTime = compileValidator(DateTime({ description: "A time." }));
  for (const [name, time] of Object.entries({ since, until })) {
    if (time !== undefined && !isTime.Check(time)) {
      throw new UsageError(`--${name} must be a time such as 2026-11-21T12:00:00Z.`);
    }
  }
  return { filters: { status, code, operation, keyId, since, until }, limit: wholeNumber(given, "limit", MAX_RECORDS) };
}

/** Throws `UsageError` for a name that no record has. */
function requireKnown(what: string, given: string | undefined, known: readonly string[]): void {
  if (given === undefined || known.includes(given)) return;
  throw new UsageError(`${given} is not ${what}.${didYouMean(suggest(given, known))}`);
}

function row({ at, id, status, code = "", operation = "", path = "", keyId, address = "" }: RequestRecord): string[] {
  return [at, id, String(status), code, operation, path, keyId, address];
}

/** The record as text. The explanation has the details, and `left` combines the limit and what remains of it. */
function describe(record: RequestRecord): string {
  const { explanation, advice, limit, remaining } = record;
  const left = limit === undefined ? "" : `${remaining} of ${limit} left`;
  const { id, clientRequestId, at, method, operation, path, keyId, address, status, code, stage, durationMs } = record;
  const facts = { id, clientRequestId, at, method, operation, path, keyId, address, status, code, stage, durationMs };
  const rows = Object.entries({ ...facts, left }).filter(([, value]) => value !== undefined && value !== "");
  const shown = columns(rows.map(([name, value]) => [name, String(value)]));
  return `${[plain(explanation), advice].filter(Boolean).join("\n")}\n\n${shown}`;
}
