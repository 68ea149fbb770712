import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DistantStorage } from "../../../test/harness/distant-storage.ts";
import { development, production } from "../../../test/harness/key-environments.ts";
import { ManualClock } from "../../../test/harness/manual-clock.ts";
import { migrations } from "../../app/schema.ts";
import type { Mode } from "../../contract/caller.ts";
import { invalidApiKey } from "../../contract/errors.ts";
import { SqliteStorage } from "../../storage/sqlite/sqlite-storage.ts";
import { change } from "../../storage/statement.ts";
import { all } from "../../storage/transaction.ts";
import { AccountStore } from "../accounts/accounts.store.ts";
import type { KeyEnvironment } from "./api-key.ts";
import { generateApiKey } from "./api-key.ts";
import { KeyAuthenticator } from "./authenticator.ts";
import { KeyStore } from "./keys.store.ts";
import type { IssuedKey } from "./keys.ts";

let folder: string;
let storage: DistantStorage;
let keys: KeyStore;
let authenticator: KeyAuthenticator;
let issued: IssuedKey;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "petstore-authenticator-"));
  storage = new DistantStorage(new SqliteStorage(join(folder, "petstore.db"), migrations));
  keys = new KeyStore(storage, development);
  authenticator = new KeyAuthenticator(storage, keys, development, new ManualClock());
  const { id } = await new AccountStore(storage).createAccount("Corner shop", "free", undefined, 0);
  issued = await keys.issueKey(id, "till", ["read"], 0);
  storage.reads = 0;
});
afterEach(async () => {
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

test("a key is looked up once, then cached", async () => {
  for (let time = 0; time < 3; time++) {
    expect(await authenticator.authenticate(issued.key)).toMatchObject({ keyId: issued.record.id, perMinute: 60 });
  }
  expect(storage.reads).toBe(1);
});

test("an unknown key is looked up and refused", async () => {
  expect(await authenticator.authenticate(generateApiKey("test"))).toBeUndefined();
  expect(storage.reads).toBe(1);
});

test("a key with one wrong character is refused without a look-up", async () => {
  for (let position = 0; position < issued.key.length; position++) {
    const wrong = issued.key[position] === "x" ? "y" : "x";
    const mistyped = issued.key.slice(0, position) + wrong + issued.key.slice(position + 1);
    expect(await authenticator.authenticate(mistyped)).toMatchObject({ error: invalidApiKey });
  }
  expect(storage.reads).toBe(0);
});

/** Gives a key of this mode and cell to the account, even if the store belongs to another environment. */
async function issueFor(environment: KeyEnvironment, mode: Mode): Promise<string> {
  const { accountId } = issued.record;
  await storage.write(() => all(change("DELETE FROM store_environment")));
  const { key } = await new KeyStore(storage, environment).issueKey(accountId, "other", ["read"], 0, mode);
  storage.reads = 0;
  return key;
}

test("production accepts keys of both modes, and distinguishes them", async () => {
  const ofProduction = new KeyAuthenticator(storage, keys, production, new ManualClock());
  const live = await issueFor(production, "live");
  for (let time = 0; time < 2; time++) {
    expect(await ofProduction.authenticate(live)).toMatchObject({ mode: "live" });
    expect(await ofProduction.authenticate(issued.key)).toMatchObject({ mode: "test" });
  }
});

test.each([
  ["of production", production, "live", "only production has live keys"],
  ["of another cell", { ...development, cell: "a7" }, "test", "of another cell than this one, 00"],
] as const)(
  "a key %s is refused without a look-up, even if it is in the store",
  async (_name, environment, mode, why) => {
    const key = await issueFor(environment, mode);
    expect(await authenticator.authenticate(key)).toMatchObject({ message: expect.stringContaining(why) });
    expect(storage.reads).toBe(0);
    expect(await new KeyAuthenticator(storage, keys, environment, new ManualClock()).authenticate(key)).toMatchObject({
      mode,
    });
  },
);

/** Sends the key twice, and returns how often it was looked up. */
async function reads(): Promise<number> {
  storage.reads = 0;
  for (let time = 0; time < 2; time++) {
    expect(await authenticator.authenticate(issued.key)).toMatchObject({ keyId: issued.record.id });
  }
  return storage.reads;
}

describe("after a change", () => {
  test.each([
    ["of its account, a key is looked up again, once", (own: string) => authenticator.forget(own), 1],
    ["of another account, it is not", () => authenticator.forget("acc_other"), 0],
    ["of an account that is not known, it is", () => authenticator.forget(), 1],
    [
      "of very many accounts, it is",
      () => {
        for (let number = 0; number < 20_000; number++) authenticator.forget(`acc_${number}`);
      },
      1,
    ],
  ] as const)("%s", async (_, act, times) => {
    await reads();
    for (let round = 0; round < 2; round++) {
      const { version } = authenticator;
      act(issued.record.accountId);
      expect(authenticator.version).toBeGreaterThan(version); // requests in flight ask again
      expect(await reads()).toBe(times);
    }
  });
});

test("a look-up from before a change is not cached", async () => {
  const asked = authenticator.authenticate(issued.key);
  authenticator.forget(issued.record.accountId); // the key is being revoked while the store's answer is on its way
  expect(await asked).toMatchObject({ keyId: issued.record.id });
  await keys.revokeKey(issued.record.id, 0);
  expect(await authenticator.authenticate(issued.key)).toMatchObject({ message: "The API key was revoked." });
});
