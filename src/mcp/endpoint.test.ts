// The protocol over HTTP: keys, limits, malformed messages.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Agent, generations, jsonOf, messageOf } from "../../test/harness/agents.ts";
import { eventually } from "../../test/harness/program.ts";
import { TestService } from "../../test/harness/service.ts";
import { loadLimits } from "../http/load-shedder.ts";

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start();
  ({ key } = await service.newAccountWithKey("enterprise"));
});
afterAll(() => service.stop());

const url = (path: string) => new URL(path, service.app.base);
const remaining = ({ headers }: { headers: Headers }) => Number(headers.get("x-ratelimit-remaining"));

describe.each(generations)("in the revision %s", (generation) => {
  const agentOf = (own: string | undefined) => new Agent(service, own, generation);

  test("a call costs one request, any other message none", async () => {
    const agent = agentOf((await service.newAccountWithKey("free")).key);
    expect(remaining(await agent.request("tools/list"))).toBe(60);
    expect(remaining(await agent.call("find_animals"))).toBe(59);
    expect(remaining(await agent.call("find_animals", { limit: "no" }))).toBe(58);
    expect(remaining(await agent.request("tools/call", { name: "no_tool" }))).toBe(58);
    expect(remaining(await agent.request("tools/list"))).toBe(58);
  });

  test("the call after the last of the minute fails with the wait, and one that does not wait leads to a ban", async () => {
    const own = (await service.newAccountWithKey("free")).key;
    const agent = agentOf(own);
    for (let call = 0; call < 60; call++) expect((await agent.call("shop_summary")).isError).toBe(false);
    const over = await agent.call("shop_summary");
    expect(over.isError).toBe(true);
    expect(over.structuredContent).toMatchObject({ code: "rate_limit_exceeded", status: 429, retryAfter: 60 });
    service.clock.advance(1_000);
    for (let strike = 0; strike < 30; strike++) await agent.call("shop_summary");
    const banned = await agent.call("shop_summary");
    expect(banned.structuredContent).toMatchObject({ code: "key_banned", status: 429, retryAfter: 60 });
    expect((await agent.request("tools/list")).status).toBe(200); // its quota is another
    service.clock.advance(60_000);
    expect((await agent.call("shop_summary")).isError).toBe(false);
  });

  test("without a valid key, the answer is 401 as HTTP has it, and leads to no OAuth", async () => {
    const revoked = await service.newAccountWithKey("enterprise");
    expect((await agentOf(revoked.key).call("shop_summary")).isError).toBe(false);
    await service.app.keys.revokeKey(revoked.record.id, service.clock.now());
    const refused = [undefined, "psk_test_00nothing", revoked.key].map(agentOf);
    for (const agent of refused) {
      for (const response of [
        await agent.request("tools/list"),
        await agent.request("tools/call", { name: "shop_summary", arguments: {} }),
        await agent.request("tools/call", { name: "no_tool" }),
        await agent.request("initialize"),
        await agent.post("no JSON"),
      ]) {
        expect([response.status, (await jsonOf(response)).status]).toEqual([401, 401]);
        expect(response.headers.get("www-authenticate")).toMatch(/^Bearer realm="petstore"(, error="invalid_token")?$/);
        expect([...response.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
      }
    }
  });

  test("a simulated disconnect closes the connection", async () => {
    const agent = agentOf(key);
    for (const [method, params] of [
      ["tools/call", { name: "shop_summary", arguments: {} }],
      ["tools/list", {}],
    ] as const) {
      const response = agent.request(method, params, { "Petstore-Simulate": "disconnect" });
      expect(await response.then(({ status }) => status).catch(() => "closed")).toBe("closed");
    }
    expect((await agent.call("shop_summary")).isError).toBe(false);
    expect(service.app.controls.deadlines.size).toBe(0);
  });

  test("a method that there is not and a tool that there is not are errors of the protocol", async () => {
    const agent = agentOf(key);
    expect((await jsonOf(await agent.request("resources/list"))).error.code).toBe(-32_601);
    expect((await jsonOf(await agent.request("tools/call", { name: "delete_animal" }))).error.code).toBe(-32_602);
  });
});

test("nothing at /.well-known tells clients to begin OAuth", async () => {
  for (const name of ["oauth-protected-resource", "oauth-protected-resource/mcp", "oauth-authorization-server"]) {
    expect((await fetch(url(`/.well-known/${name}`))).status).toBe(404);
  }
});

test.each(["GET", "DELETE", "PUT", "OPTIONS"])("%s is refused", async (method) => {
  const response = await fetch(url("/mcp"), { method, headers: { Accept: "text/event-stream" } });
  expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  expect(response.headers.get("access-control-allow-origin")).toBeNull();
  expect((await jsonOf(response)).code).toBe("method_not_allowed");
});

/** Sends a message whose body does not arrive until the response is there. */
const begin = async (own: string | undefined, path = "/mcp") => {
  const { readable, writable } = new TransformStream();
  const writer = writable.getWriter();
  void writer.write(new TextEncoder().encode("{")).catch(() => {});
  const response = new Agent(service, own).post(readable, {}, path);
  await eventually(() => service.app.controls.drains.size > 0); // it is refused: what it still sends is discarded
  await writer.close();
  return response;
};

describe("before its body is read, a message", () => {
  test("without a valid key is refused, and counts against its address like any other request", async () => {
    const before = remaining(await service.call("GET", "/pets"));
    for (const [used, own] of [undefined, "psk_test_00nothing"].entries()) {
      const response = await begin(own);
      expect([response.status, remaining(response)]).toEqual([401, before - 1 - used]);
    }
    for (let left = before - 2; left > 0; left--) await new Agent(service).request("tools/list");
    const limited = await begin("psk_test_00nothing", "/mcp/");
    expect([limited.status, (await jsonOf(limited)).code]).toEqual([429, "rate_limit_exceeded"]);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await service.call("GET", "/pets")).status).toBe(429);
    expect((await new Agent(service, key).request("tools/list")).status).toBe(200);
    service.clock.advance(60_000);
  });

  test("is refused at overload", async () => {
    const { shedder } = service.app.controls;
    for (let waiting = 0; waiting < loadLimits.maxWaiting; waiting++) shedder.wait(undefined);
    const response = await begin(key).finally(() => {
      for (let waiting = 0; waiting < loadLimits.maxWaiting; waiting++) shedder.endWait(undefined);
    });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect((await jsonOf(response)).code).toBe("overloaded");
  });
});

