// Each failure has its own headers, and none of the failure before it: responses are copies of one object.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { DRAIN_TIMEOUT } from "../../src/http/input/body-drains.ts";
import { eventually } from "../harness/program.ts";
import { exchange, type RawResponse } from "../harness/raw-http.ts";
import { TestService } from "../harness/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

/** Headers that only some failures have. */
const special = ["retry-after", "allow", "accept-patch", "www-authenticate", "connection"];

/** The status of a response, and which of the special headers it has. */
function outline({ status, headers }: Pick<RawResponse, "status" | "headers">): string {
  const has = special.filter((name) => (name === "connection" ? headers.get(name) === "close" : headers.has(name)));
  return [status, ...has].join(" ");
}

/** The response to a request without a media type, whose body never comes. */
async function withoutBody(key: string): Promise<RawResponse> {
  const lines = ["POST /v1/pets HTTP/1.1", "Host: petstore", `Authorization: Bearer ${key}`, "Content-Length: 1000000"];
  const responses = exchange(service.app.port, `${lines.join("\r\n")}\r\n\r\n`);
  await eventually(() => service.app.controls.drains.size === 1);
  service.clock.advance(DRAIN_TIMEOUT);
  return ((await responses) as [RawResponse])[0];
}

test("a failure has no header of the failure before it", async () => {
  const key = await service.newKey();
  const reader = await service.newKey("enterprise", { perMinute: 100, perDay: 1_000 }, ["read"]);
  const limited = await service.newKey("enterprise", { perMinute: 1, perDay: 1 });
  const add = (sent: string | undefined, body: unknown = { name: "Rex", categoryId: 1 }) =>
    service.call("POST", "/pets", { key: sent, body });
  expect((await add(limited)).status).toBe(201);
  const invalid = ["400", () => add(key, { name: "" })] as const;
  const absent = ["404", () => service.call("GET", "/nothing", { key })] as const;
  const steps = [
    ["429 retry-after", () => add(limited)],
    invalid,
    ["401 www-authenticate", () => add(undefined)],
    invalid,
    ["403 www-authenticate", () => add(reader)],
    invalid,
    ["415 connection", () => withoutBody(key)],
    invalid,
    [
      "415 accept-patch",
      () => service.call("PATCH", "/pets/1", { key, body: "{}", headers: { "Content-Type": "x/y" } }),
    ],
    invalid,
    ["405 allow", () => service.call("DELETE", "/pets", { key })],
    absent,
    ["429 retry-after", () => service.call("GET", "/nothing", { key: limited })],
    absent,
    ["401 www-authenticate", () => service.call("GET", "/nothing", { key: `${key}x` })],
    absent,
  ] as const;
  const seen: string[] = [];
  for (const [, send] of [...steps, ...steps]) seen.push(outline(await send()));
  const expected = steps.map(([outlined]) => outlined);
  expect(seen).toEqual([...expected, ...expected]);
});
