// A suspended account: its keys may do nothing and it is sent nothing, but nothing of it is lost.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { domains } from "../../src/app/domains.ts";
import { AccountStore } from "../../src/domains/accounts/accounts.store.ts";
import { runInProcess, runJsonInProcess } from "../harness/commands.ts";
import { newKeyIn } from "../harness/keys.ts";
import { Listener } from "../harness/listener.ts";
import { untilMetric } from "../harness/metrics.ts";
import { eventually, newDataDir, Program } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";
import { onPostgres } from "../harness/test-store.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";
import { bodyOf, pathOf } from "../harness/valid-call.ts";
import { messageOf, WebhookService } from "../harness/webhook-service.ts";

const ALL = ["read", "write", "admin"] as const;

describe("a suspended account", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  test("gets 403 account_suspended from every operation and from unknown paths", async () => {
    const { account, key } = await service.newAccountWithKey("enterprise", undefined, ALL);
    const suspended = await service.app.accounts.suspend(account.id, service.clock.now());
    expect(suspended.suspendedAt).toBe(service.clock.now());
    for (const operation of domains.flatMap(({ operations }) => operations)) {
      const body = operation.method === "GET" ? undefined : bodyOf(operation);
      const response = await service.call(operation.method, pathOf(operation), { key, body });
      expect([operation.name, response.status, response.json.code]).toEqual([operation.name, 403, "account_suspended"]);
      expect(response.headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
      expect(response.headers.get("www-authenticate")).toBeNull(); // no other scope would help
    }
    expect((await service.call("GET", "/nothing", { key })).json.code).toBe("account_suspended");
    const { key: other } = await service.newAccountWithKey("enterprise");
    expect((await service.call("GET", "/pets", { key: other })).status).toBe(200);

    service.clock.advance(1_000);
    expect((await service.app.accounts.suspend(account.id, service.clock.now())).suspendedAt).toBe(
      suspended.suspendedAt,
    );
    expect((await service.app.accounts.resume(account.id)).suspendedAt).toBeUndefined();
    expect((await service.call("GET", "/pets", { key })).status).toBe(200);
    service.clock.advance(10_000); // ten records a second are kept for each key, and this second has more
    const advice = async () => {
      const { json } = await service.call("GET", "/requests?limit=100", { key });
      return json.find(({ code }: { code?: string }) => code === "account_suspended");
    };
    const record = await eventually(advice);
    expect([record.stage, record.status]).toEqual(["identify", 403]);
    const { json } = await service.call("GET", `/requests/${record.id}`, { key });
    expect(json.explanation).toBe("The account is suspended. Ask the operator of the service why.");
  });

  test.each([
    ["suspended", [403, "account_suspended"]],
    ["deleted", [401, "invalid_api_key"]],
  ] as const)("that is %s is refused a change whose body arrives afterwards", async (what, refusal) => {
    const { account, key } = await service.newAccountWithKey("enterprise");
    const rest = Promise.withResolvers<void>();
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue('{"name":"Rex",');
        await rest.promise;
        controller.enqueue('"categoryId":1}');
        controller.close();
      },
    });
    const response = service.call("POST", "/pets", { key, body });
    await untilMetric(service.app.base, "petstore_requests_pending", 1);
    if (what === "suspended") await service.app.accounts.suspend(account.id, service.clock.now());
    else await service.app.accounts.delete(account.id, service.clock.now());
    rest.resolve();
    const { status, json } = await response;
    expect([status, json.code]).toEqual([...refusal]);
  });

  test("is limited and banned like any other", async () => {
    const { account, key } = await service.newAccountWithKey("enterprise", { perMinute: 3, perDay: 100 });
    await service.app.accounts.suspend(account.id, service.clock.now());
    const code = async () => (await service.call("GET", "/pets", { key })).json.code;
    const codes = [await code(), await code(), await code(), await code()];
    expect(codes).toEqual([...Array(3).fill("account_suspended"), "rate_limit_exceeded"]);
    service.clock.advance(1_000);
    for (let strike = 0; strike < 19; strike++) await code();
    expect(await code()).toBe("key_banned");
  });

  test("loses its streams, also if another process suspends it", async () => {
    const { account, key } = await service.newAccountWithKey("enterprise");
    const listener = await Listener.open(`${service.app.base}/events/stream`, key);
    const beside = await service.store.open();
    await new AccountStore(beside).suspend(account.id, service.clock.now());
    await beside.close();
    expect(await listener.ended).toBeUndefined();
    const ended = () => service.logLines.find((line) => line.includes("stream_ended") && line.includes(account.id));
    expect(JSON.parse((await eventually(ended)) ?? "{}").reason).toBe("key_invalid");
    expect((await service.call("GET", "/events/stream", { key })).json.code).toBe("account_suspended");
  });
});

test("gets no webhooks until it is resumed; then they continue where they stopped", async () => {
  const hooks = await WebhookService.start();
  try {
    const receiver = hooks.receiver();
    const endpoint = await hooks.endpoint(receiver, { types: ["pet.created"] });
    await hooks.addPet("before");
    await hooks.deliver();
    const { rows } = await accountOf(hooks);
    const [{ account_id: id }] = rows as [{ account_id: string }];
    const { accounts } = hooks.service.app;
    await hooks.addPet("unsent");
    await hooks.call("POST", `/webhook-endpoints/${endpoint.id}/test`);
    await accounts.suspend(id, hooks.service.clock.now());
    for (let round = 0; round < 5; round++) await hooks.round();
    expect(receiver.received.map(messageOf)).toHaveLength(1);
    await accounts.resume(id);
    expect((await hooks.getEndpoint(endpoint.id)).state).toBe("enabled");
    await hooks.deliver();
    const types = receiver.received.map((one) => messageOf(one).type);
    expect(types.filter((type) => type === "pet.created")).toHaveLength(2);
    expect(types).toHaveLength(3);
  } finally {
    await hooks.stop();
  }
});

const accountOf = async ({ service }: WebhookService) => ({
  rows: await service.store.rows("SELECT account_id FROM webhook_endpoints"),
});

describe.skipIf(onPostgres)("accounts suspend", () => {
  test("suspends an account alongside a running service; accounts resume reverts it", async () => {
    const dataDir = newDataDir();
    const { accountId: id, key } = await newKeyIn(dataDir, { name: "Late payer", quota: unlimitedQuota });
    const program = await Program.start(dataDir);
    const status = async () =>
      (await fetch(`${program.base}/pets`, { headers: { Authorization: `Bearer ${key}` } })).status;
    expect(await status()).toBe(200);
    const { stdout } = await runInProcess(dataDir, ["accounts", "suspend", id]);
    expect(stdout).toBe(`Account ${id} (Late payer) is suspended.\n`);
    await eventually(status, (code) => code === 403);
    expect((await runJsonInProcess(dataDir, ["accounts", "show", id])).suspendedAt).toMatch(/^20.*Z$/);
    expect((await runInProcess(dataDir, ["accounts", "list"])).stdout).toContain("suspended");
    expect((await runJsonInProcess(dataDir, ["accounts", "resume", id])).suspendedAt).toBeUndefined();
    await eventually(status, (code) => code === 200);
    const unknown = await runInProcess(dataDir, ["accounts", "suspend", "acc_0000000000000000"]);
    expect([unknown.status, unknown.stderr]).toEqual([1, "There is no account acc_0000000000000000.\n"]);
    expect(await program.end()).toBe(0);
  });
});
