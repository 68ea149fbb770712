// The search itself: whatever gets out must be found, and what is shown on purpose must not be.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateApiKey, keyDigest } from "../../src/domains/keys/api-key.ts";
import { Evidence } from "../harness/evidence.ts";
import { newDataDir, runCommand } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";
import { searchEvidence } from "./search.ts";

const root = join(import.meta.dir, "../..");
const above = mkdtempSync(join(tmpdir(), "petstore-evidence-"));
afterAll(() => rmSync(above, { recursive: true, force: true }));

let folder: string;
let evidence: Evidence;
/** Made for this file alone: nothing of it is sent to a service. */
let key: string;
beforeEach(() => {
  folder = mkdtempSync(join(above, "run-"));
  evidence = new Evidence(folder);
  key = generateApiKey("live");
  evidence.key(generateApiKey("test"));
  evidence.key(key);
});
const leaks = () => searchEvidence(folder).leaks;

const serve = ["bun", "/petstore/src/main.ts", "serve"];
const welcome = (shown: string) => `
Petstore is ready at http://127.0.0.1:8080/v1

It has sample animals and an account on the Business plan. This is its API key; it is not shown again:

  ${shown}

Open the console, signed in:

  http://127.0.0.1:8080/console#key=${shown}

Try it:

  curl -H 'Authorization: Bearer ${shown}' 'http://127.0.0.1:8080/v1/pets?status=available'
`;

describe("the search finds", () => {
  test.each<[string, () => string]>([
    ["a key", () => key],
    ["a key inside a longer word", () => `x${key}x`],
    ["a key without its prefix and its end", () => key.slice(12, 36)],
    ["its digest", () => keyDigest(key)],
    ["its digest in base64url", () => keyDigest(key).replaceAll("+", "-").replaceAll("/", "_").replace("=", "")],
    ["its digest in hex", () => Buffer.from(keyDigest(key), "base64").toString("hex")],
    ["the folder of the program", () => `at answer (${root}/src/http/answer.ts:1:1)`],
    ["the folder of a store", () => join(tmpdir(), "petstore-test-a/petstore.db")],
  ])("%s in a response", (_what, text) => {
    evidence.response(`200\ncontent-type: text/plain\n\n${"Rex ".repeat(50)}`);
    evidence.response(`{"message":"${text()}"}`);
    expect(leaks()).toEqual([expect.stringContaining("responses: ")]);
  });

  test("a key in a log, also in an error", () => {
    evidence.log(`{"level":"info","event":"request","path":"/v1/pets?key=${key}"}`);
    evidence.log(`{"level":"error","event":"request_failed","stack":"Error: ${key}"}`);
    expect(leaks()).toHaveLength(2);
  });

  test("a path in a log, except in the stack of an error", () => {
    evidence.log(`{"level":"error","event":"request_failed","stack":"at ${root}/src/app.ts:1:1"}`);
    expect(leaks()).toEqual([]);
    evidence.log(`{"level":"info","event":"request","at":"${root}/src/app.ts:1:1"}`);
    expect(leaks()).toHaveLength(1);
  });

  test.each<[string, string[], () => string]>([
    ["a key that a service logs", serve, () => `${welcome(key)}{"level":"info","key":"${key}"}\n`],
    ["a key that is shown twice", serve, () => welcome(key) + welcome(key)],
    ["a key among keys that are listed", ["main.ts", "keys", "list"], () => `key_1  acc_1  ${key}\n`],
    ["a second key where one is made", ["main.ts", "keys", "create"], () => `${key}\n${key}\n`],
  ])("%s", (_what, command, text) => {
    evidence.process(command)(text());
    expect(leaks()).not.toBeEmpty();
  });

  test("a key across two parts of a long file", () => {
    evidence.response("Rex ".repeat(2 * 1024 * 1024 - 5) + key);
    expect(leaks()).not.toBeEmpty();
  });
});

describe("the search finds nothing", () => {
  test.each<[string, string[], () => string]>([
    ["in the words of a first start", serve, () => welcome(key)],
    ["in those of keys create", ["main.ts", "keys", "create", "--account", "acc_1"], () => `${key}\n\nKey key_1 of\n`],
    [
      "in those of keys rotate --json",
      ["main.ts", "keys", "rotate", "--json"],
      () => `{"key":"${key}","id":"key_1"}\n`,
    ],
    [
      "in the path that the command line names",
      ["main.ts", "backups", "take", "--file", "x"],
      () => `{"file":"${root}/x"}\n`,
    ],
  ])("%s", (_what, command, text) => {
    evidence.process(command)(text());
    expect(leaks()).toEqual([]);
  });

  test("in the ids of keys in a list", () => {
    evidence.response(`${key.slice(0, 11)}…${key.slice(-4)}`);
    expect(leaks()).toEqual([]);
  });
});

const recorded = process.env["TEST_EVIDENCE"];
if (recorded) {
  test("this run is recorded: keys, responses, logs, metrics and what processes write", async () => {
    const mark = crypto.randomUUID();
    const service = await TestService.start();
    const { key: made, account } = await service.newAccountWithKey("free");
    const { headers } = await service.call("POST", "/pets", { key: made, body: { name: mark, categoryId: 1 } });
    await service.stop();
    const { stderr } = await runCommand(newDataDir(), [mark]);
    const read = (name: string) => readFileSync(join(recorded, name), "utf8");
    expect(read("keys")).toContain(made);
    for (const text of [mark, headers.get("x-request-id") ?? "", "petstore_requests_total"]) {
      expect(read("responses")).toContain(text);
    }
    expect(read("log")).toContain(account.id);
    const processes = readdirSync(recorded).filter((name) => name.startsWith("process-"));
    expect(processes.some((name) => read(name).endsWith(stderr))).toBe(true);
  });
}

test.each([
  ["a key that was sent to it", "planted.ts", 1],
  ["keys that were issued, and never sent", "issued.ts", 3],
])("control: a run in which a service leaks %s fails, although its tests pass", (_which, control, leaked) => {
  const { stdout, exitCode } = Bun.spawnSync(
    [process.execPath, "test/runner/run.ts", "embedded", `test/leaks/controls/${control}`],
    {
      cwd: root,
    },
  );
  const lines = stdout.toString().trimEnd().split("\n");
  expect([exitCode, lines.at(-1)]).toEqual([1, `1 passed, ${leaked} failed`]);
  expect(lines.filter((line) => line.startsWith("Leak: responses: "))).toHaveLength(leaked);
});
