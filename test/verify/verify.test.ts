import { afterAll, beforeAll, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { runInProcess } from "../harness/commands.ts";
import { freePort } from "../harness/free-port.ts";
import { faults } from "./faults.ts";
import type { Fault } from "./faulty-proxy.ts";
import { startBehindProxy } from "./started.ts";

let started: Awaited<ReturnType<typeof startBehindProxy>>;
beforeAll(async () => {
  started = await startBehindProxy();
});
afterAll(() => started.stop());

const verify = (address: string, options: readonly string[] = [], key: string | undefined = started.key) =>
  runInProcess(tmpdir(), ["verify", address, ...options], key ? { PETSTORE_KEY: key } : {});
/** Verifies the interface alone, with something broken. */
function verifyWith(fault: Fault, ...options: string[]) {
  started.proxy.break(fault);
  return verify(started.base, ["--levels", "core", ...options]);
}
const animals = () => started.service.store.rows("SELECT name FROM pets");

test("a service passes, line by line, and keeps nothing of it", async () => {
  const { status, stdout, stderr } = await verifyWith({});
  const lines = stdout.trimEnd().split("\n");
  expect([status, stderr]).toEqual([0, ""]);
  expect(lines[0]).toMatch(/^\[1\/\d+\] ok {5} core create: /);
  expect(lines.at(-1)).toMatch(/^\d+ passed, 0 failed, 1 skipped\.$/);
  expect(await animals()).toEqual([]);
});

test("a failure says what was sent, what came, what is right, and what helps", async () => {
  const fault = faults["core digits"]?.(started.key) ?? {};
  const { status, stdout, stderr } = await verifyWith(fault);
  const sent = `POST ${started.base}/pets {"name":"verify \\w+ \\d+","categoryId":9007199254740993}`;
  const came = `201 application/json: {"id":\\d+,.*"categoryId":9007199254740992}`;
  expect(stdout.replaceAll(/\n +/g, " | ")).toMatch(
    new RegExp(
      `FAILED {2}core digits: [^|]+ \\| sent {3}${sent} \\| came {3}${came} \\| right {2}categoryId 9007199254740993 \\| help {3}nothing`,
    ),
  );
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^\d+ passed, 1 failed, 1 skipped\.\n$/)]);
  expect(await animals()).toEqual([]);
  const { stdout: json } = await verifyWith(fault, "--json");
  const { checks, ...counts } = JSON.parse(json) as { checks: { name: string; right?: string }[] };
  expect(counts).toEqual({
    address: started.base,
    passed: checks.length - 2,
    failed: 1,
    skipped: 1,
    left: 0,
  } as object);
  expect(checks.find(({ name }) => name === "digits")?.right).toBe("categoryId 9007199254740993");
});

test("ids that are strings fail what returns animals", async () => {
  const spoilt: Fault = {
    response: (answer) => (answer.body = Buffer.from(answer.body.toString().replaceAll(/"id":(\d+)/g, '"id":"$1"'))),
  };
  const { checks } = JSON.parse((await verifyWith(spoilt, "--json")).stdout) as {
    checks: { name: string; outcome: string }[];
  };
  const failed = checks.flatMap(({ name, outcome }) => (outcome === "FAILED" ? [name] : []));
  expect(failed).toEqual(["create", "list", "get", "texts", "digits"]);
});

test("what has another shape is shown as it came", async () => {
  const { status, stdout } = await verifyWith({
    response: (answer, { path }) => path.includes("status=") && (answer.body = Buffer.from("[null]")),
  });
  const failed = stdout
    .replaceAll(/\n +/g, " | ")
    .split("\n")
    .filter((line) => line.includes("FAILED"));
  expect([status, failed]).toEqual([1, [expect.stringContaining("a response of another shape: 200 [null]")]]);
  expect(failed[0]).toContain(`sent   GET ${started.base}/pets?status=`);
});

test("a server without TLS is said in one sentence", async () => {
  const base = started.base.replace("http:", "https:");
  const { status, stdout, stderr } = await verify(base, ["--levels", "core"]);
  expect([status, stdout, stderr]).toEqual([2, "", `The server at ${base} does not accept TLS here.\n`]);
});

