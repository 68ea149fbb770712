import { Database } from "bun:sqlite";
import { join } from "node:path";
import { SQL } from "bun";
import type { Mode, Quota, Scope } from "../../src/contract/caller.ts";
import type { Plan } from "../../src/domains/accounts/accounts.ts";
import { runJsonInProcess } from "./commands.ts";

/** Staging: no first account and no sample animals. No reservation ends while a test runs, on whatever machine. */
export const environment = { PETSTORE_ENV: "staging", PETSTORE_RESERVATION_MINUTES: "43200" };

export interface KeyOptions {
  /** The name of the account. */
  readonly name?: string;
  /** The plan of the account. The default is `pro`, or `enterprise` with `quota`. */
  readonly plan?: Exclude<Plan, "enterprise">;
  readonly quota?: Quota;
  readonly scopes?: readonly Scope[];
  readonly mode?: Mode;
  /** The settings of the service on the folder. */
  readonly settings?: Record<string, string> | undefined;
}

export interface NewKey {
  readonly accountId: string;
  readonly id: string;
  readonly key: string;
}

/** Makes a key of a new account, as an operator does. A service may run on the folder. */
export async function newKeyIn(dataDir: string, options: KeyOptions = {}): Promise<NewKey> {
  return (await newKeysIn(dataDir, 1, options))[0] as NewKey;
}

/** Lets all shops hold any number of animals, which no plan does for sandboxes. */
export async function liftBounds(dataDir: string, settings: Readonly<Record<string, string>> = {}): Promise<void> {
  const { PETSTORE_DATABASE_URL: url, PETSTORE_DATA_DIR: folder = dataDir } = settings;
  const lift = "UPDATE shops SET animals_allowed = NULL";
  if (url === undefined) {
    using database = new Database(join(folder, "petstore.db"));
    database.run("PRAGMA busy_timeout = 10000"); // a service may run on the folder
    database.run(lift);
    return;
  }
  const database = new SQL(url.replace(/,[^/]*/, "")); // of several servers; Bun takes one
  await database.unsafe(lift);
  await database.close();
}

/** Makes several keys of one new account. */
async function newKeysIn(dataDir: string, count: number, options: KeyOptions = {}): Promise<NewKey[]> {
  const { name = "Shop", plan = "pro", quota, scopes = ["read", "write"], mode, settings } = options;
  const limits = quota
    ? ["enterprise", "--per-minute", String(quota.perMinute), "--per-day", String(quota.perDay)]
    : [plan];
  const create = ["accounts", "create", "--name", name, "--plan", ...limits];
  const { id: accountId } = await runJsonInProcess(dataDir, create, settings);
  if (quota) await liftBounds(dataDir, settings);
  const issue = ["keys", "create", "--account", accountId, "--scopes", scopes.join(",")];
  const keys: NewKey[] = [];
  while (keys.length < count) {
    const { id, key } = await runJsonInProcess(dataDir, [...issue, ...(mode ? ["--mode", mode] : [])], settings);
    keys.push({ accountId, id, key });
  }
  return keys;
}

/** A key of a new account in `environment`. */
export async function newKey(dataDir: string, quota: Quota): Promise<string> {
  return (await newKeyIn(dataDir, { quota, settings: environment })).key;
}

/** Several keys of one new account in `environment`. */
export async function newKeys(dataDir: string, quota: Quota, count: number): Promise<string[]> {
  return (await newKeysIn(dataDir, count, { quota, settings: environment })).map(({ key }) => key);
}
