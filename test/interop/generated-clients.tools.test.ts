// Clients that tools of others generate from the document: they compile with the strictest settings, their error
// codes are exhaustive, and they take names and integers of every kind.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { domains } from "../../src/app/domains.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { errorsOf } from "../../src/contract/operation-properties.ts";
import { hasInteropTools } from "../harness/interop-tools.ts";
import { TestService } from "../harness/service.ts";
import type { Animal, Connect } from "./clients/exact-json.ts";
import { generateClients, runIn } from "./generated-folder.ts";

const root = join(import.meta.dir, "../..");
const operations: readonly Operation[] = domains.flatMap((domain) => domain.operations);
const isInstalled = hasInteropTools();

const animals = [
  { name: "🐶 dog 👩‍🔬", categoryId: 2n ** 63n - 1n },
  { name: "כלב שלום\u202Eقطة", categoryId: -(2n ** 63n) },
];

/** How each tool names the type of the bodies of an operation's errors, and that of an event. */
interface ErrorTypes {
  readonly declarations: string;
  readonly bodies: (operation: string) => string;
  readonly event: string;
}

const errorTypes: Record<string, ErrorTypes> = {
  "openapi-typescript": {
    declarations: `
import type { components, operations } from "../generated/types";
type BodyOf<R> = R extends { content: { "application/json": infer B } } ? B : never;
type BodiesOf<R> = { [S in keyof R]: BodyOf<R[S]> }[keyof R];`,
    bodies: (name) => `BodiesOf<operations["${name}"]["responses"]>`,
    event: 'components["schemas"]["Event"]',
  },
  "hey-api": {
    declarations: `
import type * as types from "../generated/hey/types.gen";
type ValueOf<T> = T[keyof T];`,
    bodies: (name) => `ValueOf<types.${name.charAt(0).toUpperCase()}${name.slice(1)}Errors>`,
    event: "types.Event",
  },
  orval: {
    declarations: 'import type * as client from "../generated/orval/client";',
    bodies: (name) => `client.${name}ResponseError["data"]`,
    event: "client.Event",
  },
};

/** A switch over the codes that the contract declares. It does not compile if the types have another set of codes. */
function switchOver(tool: string, { name }: Operation, codes: readonly string[]): string {
  const cases = codes.map((code) => `    case "${code}": return "${code}";`);
  return `export function ${name}(code: CodeOf<${errorTypes[tool]?.bodies(name)}>): string {
  switch (code) {
${cases.join("\n")}
    default: {
      const none: never = code;
      return none;
    }
  }
}
`;
}

/** Reads a field that only events of one type have. It does not compile if the type does not decide the fields. */
function narrowing(tool: string, isControl: boolean): string {
  const isOne = isControl ? "event.type" : 'event.type === "pet.updated"';
  return `export function oldName(event: ${errorTypes[tool]?.event}): string | undefined {
  return ${isOne} ? (event.previous.name ?? event.data.name) : undefined;
}`;
}

/** The file with one switch for each operation, and one over events. The control leaves one code out, and the type. */
function switches(tool: string, isControl: boolean): string {
  const functions = operations.map((operation) => {
    const codes = [...new Set(errorsOf(operation).map(({ code }) => code))];
    return switchOver(tool, operation, isControl ? codes.slice(1) : codes);
  });
  const codeOf = "type CodeOf<T> = T extends { code: infer C } ? C : never;";
  return [errorTypes[tool]?.declarations, codeOf, ...functions, narrowing(tool, isControl)].join("\n");
}

let folder: string;
let service: TestService;
let key: string;
beforeAll(async () => {
  if (!isInstalled) return;
  service = await TestService.start();
  key = await service.newKey();
  for (const body of animals) {
    const { name, categoryId } = body;
    const text = `{"name":${JSON.stringify(name)},"categoryId":${categoryId}}`;
    expect((await service.call("POST", "/pets", { key, body: text })).status).toBe(201);
  }
  folder = await generateClients(await (await fetch(new URL("/openapi.json", service.app.base))).text());
  for (const tool of Object.keys(errorTypes)) {
    writeFileSync(join(folder, "clients", `${tool}-switches.ts`), switches(tool, false));
    writeFileSync(join(folder, "clients", `${tool}-control.ts`), switches(tool, true));
  }
});
afterAll(async () => {
  await service?.stop();
  if (isInstalled) rmSync(folder, { recursive: true, force: true });
});

test.skipIf(!isInstalled)(
  "compile with the strictest settings, with a switch over all codes of each error, and narrow events by their type",
  async () => {
    const compiler = join(root, "node_modules/.bin/tsc");
    const output = await runIn(folder, [compiler, "-p", join(folder, "clients"), "--pretty", "false"], true);
    const faults = [...output.matchAll(/^(\S+)\(([0-9]+),[0-9]+\): error (TS[0-9]+): .*$/gm)].map(
      ([message, file = "", line, code]) => ({ message, file, line, code }),
    );
    // What @hey-api copies into each client, whatever the document, does not heed exactOptionalPropertyTypes.
    const ofTool = /^generated\/hey\/(client|core)\//;
    const isControl = /^clients\/[a-z-]+-control\.ts$/;
    const others = faults.filter(
      ({ file, code }) => !isControl.test(file) && !(ofTool.test(file) && (code === "TS2379" || code === "TS2375")),
    );
    expect(others.map(({ message }) => message)).toEqual([]);
    for (const tool of Object.keys(errorTypes)) {
      const controls = faults.filter(({ file }) => file === `clients/${tool}-control.ts`);
      const lines = new Set(controls.map(({ line }) => line));
      expect([tool, lines.size]).toEqual([tool, operations.length + 1]);
    }
  },
);

const seen = ({ name, categoryId }: Animal) => ({ name, categoryId: BigInt(categoryId) });

describe.each(Object.keys(errorTypes))("the client of %s", (tool) => {
  const load = async () => {
    const { connect } = (await import(join(folder, "clients", `${tool}.ts`))) as { connect: Connect };
    return connect(service.app.base, key);
  };

  test.skipIf(!isInstalled)("parses a page of 🐶, right-to-left text and the bounds of int64", async () => {
    const page = await (await load()).list(100);
    expect(page.slice(0, animals.length).map(seen)).toEqual(animals);
  });

  test.skipIf(!isInstalled)("adds animals with these values", async () => {
    const client = await load();
    for (const animal of animals) {
      expect(seen(await client.create(animal.name, animal.categoryId))).toEqual(animal);
    }
  });
});

// What the tools themselves do to large integers, as docs/interop.md says.
describe("without an exact parser", () => {
  test.skipIf(!isInstalled)("@hey-api's validator rejects 2^63-1, which JSON.parse rounds up", async () => {
    const { connect } = (await import(join(folder, "clients/hey-api.ts"))) as { connect: Connect };
    const refusal = await connect(service.app.base, key).listPlainly(2).catch(String);
    expect(refusal).toContain("Expected int64 to be <= 9223372036854775807");
  });

  test.skipIf(!isInstalled)("orval's schemas for zod accept the page, with rounded numbers", async () => {
    const { listPetsResponse } = (await import(join(folder, "generated/orval/zod.ts"))) as {
      listPetsResponse: { parse: (page: unknown) => Animal[] };
    };
    const { json } = await service.call("GET", "/pets?limit=2", { key });
    expect(listPetsResponse.parse(json).map(({ name, categoryId }) => [name, categoryId])).toEqual([
      [animals[0]?.name as string, 2 ** 63],
      [animals[1]?.name as string, -(2 ** 63)],
    ]);
  });
});
