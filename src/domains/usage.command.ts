import { count } from "../contract/messages.ts";
import type { Deprecation, Operation } from "../contract/operation.ts";
import { dateToUnixSeconds } from "../contract/operation-properties.ts";
import { timestampOf } from "../contract/schemas.ts";
import type { Storage } from "../storage/storage.ts";
import {
  type Command,
  type CommandContext,
  choiceOf,
  type Report,
  wholeNumber,
  withStore,
} from "../terminal/command.ts";
import { table } from "../terminal/output.ts";
import { DAY_MS } from "../timing/clock.ts";
import { AccountStore } from "./accounts/accounts.store.ts";
import { keysForCommand } from "./keys/keys.command.ts";
import type { KeyStore } from "./keys/keys.store.ts";
import { RequestStore } from "./requests/requests.store.ts";
import { type GroupCount, UsageStore } from "./usage/usage.store.ts";

const MAX_DAYS = 30;

/** What usage can be grouped by. */
const groupings = ["accounts", "keys", "addresses", "operations"] as const;
/** The counts by which sums can be sorted. An error is a 5xx, a rejection a 4xx. */
const orders = ["requests", "errors", "rejections"] as const;

/** The command that shows the largest senders, and the callers of deprecated operations. */
export const usageCommand: Command = {
  name: "usage",
  summary: "Show the accounts, keys, addresses or operations with the most requests, errors or rejections.",
  description:
    "Errors are responses with status 5xx, rejections those with 4xx. Addresses come only from recorded requests:\n" +
    "changes and failures of the last 7 days, at most ten per key and second.",
  example: "usage --top keys --by rejections --days 7",
  options: {
    top: { meaning: `What to group by: ${groupings.join(", ")}.`, value: "WHAT", fallback: "accounts" },
    by: { meaning: `The count to sort by: ${orders.join(", ")}.`, value: "COUNT", fallback: "requests" },
    days: { meaning: `The number of UTC days, including today, at most ${MAX_DAYS}.`, value: "N", fallback: "1" },
    limit: { meaning: "The number of rows, at most 1000.", value: "N", fallback: "20" },
    deprecated: { meaning: "Instead, the keys that have called deprecated operations in the last 30 days." },
  },
  run: (given, context) => {
    if (given.options["deprecated"] !== undefined) {
      return withStore(context, async (storage) =>
        deprecated(storage, context, await keysForCommand(storage, context)),
      );
    }
    const top = choiceOf(given, "top", groupings);
    const by = choiceOf(given, "by", orders);
    const since = Math.floor(Date.now() / DAY_MS) - wholeNumber(given, "days", MAX_DAYS) + 1;
    const limit = wholeNumber(given, "limit", 1_000);
    return withStore(context, async (storage) => {
      const counts = await (top === "addresses"
        ? new RequestStore(storage).addresses(since * DAY_MS)
        : new UsageStore(storage).sums(top, since));
      const sums = topOf(counts, by, limit);
      const rows = sums.map(({ name, requests, errors, rejections }) =>
        [name || "(none)", requests, errors, rejections].map(String),
      );
      const text =
        rows.length > 0 ? table([top.toUpperCase(), "REQUESTS", "ERRORS", "REJECTIONS"], rows) : "There are none.";
      return { json: sums, text };
    });
  },
};

/** The largest sums by one of these counts, the largest first. Sums where it is 0 are left out. */
function topOf(counts: readonly GroupCount[], by: (typeof orders)[number], limit: number) {
  return [...Map.groupBy(counts, ({ name }) => name)]
    .map(([name, own]) => {
      const sumOf = (lowest: number, highest: number) =>
        own.reduce((sum, { status, requests }) => sum + (status >= lowest && status <= highest ? requests : 0), 0);
      return { name, requests: sumOf(0, 599), errors: sumOf(500, 599), rejections: sumOf(400, 499) };
    })
    .filter((sum) => sum[by] > 0)
    .toSorted((one, other) => other[by] - one[by])
    .slice(0, limit);
}

interface DeprecationReport extends Pick<Operation, "method" | "path">, Omit<Deprecation, "advice"> {
  readonly operation: string;
  readonly daysLeft: number;
  readonly callers: Awaited<ReturnType<typeof callersOf>>;
}

/** Reports who must change something before deprecated operations are removed. */
async function deprecated(storage: Storage, { operations }: CommandContext, keys: KeyStore): Promise<Report> {
  const now = Date.now();
  const reports: DeprecationReport[] = [];
  for (const { name, method, path, deprecation } of operations) {
    if (!deprecation) continue;
    const { since, removal, replacement } = deprecation;
    const daysLeft = Math.max(0, Math.ceil((dateToUnixSeconds(removal) * 1000 - now) / DAY_MS));
    const callers = await callersOf(name, storage, keys, now);
    reports.push({ operation: name, method, path, since, removal, daysLeft, replacement, callers });
  }
  return { json: reports, text: reports.map(toText).join("\n\n") || "No operation is deprecated." };
}

/** The keys that have called an operation. Deleted keys have no name. */
async function callersOf(operation: string, storage: Storage, keys: KeyStore, now: number) {
  const accounts = new AccountStore(storage);
  const callers: Record<string, string | number | null>[] = [];
  for (const { accountId, keyId, calls, lastHour } of await new UsageStore(storage).callersOf(operation, now)) {
    const account = await storage.read(accounts.get(accountId));
    const key = await storage.read(keys.find(keyId));
    callers.push({
      accountId,
      accountName: account?.name ?? null,
      keyId,
      hint: key?.hint ?? null,
      keyName: key?.name ?? null,
      calls,
      lastHour: timestampOf(lastHour),
    });
  }
  return callers;
}

const headings = ["ACCOUNT", "ACCOUNT NAME", "KEY", "HINT", "KEY NAME", "CALLS", "LAST HOUR"];

function toText(report: DeprecationReport): string {
  const { operation, method, path, removal, daysLeft, replacement, callers } = report;
  const end = daysLeft === 0 ? `was removed on ${removal}` : `is removed on ${removal}, in ${count(daysLeft, "day")}`;
  const head = `${operation} (${method} ${path}) ${end}. Its replacement is ${replacement}.`;
  if (callers.length === 0) return `${head}\nNo key has called it in the last 30 days.`;
  const rows = callers.map((caller) => Object.values(caller).map((value) => String(value ?? "")));
  return `${head}\nCalled in the last 30 days by:\n\n${table(headings, rows)}`;
}
