// A test that passes while its service answers with keys that nobody has sent, one for each way in which they are
// issued: the run must know them all, and fail.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstStart } from "../../../src/app/first-start.ts";
import { migrations } from "../../../src/app/schema.ts";
import { AccountStore } from "../../../src/domains/accounts/accounts.store.ts";
import { KeyStore } from "../../../src/domains/keys/keys.store.ts";
import { SqliteStorage } from "../../../src/storage/sqlite/sqlite-storage.ts";
import { development } from "../../harness/key-environments.ts";

test("a service that gives keys of its store away", async () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-issued-"));
  const storage = new SqliteStorage(join(folder, "petstore.db"), migrations);
  const [accounts, keys] = [new AccountStore(storage), new KeyStore(storage, development)];
  const first = await firstStart(storage, accounts, keys);
  const second = await keys.issueKey(first?.record.accountId ?? "", "till", ["read"], 0);
  const third = await keys.rotateKey(second.record.id, 0, 0);
  await storage.close();
  rmSync(folder, { recursive: true });
  const issued = [first, second, third].map((one) => one?.key).join("\n");
  const server = Bun.serve({ port: 0, fetch: () => new Response(issued) });
  expect(await (await fetch(server.url)).text()).toBe(issued);
  await server.stop(true);
});
