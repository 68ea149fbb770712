// Keys where clients put them by mistake, and what the service says of that: nowhere is a key given back
// or written down. What the other tests provoke is searched with it when the run has ended.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { environment, newKeys } from "../harness/keys.ts";
import { newDataDir, Program, runJson } from "../harness/program.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";

let program: Program;
let key: string;
/** All responses. */
const responses: string[] = [];

beforeAll(async () => {
  program = await Program.start(newDataDir(), { ...environment, PETSTORE_LOG_LEVEL: "debug" });
  [key = ""] = await newKeys(program.dataDir, unlimitedQuota, 1);
});
afterAll(() => program.end());

async function send(method: string, path: string, headers: Record<string, string>, body?: string): Promise<number> {
  const response = await fetch(program.base + path, { method, headers, ...(body === undefined ? {} : { body }) });
  responses.push([...response.headers].join("\n"), await response.text());
  return response.status;
}

const withKey = () => ({ Authorization: `Bearer ${key}`, "Content-Type": "application/json" });

describe("a key is never returned if it is sent", () => {
  test.each<[string, (sent: string) => [string, string, Record<string, string>?, string?], number]>([
    ["as it should be", () => ["GET", "/pets"], 200],
    ["as a path", (sent) => ["GET", `/${sent}`], 404],
    ["as an id", (sent) => ["GET", `/pets/${sent}`], 404],
    ["as the value of an unknown parameter", (sent) => ["GET", `/pets?api_key=${sent}`], 400],
    ["as the value of a parameter", (sent) => ["GET", `/pets?limit=${sent}&status=${sent}&cursor=${sent}`], 400],
    ["as a field", (sent) => ["POST", "/pets", {}, JSON.stringify({ name: 1, categoryId: sent, status: sent })], 400],
    ["as a body", (sent) => ["POST", "/pets", {}, sent], 400],
    ["as the type of a body", (sent) => ["POST", "/pets", { "Content-Type": sent }, "{}"], 415],
    ["with another method", () => ["DELETE", "/pets"], 405],
    [
      "as a cookie and other headers",
      (sent) => ["GET", "/pets", { Cookie: sent, Referer: sent, "User-Agent": sent }],
      200,
    ],
    [
      "as another one's header",
      (sent) => ["GET", "/pets", { "X-Api-Key": sent, "X-Request-Id": sent, Origin: sent }],
      200,
    ],
    ["as an entity tag", (sent) => ["GET", "/pets", { "If-None-Match": `"${sent}"` }], 200],
    ["with a letter too much", (sent) => ["GET", "/pets", { Authorization: `Bearer ${sent}x` }], 401],
    ["twice", (sent) => ["GET", "/pets", { Authorization: `Bearer ${sent}, Bearer ${sent}` }], 401],
    ["by another scheme", (sent) => ["GET", "/pets", { Authorization: `Basic ${btoa(`${sent}:`)}` }], 401],
    ["without a scheme", (sent) => ["GET", "/pets", { Authorization: sent }], 401],
  ])("%s", async (_how, request, expected) => {
    const [method, path, headers = {}, body] = request(key);
    expect(await send(method, path, { ...withKey(), ...headers }, body)).toBe(expected);
    expect(responses.join("\n")).not.toContain(key.slice(-30));
  });
});

test("a key is not in the metrics, the document, the log or the command line's lists either", async () => {
  for (const page of ["/metrics", "/openapi.json", "/openapi.yaml", "/docs", "/docs/start.js", "/readyz", "/healthz"]) {
    const response = await fetch(new URL(page, program.base));
    expect([page, response.status]).toEqual([page, 200]);
    responses.push(await response.text());
  }
  const listed = JSON.stringify(await runJson(program.dataDir, ["keys", "list"], environment));
  expect(listed).toContain(key.slice(-4)); // the control: it is the list of this key
  await program.end();
  expect(program.output).toContain('"event":"stopping"');
  for (const text of [listed, program.output, program.errors, ...responses]) expect(text).not.toContain(key.slice(-30));
});
