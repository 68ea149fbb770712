import type { Config } from "../config.ts";
import { AccountStore } from "../domains/accounts/accounts.store.ts";
import type { Account } from "../domains/accounts/accounts.ts";
import { type Plan, planNames } from "../domains/accounts/plans.ts";
import type { Quota } from "../quota.ts";
import type { Storage } from "../storage/storage.ts";
import { newStorePlace, openExistingStorage, openStorage, worldOf } from "../store.ts";
import { type Command, columns, type Given, UsageError } from "./command.ts";

const planOptions = {
  plan: { meaning: `The plan: ${planNames.join(", ")}.`, value: "PLAN", isRequired: true },
  "per-minute": { meaning: "Requests a minute; for enterprise only.", value: "N" },
  "per-day": { meaning: "Requests a day; for enterprise only.", value: "N" },
} as const;

/** Runs work on the accounts of the store that the settings choose. */
export async function withAccounts<T>(
  config: Config,
  work: (accounts: AccountStore) => T | Promise<T>,
  open: (config: Config) => Promise<Storage> = openExistingStorage,
): Promise<T> {
  const storage = await open(config);
  try {
    return await work(new AccountStore(storage, await worldOf(storage, config)));
  } finally {
    await storage.close();
  }
}

export const createAccount: Command = {
  name: "accounts create",
  summary: "Make an account.",
  options: { name: { meaning: "What the customer is called.", value: "NAME", isRequired: true }, ...planOptions },
  run: async (given, { config }) => {
    const [name, { plan, quota }] = [readName(given.options["name"]), readPlan(given)];
    const newPlace = newStorePlace(config);
    const create = (accounts: AccountStore) => accounts.createAccount(name, plan, quota, Date.now());
    const account = await withAccounts(config, create, openStorage);
    const place = newPlace ? `\nIt is in a new store, in ${newPlace}.` : "";
    return { json: shown(account), text: describe(account) + place };
  },
};

export const listAccounts: Command = {
  name: "accounts list",
  summary: "List the accounts.",
  run: (_given, { config }) =>
    withAccounts(config, async (accounts) => {
      const list = await accounts.accounts();
      const rows = list.map(({ id, name, plan, perMinute, perDay, createdAt }) => [
        id,
        name,
        plan,
        `${perMinute}/min`,
        `${perDay}/day`,
        new Date(createdAt).toISOString(),
      ]);
      return { json: list.map(shown), text: rows.length > 0 ? columns(rows) : "There are no accounts yet." };
    }),
};

export const setPlan: Command = {
  name: "accounts set-plan",
  summary: "Change the plan of an account.",
  args: ["ACCOUNT"],
  options: planOptions,
  run: (given, { config }) =>
    withAccounts(config, async (accounts) => {
      const { plan, quota } = readPlan(given);
      const account = await accounts.setPlan(given.args[0] ?? "", plan, quota);
      return { json: shown(account), text: describe(account) };
    }),
};

function shown(account: Account) {
  return { ...account, createdAt: new Date(account.createdAt).toISOString() };
}

function describe({ id, name, plan, perMinute, perDay }: Account): string {
  return `Account ${id} (${name}): plan ${plan}, ${perMinute} requests a minute, ${perDay} a day.`;
}

/** A name that a person can read in a list: 1 to 100 characters, none of them a control character. */
export function readName(name: string | undefined): string {
  if (name === undefined || !/^[^\p{Cc}\p{Cs}]{1,100}$/u.test(name)) {
    throw new UsageError("A name has 1 to 100 characters and no control characters.");
  }
  return name;
}

function readPlan({ options }: Given): { plan: Plan; quota: Quota | undefined } {
  const plan = planNames.find((name) => name === options["plan"]);
  if (!plan) throw new UsageError(`--plan has to be one of ${planNames.join(", ")}.`);
  const perMinute = readCount("per-minute", options["per-minute"]);
  const perDay = readCount("per-day", options["per-day"]);
  if (perMinute === undefined && perDay === undefined) return { plan, quota: undefined };
  if (perMinute === undefined || perDay === undefined) {
    throw new UsageError("--per-minute and --per-day go together.");
  }
  return { plan, quota: { perMinute, perDay } };
}

function readCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9][0-9]{0,11}$/.test(text)) throw new UsageError(`--${name} has to be a whole number of at least 1.`);
  return Number(text);
}
