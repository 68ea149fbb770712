import { domains } from "../app/domains.ts";
import { openExistingStorage, worldOf } from "../app/open-storage.ts";
import { dateToUnixSeconds, type Operation } from "../contract/operation.ts";
import { AccountStore } from "../domains/accounts/accounts.store.ts";
import { type DeprecatedUse, UsageStore } from "../domains/accounts/usage.store.ts";
import { type Command, table } from "./command.ts";

const DAY = 86_400_000;

export const deprecations: Command = {
  name: "deprecations",
  summary: "Tell which keys have called deprecated operations in the last 30 days.",
  example: "deprecations",
  run: async (_given, { config }) => {
    const storage = await openExistingStorage(config);
    try {
      const now = Date.now();
      const accounts = new AccountStore(storage, await worldOf(storage, config));
      const callers = await describeCallers(await new UsageStore(storage).deprecatedUses(now), accounts);
      const operations = domains.flatMap((domain) => domain.operations);
      const report = operations.flatMap((operation) => describe(operation, callers, now));
      return { json: report, text: report.map(toText).join("\n\n") || "No operation is deprecated." };
    } finally {
      await storage.close();
    }
  },
};

/** A key that has called a deprecated operation. What has no record any more has no name. */
interface Caller {
  readonly operation: string;
  readonly accountId: string;
  readonly accountName: string | null;
  readonly keyId: string;
  readonly keyName: string | null;
  readonly hint: string | null;
  readonly calls: number;
  readonly lastCalledAt: string;
}

async function describeCallers(uses: readonly DeprecatedUse[], accounts: AccountStore): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (const { operation, accountId, keyId, calls, lastAt } of uses) {
    const [account, key] = [await accounts.account(accountId), await accounts.key(keyId)];
    callers.push({
      operation,
      accountId,
      accountName: account?.name ?? null,
      keyId,
      keyName: key?.name ?? null,
      hint: key?.hint ?? null,
      calls,
      lastCalledAt: new Date(lastAt).toISOString(),
    });
  }
  return callers;
}

function describe({ name, method, path, deprecation }: Operation, callers: readonly Caller[], now: number) {
  if (!deprecation) return [];
  const { since, removal, replacement } = deprecation;
  const daysLeft = Math.max(0, Math.ceil((dateToUnixSeconds(removal) * 1000 - now) / DAY));
  const own = callers.filter((caller) => caller.operation === name).map(({ operation: _own, ...caller }) => caller);
  return [{ operation: name, method, path, since, removal, daysLeft, replacement, callers: own }];
}

const headings = ["ACCOUNT", "ACCOUNT NAME", "KEY", "HINT", "KEY NAME", "CALLS", "LAST CALL"];

function toText(one: ReturnType<typeof describe>[number]): string {
  const { operation, method, path, removal, daysLeft, replacement, callers } = one;
  const head = `${operation} (${method} ${path}) is removed on ${removal}, in ${daysLeft} days. Its replacement is ${replacement}.`;
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
