// The commands that read the records of requests, next to a running service.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { runInProcess, runJsonInProcess } from "../../../test/harness/commands.ts";
import { type NewKey, newKeyIn } from "../../../test/harness/keys.ts";
import { newDataDir, Program } from "../../../test/harness/program.ts";

const dataDir = newDataDir();
let program: Program;
let account: string;
let key: NewKey;
beforeAll(async () => {
  program = await Program.start(dataDir);
  key = await newKeyIn(dataDir);
  account = key.accountId;
});
afterAll(() => program.end());

async function send(path: string, bearer?: string): Promise<string> {
  const headers: Record<string, string> = bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` };
  return (await fetch(program.base + path, { headers })).headers.get("x-request-id") ?? "";
}

/** The output of a command once the request is recorded. */
async function explained(id: string) {
  for (;;) {
    const { status, stdout } = await runInProcess(dataDir, ["requests", id, "--json"]);
    if (status === 0) return JSON.parse(stdout);
  }
}

test("a request is explained: what happened and what to do", async () => {
  const [missing, anonymous] = [await send("/pets/99", key.key), await send("/pets")];
  expect(await explained(missing)).toMatchObject({
    id: missing,
    keyId: key.id,
    code: "pet_not_found",
    stage: "handle",
    hasValidKey: true,
    advice: expect.stringContaining("Compare the id with a list"),
  });
  expect(await explained(anonymous)).toMatchObject({ code: "missing_api_key", stage: "identify", hasValidKey: false });
  const { stdout } = await runInProcess(dataDir, ["requests", missing]);
  expect(stdout).toMatch(/^The operation refused the request: No animal has the id 99\. .*\nCompare the id/);
  expect(stdout).toMatch(/^operation +getPet$/m);
  const unknown = await runInProcess(dataDir, ["requests", "0-0", "--json"]);
  expect([unknown.status, JSON.parse(unknown.stderr).code]).toEqual([1, "request_not_found"]);
});

test("an explanation escapes control characters of a client", async () => {
  const id = await send("/categories?x%1b%5b31m%0a%7f%c2%9b=1", key.key);
  await explained(id);
  const { stdout } = await runInProcess(dataDir, ["requests", id]);
  expect(stdout).toContain("x\\u001b[31m\\u000a\\u007f\\u009b is not");
  expect(stdout.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
});

test("requests lists those of a shop, with the filters of the API", async () => {
  const id = await send("/nothing", key.key);
  await explained(id);
  const list = (...more: string[]) => runJsonInProcess(dataDir, ["requests", "--account", account, ...more]);
  const [newest] = await list();
  expect(newest).toMatchObject({ id, code: "path_not_found" });
  expect(await list("--code", "path_not_found", "--key", key.id, "--status", "4xx")).toEqual([newest]);
  expect(await list("--status", "5xx")).toEqual([]);
  expect(await list("--until", "2020-01-01T00:00:00Z")).toEqual([]);
  expect(await list("--since", "2020-01-01T02:00:00+02:00", "--limit", "1")).toHaveLength(1);
  const { stdout } = await runInProcess(dataDir, ["requests", "--account", account]);
  expect(stdout).toMatch(/^TIME +ID +STATUS +CODE +OPERATION +PATH +KEY +ADDRESS$/m);
  for (const wrong of [
    ["--status", "3xx"],
    ["--limit", "0"],
    ["--since", "yesterday"],
    ["--since", "5"],
    ["--until", "2026-11-21"],
    ["--until", "2026-11-21T12:00"],
  ]) {
    expect((await runInProcess(dataDir, ["requests", "--account", account, ...wrong])).status).toBe(2);
  }
});

test.each([
  ["--operation", "listPet", "listPet is not an operation. Did you mean listPets?"],
  ["--code", "pet_notfound", "pet_notfound is not an error code. Did you mean pet_not_found?"],
  ["--code", "", " is not an error code. See --help."],
])("requests %s %p is refused", async (option, name, message) => {
  const { status, stdout, stderr } = await runInProcess(dataDir, ["requests", option, name]);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(message);
});

test.each([
  ["--operation", "getPet"],
  ["--code", "disconnect"],
])("requests takes %s %s", async (option, name) => {
  await runJsonInProcess(dataDir, ["requests", "--account", account, option, name]);
});
