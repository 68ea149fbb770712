import { domains } from "../../src/app/domains.ts";
import { openStorage } from "../../src/app/store/engines.ts";
import { readConfig } from "../../src/config.ts";
import type { Quota, Scope } from "../../src/contract/caller.ts";
import { AccountStore } from "../../src/domains/accounts/accounts.store.ts";
import { settingsOf } from "../../src/domains/domain.ts";
import { KeyStore } from "../../src/domains/keys/keys.store.ts";
import { shopOf } from "../../src/domains/shops/shops.store.ts";
import { development } from "./key-environments.ts";
import { metric } from "./metrics.ts";
import { eventually, newDataDir, Program } from "./program.ts";
import { unlimitedQuota } from "./unlimited.ts";

/** Starts the service several times on one shared store, each with its own port. */
export function startSeveral(count: number, settings: Record<string, string>): Promise<Program[]> {
  return Promise.all(Array.from({ length: count }, () => Program.start(newDataDir(), settings)));
}

/** Stops all at the same time. Returns their exit statuses. */
export function endAll(programs: readonly Program[]): Promise<number[]> {
  return Promise.all(programs.map((program) => program.end()));
}

/** An account with a key, in the store that the settings choose, with what is needed to change both. */
export async function newAccount(
  settings: Record<string, string>,
  quota: Quota = unlimitedQuota,
  may: readonly Scope[] = ["read", "write"],
) {
  const storage = await openStorage(readConfig(settings, undefined, settingsOf(domains)));
  const [accounts, keys] = [new AccountStore(storage), new KeyStore(storage, development)];
  const account = await accounts.createAccount("Test", "enterprise", quota, Date.now());
  const issued = await keys.issueKey(account.id, "test", may, Date.now());
  const shop = (await storage.read(shopOf(account.id, "test"))) as number;
  return { ...issued, accounts, keys, account, shop, storage };
}

/** Sends a request over a new connection. */
export function ask(base: string, key: string, path = "/pets?limit=1"): Promise<Response> {
  return fetch(base + path, { headers: { Authorization: `Bearer ${key}` }, keepalive: false });
}

/** Sends a request to each process. */
export function askEach(programs: readonly Program[], key: string): Promise<Response[]> {
  return Promise.all(programs.map(({ base }) => ask(base, key)));
}

const metricOfEach = (programs: readonly Program[], name: string) =>
  Promise.all(programs.map(({ base }) => metric(base, name)));

/** Resolves when all processes count limits alone, or all together. */
export async function untilAlone(programs: readonly Program[], isAlone: boolean): Promise<void> {
  await eventually(
    () => metricOfEach(programs, "petstore_limiter_degraded"),
    (values) => values.every((value) => value === Number(isAlone)),
  );
}

/**
 * What a call returns during which all processes counted limits together. If Valkey is silent for 250 ms, as on a busy
 * machine, a process counts alone: then the call is repeated.
 */
export async function countedTogether<T>(programs: readonly Program[], call: () => Promise<T>): Promise<T> {
  for (;;) {
    const before = await metricOfEach(programs, "petstore_limiter_degraded_total");
    await untilAlone(programs, false);
    const result = await call();
    const after = await metricOfEach(programs, "petstore_limiter_degraded_total");
    if (Bun.deepEquals(after, before)) return result;
  }
}
