import { firstFault } from "../../contract/input-faults.ts";
import { Text, timestampOf } from "../../contract/schemas.ts";
import type { OpenStorage } from "../../storage/storage.ts";
import {
  type Command,
  type CommandContext,
  confirm,
  type ParsedArguments,
  UsageError,
  withStore,
  yesOption,
} from "../../terminal/command.ts";
import { columns, table } from "../../terminal/output.ts";
import { AccountStore } from "./accounts.store.ts";
import { type Account, type Agreement, type Plan, planNames, plans } from "./accounts.ts";

/** Runs work on the accounts of the store, and closes it. Rejects like `withStore`. */
function withAccounts<T>(
  context: CommandContext,
  work: (accounts: AccountStore) => T | Promise<T>,
  opening?: Promise<OpenStorage>,
): Promise<T> {
  return withStore(context, (storage) => work(new AccountStore(storage)), opening);
}

const planOptions = {
  plan: { meaning: `The plan: ${planNames.join(", ")}.`, value: "PLAN", isRequired: true },
  "per-minute": { meaning: "Requests a minute; for enterprise only.", value: "N" },
  "per-day": { meaning: "Requests a day; for enterprise only.", value: "N" },
  animals: { meaning: "The most animals of a shop; for enterprise only. Default: any number.", value: "N" },
} as const;

const createAccount: Command = {
  name: "accounts create",
  summary: "Create an account.",
  example: 'accounts create --name "Corner shop" --plan pro',
  options: { name: { meaning: "The name of the customer.", value: "NAME", isRequired: true }, ...planOptions },
  run: async (given, context) => {
    const name = readName(given.options["name"]);
    const { plan, quota } = readPlan(given);
    const newFolder = context.store.folderToCreate();
    const create = (accounts: AccountStore) => accounts.createAccount(name, plan, quota, Date.now());
    const account = await withAccounts(context, create, context.store.openOrCreate());
    const place = newFolder ? `\nIt is in a new store, in ${newFolder}.` : "";
    const newStore = newFolder && { newStore: newFolder };
    return { json: { ...shown(account), ...newStore }, text: describe(account) + place };
  },
};

const headings = ["ID", "NAME", "PLAN", "PER MINUTE", "PER DAY", "ANIMALS", "CREATED", "STATE"];

const listAccounts: Command = {
  name: "accounts list",
  summary: "List the accounts.",
  example: "accounts list",
  run: (_given, context) =>
    withAccounts(context, async (accounts) => {
      const list = await accounts.list();
      const text = list.length > 0 ? table(headings, list.map(row)) : "There are no accounts yet.";
      return { json: list.map(shown), text };
    }),
};

const setPlan: Command = {
  name: "accounts set-plan",
  summary: "Change the plan of an account.",
  example:
    "accounts set-plan acc_8sK2mX0qVb4TzR1c --plan enterprise --per-minute 5000 --per-day 1000000 --animals 2000000",
  args: ["ACCOUNT"],
  options: planOptions,
  run: (given, context) => {
    const { plan, quota } = readPlan(given);
    return withAccounts(context, async (accounts) => {
      const account = await accounts.setPlan(given.args[0] ?? "", plan, quota);
      return { json: shown(account), text: describe(account) };
    });
  },
};

const showAccount: Command = {
  name: "accounts show",
  summary: "Show one account.",
  example: "accounts show acc_8sK2mX0qVb4TzR1c",
  args: ["ACCOUNT"],
  run: ({ args: [id = ""] }, context) =>
    withAccounts(context, async (accounts) => {
      const account = await accounts.find(id);
      return {
        json: shown(account),
        text: columns(headings.map((heading, index) => [heading, row(account)[index] ?? ""])),
      };
    }),
};

const renameAccount: Command = {
  name: "accounts rename",
  summary: "Rename an account.",
  example: 'accounts rename acc_8sK2mX0qVb4TzR1c "Shop at the corner"',
  args: ["ACCOUNT", "NAME"],
  run: ({ args: [id = "", newName] }, context) => {
    const name = readName(newName);
    return withAccounts(context, async (accounts) => {
      const account = await accounts.rename(id, name);
      return { json: shown(account), text: describe(account) };
    });
  },
};

