import { newStorePlace, openStorage } from "../app/open-storage.ts";
import type { Quota } from "../contract/quota.ts";
import type { Account } from "../domains/accounts/accounts.ts";
import { type Plan, planNames } from "../domains/accounts/plans.ts";
import { type Given, UsageError } from "../terminal/command.ts";
import { table } from "../terminal/table.ts";
import type { ProgramCommand as Command } from "./command.ts";
import { type Stores, withStores } from "./with-stores.ts";

const planOptions = {
  plan: { meaning: `The plan: ${planNames.join(", ")}.`, value: "PLAN", isRequired: true },
  "per-minute": { meaning: "Requests a minute; for enterprise only.", value: "N" },
  "per-day": { meaning: "Requests a day; for enterprise only.", value: "N" },
} as const;

export const createAccount: Command = {
  name: "accounts create",
  summary: "Make an account.",
  example: 'accounts create --name "Corner shop" --plan pro',
  options: { name: { meaning: "What the customer is called.", value: "NAME", isRequired: true }, ...planOptions },
  run: async (given, { config }) => {
    const [name, { plan, quota }] = [readName(given.options["name"]), readPlan(given)];
    const newPlace = newStorePlace(config);
    const create = ({ accounts }: Stores) => accounts.createAccount(name, plan, quota, Date.now());
    const account = await withStores(config, create, openStorage);
    const place = newPlace ? `\nIt is in a new store, in ${newPlace}.` : "";
    return { json: shown(account), text: describe(account) + place };
  },
};

const headings = ["ID", "NAME", "PLAN", "PER MINUTE", "PER DAY", "CREATED"];

export const listAccounts: Command = {
  name: "accounts list",
  summary: "List the accounts.",
  example: "accounts list",
  run: (_given, { config }) =>
    withStores(config, async ({ accounts }) => {
      const list = await accounts.list();
      const rows = list.map(({ id, name, plan, perMinute, perDay, createdAt }) => [
        id,
        name,
        plan,
        String(perMinute),
        String(perDay),
        new Date(createdAt).toISOString(),
      ]);
      const text = rows.length > 0 ? table(headings, rows) : "There are no accounts yet.";
      return { json: list.map(shown), text };
    }),
};

export const setPlan: Command = {
  name: "accounts set-plan",
  summary: "Change the plan of an account.",
  example: "accounts set-plan acc_8sK2mX0qVb4TzR1c --plan enterprise --per-minute 5000 --per-day 1000000",
  args: ["ACCOUNT"],
  options: planOptions,
  run: (given, { config }) =>
    withStores(config, async ({ accounts }) => {
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