test("a second address that cannot be used is said in one sentence", async () => {
  const { status, stdout, stderr } = await verifyWith({}, "--from", "192.0.2.1");
  const sentence = `No service answers at ${started.base} from 192.0.2.1: connect EADDRNOTAVAIL`;
  expect([status, stdout, stderr]).toEqual([2, "", expect.stringContaining(sentence)]);
});

test("another implementation may keep the animals: it is told how many", async () => {
  const { status, stdout } = await verifyWith({
    request: ({ path, body }) =>
      /search=|delete$/.test(path) ? { status: 404, body: Buffer.from(`{"${body}":1}`) } : undefined,
  });
  const [, left] = /(\d+) animals could not be deleted: their names begin with verify \w+\.\n$/.exec(stdout) ?? [];
  expect([status, Number(left)]).toEqual([0, (await animals()).length]);
  expect(Number(left)).toBeLessThanOrEqual(30);
});

test("it waits where a limit is used up", async () => {
  let used = 0;
  const { status, stdout } = await verifyWith({
    response: ({ headers }) => {
      const reset = Math.floor(Date.now() / 1_000) + 1;
      if (++used === 3) Object.assign(headers, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${reset}` });
    },
  });
  expect([status, stdout]).toEqual([0, expect.stringContaining(" 0 failed")]);
});

const page = { headers: { "content-type": "text/html" }, body: Buffer.from("<h1>Welcome</h1>") };
const always = (answer: ReturnType<NonNullable<Fault["request"]>>): Fault => ({ request: () => answer });
test.each([
  [
    "a redirect",
    always({ status: 308, headers: { location: "https://b.example/v1/pets?limit=1" } }),
    "/v1 redirects to https://b.example/v1: verify that base address.",
  ],
  ["a page", always(page), "/v1 is not the base address of a petstore: GET http"],
  ["a missing page", always({ ...page, status: 404 }), "/pets answers 404 text/html."],
  ["a proxy without a service", always({ ...page, status: 502 }), "/v1 is not ready: status 502"],
  [
    "a service that does not know the key",
    always({ status: 401, body: Buffer.from('{"message":"No such key."}') }),
    "/v1 refuses the key in PETSTORE_KEY: No such key.",
  ],
  ["no answer", always("close"), "No service answers at http"],
] as const)("%s is said in one sentence", async (_what, fault, sentence) => {
  const { status, stdout, stderr } = await verifyWith(fault);
  expect([status, stdout, stderr]).toEqual([2, "", expect.stringContaining(sentence)]);
  expect(stderr.trim()).not.toContain("\n");
});

test("a network that ends in the middle is said in one sentence", async () => {
  let requests = 0;
  const { status, stderr } = await verifyWith({ request: () => (++requests > 9 ? "close" : undefined) });
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/^http\S+ no longer answers since check \[\d+\/19\] [a-z-]+, .+\.\n$/),
  ]);
});

test.each([
  ["http://127.0.0.1", [], "psk_test_1", "ADDRESS must be a base address"],
  ["ftp://127.0.0.1/v1", [], "psk_test_1", "ADDRESS must be a base address"],
  ["http://127.0.0.1:1/v1", [], "", "Set PETSTORE_KEY"],
  ["http://127.0.0.1:1/v1", ["--category", "dogs"], "psk_test_1", "--category must be the id of a category."],
  ["http://127.0.0.1:1/v1", ["--from", "here"], "psk_test_1", "--from must be an IP address of this machine."],
  [
    "http://127.0.0.1:1/v1",
    [],
    "psk_live_1",
    "PETSTORE_KEY is no test key (psk_test_…): --live adds animals to its shop",
  ],
  ["http://127.0.0.1:1/v1", [], "secret", "--live adds animals to its shop"],
  ["http://127.0.0.1:1/v1", ["--levels", "cor"], "psk_test_1", "core, service, deployment, limits, not cor."],
  [`http://127.0.0.1:${freePort()}/v1`, ["--live"], "psk_live_1", "No service answers at"],
] as const)("%s with %j and the key %s is refused", async (address, options, key, sentence) => {
  const { status, stdout, stderr } = await verify(address, options, key);
  expect([status, stdout, stderr]).toEqual([2, "", expect.stringContaining(sentence)]);
});