const deleteAccount: Command = {
  name: "accounts delete",
  summary: "Delete an account permanently, with its keys and both shops.",
  description:
    "Its keys stop working within a second. The service deletes its data in the background, or at the next start if it\n" +
    "does not run. Backups still contain the data, and unused parts of SQLite's or PostgreSQL's pages may.",
  example: "accounts delete acc_8sK2mX0qVb4TzR1c --yes",
  args: ["ACCOUNT"],
  options: yesOption,
  run: (given, context) =>
    withAccounts(context, async (accounts) => {
      const [id = ""] = given.args;
      const account = await accounts.find(id);
      if (account.deletedAt === undefined) {
        await confirm(`${titled(account)} will be deleted with all its data.`, given, context);
      }
      const deleted = await accounts.delete(id, Date.now());
      return {
        json: shown(deleted),
        text: `${titled(account)} is deleted. The service removes its data in the background.`,
      };
    }),
};

const suspendAccount: Command = {
  name: "accounts suspend",
  summary: "Refuse all requests of an account, and send it no webhooks, until it is resumed.",
  description:
    "Within a second, every process answers its keys with 403 account_suspended, ends its streams and sends no webhooks.\n" +
    "Nothing is deleted. Orders still expire, and events are stored as long as usual.",
  example: "accounts suspend acc_8sK2mX0qVb4TzR1c",
  args: ["ACCOUNT"],
  run: ({ args: [id = ""] }, context) =>
    withAccounts(context, async (accounts) => {
      const account = await accounts.suspend(id, Date.now());
      return { json: shown(account), text: `${titled(account)} is suspended.` };
    }),
};

const resumeAccount: Command = {
  name: "accounts resume",
  summary: "Serve a suspended account again. Its webhooks continue where they stopped.",
  example: "accounts resume acc_8sK2mX0qVb4TzR1c",
  args: ["ACCOUNT"],
  run: ({ args: [id = ""] }, context) =>
    withAccounts(context, async (accounts) => {
      const account = await accounts.resume(id);
      return { json: shown(account), text: `${titled(account)} is active.` };
    }),
};

/** The commands that manage accounts. */
export const accountCommands: readonly Command[] = [
  createAccount,
  listAccounts,
  showAccount,
  renameAccount,
  setPlan,
  suspendAccount,
  resumeAccount,
  deleteAccount,
];

/** An account below `headings`. */
function row({ id, name, plan, perMinute, perDay, animals, createdAt, deletedAt, suspendedAt }: Account): string[] {
  const state = deletedAt !== undefined ? "deleted" : suspendedAt !== undefined ? "suspended" : "active";
  return [id, name, plan, String(perMinute), String(perDay), String(animals ?? "any"), timestampOf(createdAt), state];
}

function shown(account: Account) {
  const { createdAt, deletedAt, suspendedAt, ...rest } = account;
  return {
    ...rest,
    createdAt: timestampOf(createdAt),
    ...(deletedAt !== undefined && { deletedAt: timestampOf(deletedAt) }),
    ...(suspendedAt !== undefined && { suspendedAt: timestampOf(suspendedAt) }),
  };
}

function describe(account: Account): string {
  const { plan, perMinute, perDay, animals = "any number of" } = account;
  return `${titled(account)}: plan ${plan}, ${perMinute} requests a minute, ${perDay} a day, ${animals} animals.`;
}

/** The deletion of an account clears its name before its record is deleted. */
function titled({ id, name }: Account): string {
  return name === "" ? `Account ${id}` : `Account ${id} (${name})`;
}

const Name = Text({ description: "The name of an account or a key.", minLength: 1, maxLength: 100 });

/** The name of an account or a key, as requests may have it. */
export function readName(name = ""): string {
  const fault = firstFault(name, Name);
  if (fault) throw new UsageError(`The name ${fault.message}.`);
  return name;
}

function readPlan({ options }: ParsedArguments): { plan: Plan; quota: Agreement | undefined } {
  const plan = planNames.find((name) => name === options["plan"]);
  if (!plan) throw new UsageError(`--plan must be one of ${planNames.join(", ")}.`);
  const perMinute = readCount("per-minute", options["per-minute"]);
  const perDay = readCount("per-day", options["per-day"]);
  const animals = readCount("animals", options["animals"]);
  if (animals !== undefined && plans[plan] !== "custom") {
    throw new UsageError(`The plan ${plan} has a fixed number of animals; only enterprise takes another.`);
  }
  if (perMinute === undefined && perDay === undefined) {
    if (plans[plan] === "custom") throw new UsageError(`--plan ${plan} needs --per-minute and --per-day.`);
    return { plan, quota: undefined };
  }
  if (perMinute === undefined || perDay === undefined) {
    throw new UsageError("--per-minute and --per-day go together.");
  }
  return { plan, quota: { perMinute, perDay, animals } };
}

export function readCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9][0-9]{0,11}$/.test(text)) {
    throw new UsageError(`--${name} must be a whole number from 1 to 999999999999.`);
  }
  return Number(text);
}
