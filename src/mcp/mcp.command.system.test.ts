// `petstore mcp`: the bridge of a client that starts a program. It knows only the service's address and a key.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { contextOf, runInProcess } from "../../test/harness/commands.ts";
import { TestService } from "../../test/harness/service.ts";
import { run } from "../cli/run.ts";

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

const message = (id: number, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params });
const call = (id: number, name: string) => message(id, "tools/call", { name, arguments: {} });
const initialize = message(1, "initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
});

/* oxlint-disable typescript/no-explicit-any -- a test says what it expects of an answer */

/** Runs the command with these messages as its input, and returns its answers. */
async function bridge(key: string, messages: readonly object[], base = service.app.base): Promise<any[]> {
  return (await linesOf(key, messages, base)).map((line) => JSON.parse(line));
}

async function linesOf(key: string, messages: readonly object[], base: string): Promise<string[]> {
  const { context, output } = contextOf(import.meta.dir, { PETSTORE_KEY: key, PETSTORE_URL: base });
  const text = messages.map((one) => `${JSON.stringify(one)}\n`).join("");
  const input = async function* () {
    yield Buffer.from(text.slice(0, 30)); // pieces need not end with a line
    yield Buffer.from(text.slice(30));
  };
  expect(await run(["mcp"], { ...context, input })).toBe(0);
  expect(output.stderr).toBe("");
  return output.stdout.split("\n").filter(Boolean);
}

test("answers each request, and nothing to notifications", async () => {
  const key = await service.newKey();
  const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
  const answers = await bridge(key, [initialize, initialized, message(2, "tools/list"), call(3, "shop_summary")]);
  expect(answers.map(({ id }) => id)).toEqual([1, 2, 3]);
  expect(answers[0].result.protocolVersion).toBe("2025-06-18");
  expect(answers[2].result.structuredContent).toHaveProperty("summary");
});

test("after a limit with a long wait, it sends no call, so the key is not banned", async () => {
  const { key } = await service.newAccountWithKey("enterprise", { perMinute: 2, perDay: 1_000 });
  const calls = Array.from({ length: 40 }, (_, id) => call(id, "shop_summary"));
  const answers = await bridge(key, calls);
  expect(answers.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
  expect(answers.filter(({ result }) => !result.isError)).toHaveLength(2);
  expect(new Set(answers.slice(2).map(({ result }) => result.structuredContent.code))).toEqual(
    new Set(["rate_limit_exceeded"]),
  );
  const { json } = await service.call("GET", "/key", { key });
  expect([json.strikes.count, json.ban]).toEqual([0, undefined]);
});

test("after a limit with a short wait, it sends the message again", async () => {
  const { key } = await service.newAccountWithKey("enterprise", { perMinute: 1, perDay: 1_000 });
  expect((await bridge(key, [call(1, "shop_summary")]))[0].result.isError).toBe(false);
  service.clock.advance(59_000); // a second is left
  const proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const response = await fetch(new URL("/mcp", service.app.base), request);
      if ((await response.clone().text()).includes('"retryAfter":1')) service.clock.advance(1_000);
      return response;
    },
  });
  try {
    const [answer] = await bridge(key, [call(2, "shop_summary")], new URL("/v1", proxy.url).href);
    expect([answer.id, answer.result.isError]).toEqual([2, false]);
  } finally {
    await proxy.stop(true);
  }
});

test.each(["\u2028", "\u2029", "\u0085", "\r", "\n", "\r\n"])("an answer with %j is one line", async (end) => {
  const { key } = await service.newAccountWithKey("enterprise");
  const name = `Ida${end}data: [1]${end}Bella`;
  const proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const text = await (await fetch(new URL("/mcp", service.app.base), request)).text();
      return new Response(text.replaceAll("Line", JSON.stringify(name).slice(1, -1)));
    },
  });
  try {
    const given = { name: "add_animal", arguments: { name: "Line", categoryId: "1" } };
    const base = new URL("/v1", proxy.url).href;
    const lines = await linesOf(key, [message(1, "tools/call", given)], base);
    expect(lines.flatMap((line) => line.split(/[\r\n\u0085\u2028\u2029]/))).toEqual(lines);
    expect(JSON.parse(lines[0] ?? "").result.structuredContent.animal.name).toBe(name);
  } finally {
    await proxy.stop(true);
  }
});

test("says why the service refuses a message, or that it cannot be reached", async () => {
  const [refused] = await bridge("psk_test_00nothing", [message(1, "tools/list")]);
  expect(refused).toMatchObject({ jsonrpc: "2.0", id: 1, error: { code: -32_000 } });
  expect(refused.error.message).toContain("API key");
  const [lost] = await bridge("psk_test_00nothing", [message("7" as never, "tools/list")], "http://127.0.0.1:9/v1");
  expect(lost).toMatchObject({
    id: "7",
    error: { message: expect.stringContaining("http://127.0.0.1:9/mcp cannot be") },
  });
});

test("needs a key", async () => {
  const { status, stderr } = await runInProcess(import.meta.dir, ["mcp"]);
  expect([status, stderr]).toEqual([1, "Set PETSTORE_KEY to an API key.\n"]);
});
