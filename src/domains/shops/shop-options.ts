import type { Mode, ShopNumber } from "../../contract/caller.ts";
import { query } from "../../storage/statement.ts";
import type { Storage } from "../../storage/storage.ts";
import { all } from "../../storage/transaction.ts";
import { CommandFailed, type ParsedArguments, type StoreAccess, UsageError } from "../../terminal/command.ts";
import { shopOf } from "./shops.store.ts";

const someAccounts = query<[], { id: string }>("SELECT id FROM accounts WHERE deleted_at IS NULL LIMIT 2");

/** Options of a command that works on one shop. */
export const shopOptions = {
  account: { meaning: "The account of the shop. It is optional if there is only one account.", value: "ACCOUNT" },
  sandbox: { meaning: "The account's sandbox instead of its live shop. Outside production there are only sandboxes." },
} as const;

const findIds = "The command `accounts list` shows the ids of accounts.";

/**
 * The shop that a command line names. Rejects with `UsageError`, `CommandFailed`, or with `StorageUnusable` if the
 * settings contradict the store.
 */
export async function chosenShop(
  { options }: ParsedArguments,
  store: StoreAccess,
  storage: Storage,
): Promise<ShopNumber> {
  const isProduction = await store.requireEnvironment(storage);
  const mode = isProduction && options["sandbox"] === undefined ? "live" : "test";
  const account = options["account"] ?? (await onlyAccount(storage));
  return existingShop(storage, account, mode);
}

/** Rejects with `CommandFailed` if a command line names an account that does not exist. */
export async function requireAccount(storage: Storage, account: string | undefined): Promise<void> {
  if (account !== undefined) await existingShop(storage, account, "test");
}

async function existingShop(storage: Storage, account: string, mode: Mode): Promise<ShopNumber> {
  const shop = await storage.read(shopOf(account, mode));
  if (shop === undefined) throw new CommandFailed("account_not_found", `There is no account ${account}. ${findIds}`);
  return shop;
}

async function onlyAccount(storage: Storage): Promise<string> {
  const [account, other] = await storage.read(all(someAccounts));
  if (!account)
    throw new CommandFailed("account_not_found", "There is no account yet. The command `accounts create` makes one.");
  if (other) throw new UsageError(`There are several accounts: choose one with --account. ${findIds}`);
  return account.id;
}
