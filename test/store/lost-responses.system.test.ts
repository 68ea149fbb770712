// The response to a commit that is lost on its way from PostgreSQL: all is written, and who wrote it does not know.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { openStorage } from "../../src/app/store/engines.ts";
import { readConfig } from "../../src/config.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { UsageStore } from "../../src/domains/usage/usage.store.ts";
import { UsageCounter } from "../../src/domains/usage/usage-counter.ts";
import { CommitUnknown } from "../../src/storage/errors.ts";
import type { OpenStorage } from "../../src/storage/storage.ts";
import { systemClock } from "../../src/timing/clock.ts";
import { callerOf } from "../conformance/limiter-model.ts";
import { DatabaseProxy } from "../harness/database-proxy.ts";
import { failureOf } from "../harness/failure-of.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";

const COMMITTED = "COMMIT\0";
const quota = { perMinute: 100, perDay: 1_000 };
const caller = callerOf("acc_1", "key_1", quota);

describe.skipIf(postgresMissing !== undefined)("a lost commit response", () => {
  let server: PostgresServer;
  let proxy: DatabaseProxy;
  let storage: OpenStorage;
  beforeAll(async () => {
    server = await PostgresServer.start();
    proxy = await DatabaseProxy.start(server.port);
    const url = server.url().replace(String(server.port), String(proxy.port));
    storage = await openStorage(readConfig({ PETSTORE_DATABASE_URL: url }));
  });
  afterAll(async () => {
    await storage.close();
    proxy.stop();
    await server.remove();
  });
  beforeEach(() => {
    proxy.cutBefore = undefined;
  });

  test("double-counts no requests", async () => {
    await server.run("INSERT INTO accounts (id, name, plan, created_at) VALUES ('acc_1', 'Test', 'pro', 0)");
    const store = new UsageStore(storage);
    const counter = new UsageCounter(store, systemClock);
    const operation = { name: "getPet" } as Operation;
    for (let request = 0; request < 3; request++) counter.count(caller, operation, 200);
    proxy.cutBefore = COMMITTED;
    expect(await failureOf(counter.save())).toBeInstanceOf(CommitUnknown);
    expect(counter.size).toEqual({ counts: 0, uncounted: 3 });
    counter.count(caller, operation, 200);
    await counter.saveAll();
    const now = systemClock.now();
    const page = await storage.read(store.page(caller, "day", { before: undefined, limit: 9, now, unsaved: () => [] }));
    expect(page.items.reduce((sum, { requests }) => sum + requests, 0)).toBe(4);
  });
});
