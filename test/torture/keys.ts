import { keyWorld, openStorage } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { AccountStore } from "../../src/domains/accounts/accounts.store.ts";
import type { Quota } from "../../src/domains/accounts/plans.ts";

/** Staging: no first account and no sample animals. */
export const environment = { PETSTORE_ENV: "staging" };

/** A key of a new account, made beside the service that runs on the folder. */
export async function newKey(dataDir: string, quota: Quota): Promise<string> {
  const config = readConfig({ ...environment, PETSTORE_DATA_DIR: dataDir });
  const storage = await openStorage(config);
  const accounts = new AccountStore(storage, keyWorld(config));
  const { id } = await accounts.createAccount("Torture", "enterprise", quota, Date.now());
  const { key } = await accounts.issueKey(id, "torture", ["read", "write"], Date.now());
  await storage.close();
  return key;
}
