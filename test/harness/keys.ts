import { keyEnvironment } from "../../src/app/caller-parts.ts";
import { domains } from "../../src/app/domains.ts";
import { openStorage } from "../../src/app/store/open-storage.ts";
import { readConfig } from "../../src/config.ts";
import type { Quota } from "../../src/contract/quota.ts";
import { AccountStore } from "../../src/domains/accounts/accounts.store.ts";
import { settingsOf } from "../../src/domains/domain.ts";
import { KeyStore } from "../../src/domains/keys/keys.store.ts";

/** Staging: no first account and no sample animals. No reservation ends while a test runs, on whatever machine. */
export const environment = { PETSTORE_ENV: "staging", PETSTORE_RESERVATION_MINUTES: "43200" };

/** A key of a new account, made alongside the service that runs on the folder. */
export async function newKey(dataDir: string, quota: Quota): Promise<string> {
  return (await newKeys(dataDir, quota, 1))[0] as string;
}

/** Several keys of one new account. */
export async function newKeys(dataDir: string, quota: Quota, count: number): Promise<string[]> {
  const config = readConfig({ ...environment, PETSTORE_DATA_DIR: dataDir }, undefined, settingsOf(domains));
  const storage = await openStorage(config);
  const keys = new KeyStore(storage, keyEnvironment(config));
  const { id } = await new AccountStore(storage).createAccount("Torture", "enterprise", quota, Date.now());
  const issued = await Promise.all(
    Array.from({ length: count }, () => keys.issueKey(id, "torture", ["read", "write"], Date.now())),
  );
  await storage.close();
  return issued.map(({ key }) => key);
}