test("a slash at the end of the path makes no difference", async () => {
  const { body, headers } = messageOf("2025-11-25", "tools/call", { name: "shop_summary", arguments: {} });
  expect((await jsonOf(await agent().post(body, headers, "/mcp/"))).result.isError).toBe(false);
});

test("while the shop leaves too much unread, tools that read fail, and others do not", async () => {
  const { account, key: own } = await service.newAccountWithKey("enterprise");
  const shop = await service.shop(account.id);
  const { unread } = service.app.controls;
  unread.add(shop, 40_000_000);
  const busy = new Agent(service, own);
  expect((await busy.call("find_animals")).structuredContent).toMatchObject({ code: "overloaded", status: 503 });
  expect((await busy.call("add_animal", { name: "Rex", categoryId: "1" })).isError).toBe(false);
  unread.add(shop, -40_000_000);
  expect((await busy.call("find_animals")).isError).toBe(false);
});

test("pages of other sites are refused", async () => {
  const agent = new Agent(service, key);
  for (const origin of ["https://evil.example", "null", `${url("/").origin}.evil.example`]) {
    const response = await agent.request("tools/list", {}, { Origin: origin });
    expect([response.status, (await jsonOf(response)).code]).toEqual([403, "origin_not_allowed"]);
  }
  expect((await agent.request("tools/list", {}, { Origin: url("/").origin })).status).toBe(200);
});

const agent = () => new Agent(service, key);

describe("a message is refused", () => {
  test.each<[string, string, number]>([
    ["is not JSON", "{", -32_700],
    ["is empty", "", -32_700],
    ["is not UTF-8", "\\ud800", -32_700],
    ["is no message", '{"id":1}', -32_600],
    ["is a batch", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32_600],
    ["is null", "null", -32_600],
  ])("that %s", async (_fault, body, code) => {
    const response = await agent().post(body);
    const { jsonrpc, id, error } = await jsonOf(response);
    expect([response.status, jsonrpc, id, error.code]).toEqual([400, "2.0", null, code]);
    expect(error.message).toBeString();
  });

  test("that is too large or of another type", async () => {
    const large = await agent().post(JSON.stringify({ jsonrpc: "2.0", text: "x".repeat(65_536) }));
    expect([large.status, (await jsonOf(large)).code]).toEqual([413, "payload_too_large"]);
    const typed = await agent().post("{}", { "Content-Type": "text/plain" });
    expect([typed.status, (await jsonOf(typed)).code]).toEqual([415, "unsupported_media_type"]);
  });

  test("whose revision or headers are wrong", async () => {
    const old = new Agent(service, key, "2025-06-18");
    const unknown = await old.request("tools/list", {}, { "MCP-Protocol-Version": "1999-01-01" });
    expect([unknown.status, (await jsonOf(unknown)).error.code]).toEqual([400, -32_000]);
    const other = await agent().request("tools/list", {}, { "Mcp-Method": "tools/call" });
    expect([other.status, (await jsonOf(other)).error.code]).toEqual([400, -32_020]);
    const before = remaining(await agent().call("shop_summary"));
    const call = await agent().request("tools/call", { name: "add_animal" }, { "Mcp-Name": "find_animals" });
    expect([call.status, (await jsonOf(call)).error.code, remaining(call)]).toEqual([400, -32_020, before]);
  });

  test("whose body does not arrive", async () => {
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    void writer.write(new TextEncoder().encode("{")).catch(() => {});
    const response = agent().post(readable);
    await eventually(() => service.app.controls.deadlines.size > 0);
    service.clock.advance(10_000);
    expect((await response).status).toBe(408);
    await writer.abort().catch(() => {});
  });
});

test("a subscription is refused, because there is nothing to subscribe to", async () => {
  for (const generation of generations) {
    const own = new Agent(service, key, generation);
    const { id, error } = await jsonOf(await own.request("subscriptions/listen", { notifications: {} }));
    expect([generation, id, error.code]).toEqual([generation, 1, -32_601]);
  }
});

test("a notification is accepted without an answer", async () => {
  const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
  const response = await new Agent(service, key).post(body);
  expect([response.status, await response.text()]).toEqual([202, ""]);
});
