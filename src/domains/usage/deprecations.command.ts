import { count } from "../../contract/messages.ts";
import type { Operation } from "../../contract/operation.ts";
import { dateToUnixSeconds } from "../../contract/operation-properties.ts";
import { timestampOf } from "../../contract/schemas.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Transaction } from "../../storage/transaction.ts";
import { type Command, type CommandContext, withStore } from "../../terminal/command.ts";
import { table } from "../../terminal/output.ts";
import { DAY_MS } from "../../timing/clock.ts";
import { AccountStore } from "../accounts/accounts.store.ts";
import { type StoredDeprecatedCalls, UsageStore } from "./usage.store.ts";

/** Keys that have not been deleted. */
interface KnownKeys {
  find(id: string): Transaction<{ readonly name: string; readonly hint: string } | undefined>;
}

/** Returns the keys in a store. */
type KeysOf = (storage: Storage, context: CommandContext) => Promise<KnownKeys>;

/** The command that lists callers of deprecated operations. */
export const deprecationsCommand = (keysOf: KeysOf): Command => ({
  name: "deprecations",
  summary: "List the keys that have called deprecated operations in the last 30 days.",
  example: "deprecations",
  run: (_given, context) =>
    withStore(context, async (storage) => {
      const now = Date.now();
      const accounts = new AccountStore(storage);
      const keys = await keysOf(storage, context);
      const callers = await describeCallers(
        storage,
        await new UsageStore(storage).deprecatedCalls(now),
        accounts,
        keys,
      );
      const report = context.operations.flatMap((operation) => describe(operation, callers, now));
      return { json: report, text: report.map(toText).join("\n\n") || "No operation is deprecated." };
    }),
});

/** A key that has called a deprecated operation. Deleted keys have no name. */
interface KeyWithCalls {
  readonly operation: string;
  readonly accountId: string;
  readonly accountName: string | null;
  readonly keyId: string;
  readonly keyName: string | null;
  readonly hint: string | null;
  readonly calls: number;
  readonly lastCalledAt: string;
}

async function describeCallers(
  storage: Storage,
  stored: readonly StoredDeprecatedCalls[],
  accounts: AccountStore,
  keys: KnownKeys,
): Promise<KeyWithCalls[]> {
  const callers: KeyWithCalls[] = [];
  for (const { operation, accountId, keyId, calls, lastAt } of stored) {
    const account = await storage.read(accounts.get(accountId));
    const key = await storage.read(keys.find(keyId));
    callers.push({
      operation,
      accountId,
      accountName: account?.name ?? null,
      keyId,
      keyName: key?.name ?? null,
      hint: key?.hint ?? null,
      calls,
      lastCalledAt: timestampOf(lastAt),
    });
  }
  return callers;
}

function describe({ name, method, path, deprecation }: Operation, callers: readonly KeyWithCalls[], now: number) {
  if (!deprecation) return [];
  const { since, removal, replacement } = deprecation;
  const daysLeft = Math.max(0, Math.ceil((dateToUnixSeconds(removal) * 1000 - now) / DAY_MS));
  const own = callers.filter((caller) => caller.operation === name).map(({ operation: _own, ...caller }) => caller);
  return [{ operation: name, method, path, since, removal, daysLeft, replacement, callers: own }];
}

const headings = ["ACCOUNT", "ACCOUNT NAME", "KEY", "HINT", "KEY NAME", "CALLS", "LAST CALL"];

function toText(one: ReturnType<typeof describe>[number]): string {
  const { operation, method, path, removal, daysLeft, replacement, callers } = one;
  const end = daysLeft === 0 ? `was removed on ${removal}` : `is removed on ${removal}, in ${count(daysLeft, "day")}`;
  const head = `${operation} (${method} ${path}) ${end}. Its replacement is ${replacement}.`;
  if (callers.length === 0) return `${head}\nNo key has called it in the last 30 days.`;
  const rows = callers.map(({ accountId, accountName, keyId, keyName, hint, calls, lastCalledAt }) => [
    accountId,
    accountName ?? "",
    keyId,
    hint ?? "",
    keyName ?? "",
    String(calls),
    lastCalledAt,
  ]);
  return `${head}\nCalled in the last 30 days by:\n\n${table(headings, rows)}`;
}
