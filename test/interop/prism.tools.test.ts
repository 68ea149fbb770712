// Prism, as a mock of the document and as a proxy that compares the service with it.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { domains } from "../../src/app/domains.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { freePort } from "../harness/free-port.ts";
import { hasInteropTools, interopFolder } from "../harness/interop-tools.ts";
import { keyIn, newDataDir, Program } from "../harness/program.ts";
import { newSchemaCheck } from "../harness/schema-check.ts";
import { bodyOf } from "../harness/valid-call.ts";
import { makeCollection, runCollection } from "./postman-collection.ts";

/* oxlint-disable typescript/no-explicit-any -- the tests say what they expect of the document */
const operations: readonly Operation[] = domains.flatMap((domain) => domain.operations);
const isInstalled = hasInteropTools();

let folder: string;
let service: Program;
let key: string;
let document: any;
let mock: string;
let proxy: string;
let strictProxy: string;
const children: Bun.Subprocess[] = [];

beforeAll(async () => {
  if (!isInstalled) return;
  folder = mkdtempSync(join(tmpdir(), "petstore-prism-"));
  service = await Program.start(newDataDir());
  key = keyIn(service.output);
  document = await (await fetch(new URL("/openapi.json", service.base))).json();
  const without422 = structuredClone(document);
  delete without422.paths["/pets"].post.responses["422"];
  const wrong = structuredClone(document);
  wrong.components.schemas.Pet.properties.name.type = "integer";
  const starts = [
    startPrism("mock", without422),
    startPrism("proxy", document, service.base),
    startPrism("proxy", wrong, service.base),
  ] as const;
  [mock, proxy, strictProxy] = await Promise.all(starts);
});
afterAll(async () => {
  for (const child of children) child.kill();
  await Promise.all(children.map((child) => child.exited));
  await service?.end();
  if (isInstalled) rmSync(folder, { recursive: true, force: true });
});

/** Starts Prism with a document and returns its address once it listens. */
async function startPrism(mode: "mock" | "proxy", shown: unknown, ...upstream: string[]): Promise<string> {
  const port = freePort();
  const file = join(folder, `${port}.json`);
  writeFileSync(file, JSON.stringify(shown));
  const program = join(interopFolder, "node_modules/@stoplight/prism-cli/dist/index.js");
  const child = Bun.spawn(["node", program, mode, "-p", String(port), file, ...upstream], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  await listening(child.stdout);
  return `http://127.0.0.1:${port}`;
}

/** Resolves once Prism says that it listens. All that it says is read, so that it never waits for a reader. */
function listening(stdout: ReadableStream<Uint8Array>): Promise<void> {
  const { promise, resolve: listens, reject } = Promise.withResolvers<void>();
  const decoder = new TextDecoder();
  let said = "";
  const read = async () => {
    for await (const bytes of stdout) {
      said += decoder.decode(bytes, { stream: true });
      if (said.includes("Prism is listening")) listens();
    }
    throw new Error(`Prism ended:\n${said}`);
  };
  read().catch(reject);
  return promise;
}

function resolve(part: any): any {
  const path: string[] | undefined = part.$ref?.slice(2).split("/");
  return path ? path.reduce((node, token) => node[token], document) : part;
}

/** Sends a request with the document's examples. */
async function call({ method, path }: Operation, body: string | undefined) {
  const parameters: any[] = document.paths[path][method.toLowerCase()].parameters.map(resolve);
  const filled = path.replaceAll(/\{([^}]*)\}/g, (_, name: string) =>
    encodeURIComponent(parameters.find((parameter) => parameter.name === name).example),
  );
  const response = await fetch(mock + filled, {
    method,
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body }),
  });
  return { response, body: await response.text() };
}

const ajv = newSchemaCheck();

/** The headers that the document declares for a response and that a response has not, or not in that form. */
function headerFaults({ method, path }: Operation, response: Response): string[] {
  const declared = resolve(document.paths[path][method.toLowerCase()].responses[response.status]);
  return Object.entries<any>(declared.headers).flatMap(([name, header]) => {
    const { schema, required } = resolve(header);
    const text = response.headers.get(name);
    if (text === null) return required ? [`${name} is missing`] : [];
    const value = schema.type === "integer" ? Number(text) : text;
    return ajv.validate(schema, value) && text !== "string" ? [] : [`${name}: ${text}`];
  });
}

describe("as a mock", () => {
  test.skipIf(!isInstalled)("returns success and headers that fit their schemas for every operation", async () => {
    // Prism cannot write `text/event-stream`: it answers 500.
    for (const operation of operations.filter(({ response }) => !response.stream)) {
      const { response } = await call(operation, bodyOf(operation));
      expect([operation.name, response.status, headerFaults(operation, response)]).toEqual([
        operation.name,
        operation.response.status,
        [],
      ]);
    }
  });

  // Prism prefers 422 to 400 wherever an operation has both, as one with an idempotency key does.
  test.skipIf(!isInstalled)("returns 400 for an invalid body where the operation has no 422", async () => {
    const invalid = '{"name":1}';
    for (const operation of operations.filter((one) => one.body)) {
      const { response, body } = await call(operation, invalid);
      const expected = operation.name === "createPet" ? [400, "invalid_request"] : [422, expect.any(String)];
      expect([operation.name, response.status, JSON.parse(body).code]).toEqual([operation.name, ...expected]);
      expect(headerFaults(operation, response)).toEqual([]);
    }
  });
});

describe("as a proxy", () => {
  test.skipIf(!isInstalled)("reports nothing for all operations", async () => {
    const [source, file] = [join(folder, "openapi.json"), join(folder, "collection.json")];
    writeFileSync(source, JSON.stringify(document));
    await makeCollection(source, file, "examples");
    const outcomes = await runCollection(file, key, proxy);
    expect(outcomes.map(({ summary }) => summary).toSorted()).toEqual(operations.map((one) => one.summary).toSorted());
    // The same as without a proxy: see postman.tools.test.ts.
    expect(outcomes.filter(({ status }) => status >= 400 && ![404, 409, 410].includes(status))).toEqual([]);
    expect(outcomes.filter(({ status }) => status < 400).length).toBeGreaterThan(outcomes.length / 2);
    for (const { summary, headers } of outcomes) {
      expect([summary, headers.get("sl-violations")]).toEqual([summary, undefined]);
    }
  });

  test.skipIf(!isInstalled)("control: reports a wrong document", async () => {
    const response = await fetch(`${strictProxy}/pets`, { headers: { Authorization: `Bearer ${key}` } });
    expect(response.headers.get("sl-violations")).toContain("name");
  });
});
