// The document as a Postman collection, run against a fresh development instance with only the key set.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { replacePart } from "../../scripts/derive/docs.ts";
import { domains } from "../../src/app/domains.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { hasInteropTools, interopList } from "../harness/interop-tools.ts";
import { keyIn, newDataDir, Program } from "../harness/program.ts";
import { bodyOf } from "../harness/valid-call.ts";
import { makeCollection, type Outcome, placeholder, runCollection } from "./postman-collection.ts";

const operations: readonly Operation[] = domains.flatMap((domain) => domain.operations);
const isInstalled = hasInteropTools();

const page = readFileSync(join(import.meta.dir, "../../docs/interop.md"), "utf8");

let folder: string;
let service: Program;
let requests: Awaited<ReturnType<typeof makeCollection>>;
let requestsByDefault: typeof requests;
let outcomes: Outcome[];
let outcomesByDefault: Outcome[];
beforeAll(async () => {
  if (!isInstalled) return;
  folder = mkdtempSync(join(tmpdir(), "petstore-postman-"));
  service = await Program.start(newDataDir());
  const key = keyIn(service.output);
  const [document, file, byDefault] = ["openapi", "collection", "by-default"].map((name) =>
    join(folder, `${name}.json`),
  ) as [string, string, string];
  writeFileSync(document, await (await fetch(new URL("/openapi.json", service.base))).text());
  requests = await makeCollection(document, file, "examples");
  requestsByDefault = await makeCollection(document, byDefault);
  outcomes = await runCollection(file, key);
  outcomesByDefault = await runCollection(byDefault, key);
});
afterAll(async () => {
  await service?.end();
  if (isInstalled) rmSync(folder, { recursive: true, force: true });
});

function operationOf(summary: string): Operation {
  const operation = operations.find((one) => one.summary === summary);
  if (!operation) throw new Error(`No operation is called ${summary}.`);
  return operation;
}

test("docs/interop.md names the tools and their versions", () => {
  expect(page).toBe(replacePart(page, "interop", interopList()));
});

test.skipIf(!isInstalled)("has every operation once, with values from the document only", () => {
  expect(requests.map(({ name }) => operationOf(name).name).toSorted()).toEqual(
    operations.map(({ name }) => name).toSorted(),
  );
  for (const { name, request } of requests) {
    expect(JSON.stringify(request)).not.toMatch(placeholder);
    const body = bodyOf(operationOf(name));
    const sent = request.body?.raw && JSON.parse(request.body.raw);
    expect([name, sent]).toEqual([name, body && JSON.parse(body)]);
  }
});

// Nothing in a document changes this: by default the converter writes the type of a value, not its example.
test.skipIf(!isInstalled)(
  "with the converter's default settings, fails only where a path or a body needs a value",
  () => {
    const texts = requestsByDefault.map(({ request }) => JSON.stringify(request));
    expect(texts.filter((text) => placeholder.test(text)).length).toBeGreaterThan(operations.length / 2);
    const failed = outcomesByDefault.filter(({ status }) => status >= 400);
    expect(failed.filter(({ code = "" }) => !/^(invalid_request|url_invalid|\w+_not_found)$/.test(code))).toEqual([]);
    expect(outcomesByDefault.length - failed.length).toBeGreaterThanOrEqual(6); // its values are random
  },
);

test.skipIf(!isInstalled)("fails only because of the order of calls, as docs/interop.md says", () => {
  const failed = outcomes.filter(({ status }) => status >= 400);
  const lines = [...page.matchAll(/^- ([0-9]+) `([a-z_]+)`: (.+)$/gm)].flatMap(([, status, code, calls = ""]) =>
    [...calls.matchAll(/`([^`]+)`/g)].map(([, call = ""]) => ({ status, code, call })),
  );
  const stated = failed.map(({ summary, status, code }) => {
    const { method, path } = operationOf(summary);
    const line = lines.find(
      ({ call }) => call === `${method} ${path}` || (call.startsWith("/") && path.startsWith(call)),
    );
    return [summary, status, code, `${line?.status} ${line?.code}`];
  });
  expect(stated).toEqual(failed.map(({ summary, status, code }) => [summary, status, code, `${status} ${code}`]));
});
