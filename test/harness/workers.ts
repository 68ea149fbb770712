import { domains } from "../../src/app/domains.ts";
import { openStorage } from "../../src/app/store/engines.ts";
import { readConfig } from "../../src/config.ts";
import type { Quota } from "../../src/contract/caller.ts";
import { AccountStore } from "../../src/domains/accounts/accounts.store.ts";
import { settingsOf } from "../../src/domains/domain.ts";
import { KeyStore } from "../../src/domains/keys/keys.store.ts";
import { shopOf } from "../../src/domains/shops/shops.store.ts";
import { development } from "./key-environments.ts";
import { newDataDir, Program, serveCommand } from "./program.ts";

/** Starts the service with several workers behind one port. */
export function startWorkers(count: number, settings: Record<string, string>): Promise<Program> {
  return Program.start(newDataDir(), settings, [...serveCommand, "--workers", String(count)]);
}

/** The process of each worker, by its number. */
export function workerPids({ output }: Pick<Program, "output">): Map<number, number> {
  const ready = output.matchAll(/"event":"worker_ready","worker":(\d+),"pid":(\d+)/g);
  return new Map([...ready].map(([, number, pid]) => [Number(number), Number(pid)]));
}

/** An account with a key, in the store that the settings choose, with what is needed to change both. */
export async function newAccount(settings: Record<string, string>, quota: Quota) {
  const storage = await openStorage(readConfig(settings, undefined, settingsOf(domains)));
  const [accounts, keys] = [new AccountStore(storage), new KeyStore(storage, development)];
  const account = await accounts.createAccount("Test", "enterprise", quota, Date.now());
  const issued = await keys.issueKey(account.id, "test", ["read", "write"], Date.now());
  const shop = (await storage.read(shopOf(account.id, "test"))) as number;
  return { ...issued, accounts, keys, account, shop, storage };
}

/** Sends a request over a new connection, which the system gives to any worker. */
export function ask(base: string, key: string, path = "/pets?limit=1"): Promise<Response> {
  return fetch(base + path, { headers: { Authorization: `Bearer ${key}` }, keepalive: false });
}

/** Sends requests until each of the workers has responded. Returns one response of each. */
export async function askEach(program: Program, key: string, workers: number): Promise<Response[]> {
  const responses = new Map<string, Response>();
  while (responses.size < workers) {
    const response = await ask(program.base, key);
    responses.set(await workerOf(program, response), response);
  }
  return [...responses.values()];
}

/** The number of the worker that sent a response, as the log has it. */
export async function workerOf(program: Program, { headers }: Response): Promise<string> {
  const id = headers.get("x-request-id");
  const line = () => program.output.split("\n").find((one) => one.includes(`"${id}"`) && one.endsWith("}"));
  await program.until(() => line() !== undefined);
  return String((JSON.parse(line() as string) as { worker: number }).worker);
}
