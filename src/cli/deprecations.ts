import { domains } from "../app/domains.ts";
import { dateToUnixSeconds, type Operation } from "../contract/operation.ts";
import { type DeprecatedUse, UsageStore } from "../domains/usage/usage.store.ts";
import { type Command, table } from "./command.ts";
import { type Stores, withStores } from "./with-stores.ts";

const DAY = 86_400_000;

export const deprecations: Command = {
  name: "deprecations",
  summary: "Tell which keys have called deprecated operations in the last 30 days.",
  example: "deprecations",
  run: (_given, { config }) =>
    withStores(config, async (stores) => {
      const now = Date.now();
      const callers = await describeCallers(await new UsageStore(stores.storage).deprecatedUses(now), stores);
      const operations = domains.flatMap((domain) => domain.operations);
      const report = operations.flatMap((operation) => describe(operation, callers, now));
      return { json: report, text: report.map(toText).join("\n\n") || "No operation is deprecated." };
    }),
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

async function describeCallers(uses: readonly DeprecatedUse[], { accounts, keys }: Stores): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (const { operation, accountId, keyId, calls, lastAt } of uses) {
    const [account, key] = [await accounts.get(accountId), await keys.get(keyId)];
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
