// What the generators of clients need of the document, beyond what the interface states.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliCompressSync } from "node:zlib";
import { array, assert, constantFrom, oneof, property, string } from "fast-check";
import { type TSchema, Type } from "typebox";
import { domains } from "../../src/app/domains.ts";
import { scopes } from "../../src/contract/caller.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { errorsOf, isCacheable, pathParameters } from "../../src/contract/operation-properties.ts";
import { compileValidator } from "../../src/contract/validators.ts";
import { deriveOpenApi } from "../../src/derive/openapi.ts";
import { clientSnippet } from "../../src/derive/openapi-examples.ts";
import { newSchemaCheck } from "../harness/schema-check.ts";
import { TestService } from "../harness/service.ts";
import { rounds } from "../harness/test-length.ts";
import { bodyOf } from "../harness/valid-call.ts";

const operations: readonly Operation[] = domains.flatMap((domain) => domain.operations);
const cases = operations.map((operation) => [operation.name, operation] as const);

/* oxlint-disable typescript/no-explicit-any -- the tests say what they expect of the document */
let service: TestService;
let text: string;
let document: any;
let key: string;

beforeAll(async () => {
  service = await TestService.start();
  text = await (await fetch(new URL("/openapi.json", service.app.base))).text();
  document = JSON.parse(text);
  key = await service.newKey("enterprise", undefined, [...scopes]);
});
afterAll(() => service.stop());

/** What a part of the document is or refers to. */
function resolve(part: any): any {
  const path: string[] | undefined = part.$ref?.slice(2).split("/");
  return path ? path.reduce((node, token) => node[token], document) : part;
}

function documented({ path, method }: Operation): any {
  return document.paths[path][method.toLowerCase()];
}

/** Every part of a part of the document, with its path; it goes through references if it is told to. */
function* partsOf(part: any, path = "", followed?: Set<string>): Generator<[string, any]> {
  if (typeof part !== "object" || part === null) return;
  yield [path, part];
  for (const [name, inner] of Object.entries(part)) yield* partsOf(inner, `${path}/${name}`, followed);
  if (followed && part.$ref && !followed.has(part.$ref)) {
    followed.add(part.$ref);
    yield* partsOf(resolve(part), part.$ref, followed);
  }
}

/** The schemas of the document, with their paths: what stands in an example is none. */
function schemas(): [string, any][] {
  const roots = [...partsOf(document)].flatMap(([path, part]) => (part.schema ? [[path, part.schema] as const] : []));
  const named = Object.entries(document.components.schemas).map(([name, schema]) => [name, schema] as const);
  return [...roots, ...named].flatMap(([path, schema]) => Array.from(partsOf(schema, path)));
}

test("a code sample quotes names that are no identifiers", () => {
  const operation = operations.find(({ name }) => name === "createPet") as Operation;
  const body = {
    ...operation.body,
    examples: { one: { name: "Rex", metadata: { "vet-id": "7" } } },
  } as NonNullable<Operation["body"]>;
  expect(clientSnippet({ ...operation, body })).toBe(
    'console.log(await petstore.createPet({ name: "Rex", metadata: { "vet-id": "7" } }));',
  );
});

// Counted in the JSON text as `/openapi.json` sends it: in bytes before and after compression. 7 KiB are 7,168 bytes.
test("the document has at most 32 kB in brotli, and 7 KiB for each operation", () => {
  const bytes = Buffer.byteLength(text);
  expect(brotliCompressSync(text).length).toBeLessThanOrEqual(32_000);
  expect(bytes / operations.length).toBeLessThanOrEqual(7 * 1_024);
});

describe("each error response", () => {
  test.each(cases)("of %s has an enum of its codes, and a name", (_name, operation) => {
    const expected = Map.groupBy(errorsOf(operation), ({ status }) => status);
    const { responses } = documented(operation);
    const statuses = Object.keys(responses).filter((status) => Number(status) >= 400);
    expect(statuses.toSorted()).toEqual([...expected.keys()].map(String).toSorted());
    for (const [status, errors] of expected) {
      const response = responses[status];
      expect(response.$ref).toStartWith("#/components/responses/");
      const [error, { properties }] = resolve(resolve(response).content["application/json"].schema).allOf;
      expect(error).toEqual({ $ref: "#/components/schemas/Error" });
      expect(properties.code.enum.toSorted()).toEqual(errors.map(({ code }) => code).toSorted());
    }
  });

  test("differs from all others", () => {
    const all = Object.values(document.components.responses).map((response) => JSON.stringify(response));
    expect(new Set(all).size).toBe(all.length);
  });
});

/** The names of the components of a document of these operations. */
function namesOfComponents(list: readonly Operation[]): string[] {
  const servers = [{ url: "https://petstore.test/v1", description: "production" }] as const;
  const { components } = deriveOpenApi(list, { servers, docs: "https://petstore.test/docs" });
  return Object.entries(components as Record<string, object>).flatMap(([kind, parts]) =>
    Object.keys(parts).map((name) => `${kind}/${name}`),
  );
}

describe("components", () => {
  test("have names that a new error code does not change", () => {
    const before = namesOfComponents(operations);
    expect(before).toContain("schemas/UpdatePetConflictError");
    for (const operation of operations) {
      const statuses = new Set(operation.errors.map(({ status }) => status)).add(404).add(409);
      const codes = [...statuses].map((status) => ({ code: `new_${status}`, status, meaning: "It is new." }));
      const changed = { ...operation, errors: [...operation.errors, ...codes] };
      const after = new Set(namesOfComponents(operations.map((one) => (one === operation ? changed : one))));
      expect([operation.name, before.filter((name) => !after.has(name))]).toEqual([operation.name, []]);
    }
  });
});

/** The parameters of all operations and the headers of all responses, with their paths. */
function described(): [string, any][] {
  return [...partsOf(document)].filter(([path, part]) => part.schema && /\/(parameters|headers)\/[^/]+$/.test(path));
}

describe("examples", () => {
  test("are valid, and exist for every parameter and header whose value does no harm", () => {
    const ajv = newSchemaCheck();
    ajv.addSchema({ $id: "document", components: document.components });
    expect(described().length).toBeGreaterThan(30);
    const without = new Set<string>();
    for (const [path, { name, schema, example, examples }] of described()) {
      const values = examples ? Object.values<any>(examples).map(({ value }) => value) : [example];
      const { $ref } = schema;
      const validate = ajv.compile($ref ? { $ref: `document${$ref}` } : inDocument(schema));
      if (values[0] === undefined) without.add(name ?? path);
      else for (const value of values) expect([path, value, validate(value)]).toEqual([path, value, true]);
    }
    // Tools send examples without a person looking: a fixed one of these makes the next request fail, or be empty.
    const harmful = ["If-None-Match", "If-Match", "Idempotency-Key", "lastEventId", "cursor", "search"];
    expect([...without].toSorted()).toEqual(harmful.toSorted());
  });

  test("and defaults leave a request as it is without them", async () => {
    const names = [...partsOf(document)].map(([, { name }]) => name);
    expect(names.filter((name) => typeof name === "string" && /simulate/i.test(name))).toEqual([]);
    const defaults = { cursor: "", search: "", "If-Match": "*" };
    for (const [name, value] of Object.entries(defaults)) {
      const parameters = described().filter(([, parameter]) => parameter.name === name);
      expect(new Set(parameters.map(([, { schema }]) => schema.default))).toEqual(new Set([value]));
    }
    const { json: pet } = await service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 } });
    const first = await service.call("GET", "/pets?limit=1", { key });
    const empty = await service.call("GET", "/pets?limit=1&cursor=", { key });
    expect([empty.text, empty.headers.get("link")]).toEqual([first.text, first.headers.get("link")]);
    const change = { key, headers: { "If-Match": defaults["If-Match"] }, body: { name: "Max" } };
    expect((await service.call("PATCH", `/pets/${pet.id}`, change)).status).toBe(200);
  });

  test.each(cases)("form a valid request to %s", async (_name, operation) => {
    const parameters: any[] = documented(operation).parameters.map(resolve);
    const of = (place: string) => parameters.filter((parameter) => parameter.in === place);
    const path = operation.path.replaceAll(/\{([^}]*)\}/g, (_, name) =>
      valueOf(of("path").find((parameter) => parameter.name === name)),
    );
    const inQuery = of("query").filter(hasValue);
    const query = new URLSearchParams(inQuery.map((one): [string, string] => [one.name, valueOf(one)]));
    const { status } = await service.call(operation.method, query.size > 0 ? `${path}?${query}` : path, {
      key,
      body: bodyOf(operation),
    });
    expect([operation.response.status, 404, 409, 410]).toContain(status); // what the examples name need not exist
  });
});

function hasValue({ example, examples, schema }: any): boolean {
  return (examples ?? example ?? schema.default) !== undefined;
}

/** The example or the default of a parameter as text. */
function valueOf({ example, examples, schema }: any): string {
  return String(examples ? Object.values<any>(examples)[0].value : (example ?? schema.default));
}

function inDocument(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document#/')) as object;
}

function addPet(name: string) {
  return service.call("POST", "/pets", { key, body: { name, categoryId: 1 } });
}

describe("schemas", () => {
  test("state the bounds of integers and lists", () => {
    const all = schemas();
    const wrong = all.filter(
      ([, { type, format, maxItems }]) =>
        (type === "integer" && !/^int(32|64)$/.test(format ?? "")) || (type === "array" && maxItems === undefined),
    );
    expect(wrong).toEqual([]);
    expect(all.length).toBeGreaterThan(100);
  });

  test("have a name where code generators create a type", () => {
    const unnamed = schemas().filter(
      ([path, { type, properties, enum: values }]) =>
        (type === "object" || properties || values?.length > 1) &&
        path.includes("/") &&
        !/\/(allOf|code$|Replayed$)/.test(path),
    );
    expect(unnamed).toEqual([]);
  });

  test("of one text say so by const and by enum: some generators know only one of them", () => {
    const one = schemas().filter(([, schema]) => schema.const !== undefined);
    expect(one.length).toBeGreaterThan(30);
    expect(one.filter(([, schema]) => !Bun.deepEquals(schema.enum, [schema.const]))).toEqual([]);
  });

  test("have the format of each address", () => {
    const addresses = schemas().filter(([path, { type }]) => /\/url$/i.test(path) && type === "string");
    expect(addresses.length).toBeGreaterThanOrEqual(3);
    expect(addresses.filter(([, { format }]) => format !== "uri")).toEqual([]);
  });

  test("have no pattern in responses", () => {
    const responses = operations.map((operation) => documented(operation).responses);
    const parts = [...partsOf(responses, "", new Set())];
    expect(parts.filter(([, { pattern }]) => pattern !== undefined)).toEqual([]);
    expect(parts.some(([path]) => path.startsWith("#/components/schemas/Pet/properties"))).toBe(true);
  });

  test("have patterns with the same meaning with and without the u flag, and in the service", () => {
    const patterns = new Set(
      schemas().flatMap(([, { pattern }]) => (pattern === undefined ? [] : [pattern as string])),
    );
    expect(patterns.size).toBeGreaterThan(3);
    const piece = oneof(
      constantFrom(
        "\0",
        "\u001F",
        "\u007F",
        "\n",
        "🐕",
        "👩‍🔬",
        "🇩🇪",
        "é",
        "שלום",
        "\u202E",
        "\uD83D",
        "\uDC15",
        "\uDC15\uD83D",
        '"',
        "\\",
      ),
      string({ unit: "binary", maxLength: 5 }),
      string({ maxLength: 5 }),
    );
    for (const pattern of patterns) {
      const [plain, unicode] = [new RegExp(pattern), new RegExp(pattern, "u")];
      const validator = compileValidator(Type.String({ pattern }));
      const judge = (value: string) => [plain.test(value), unicode.test(value), validator.Check(value)];
      assert(
        property(array(piece, { maxLength: 6 }), (pieces) => {
          const verdicts = judge(pieces.join(""));
          expect([pattern, pieces, new Set(verdicts).size]).toEqual([pattern, pieces, 1]);
        }),
        { numRuns: rounds(100, 2_000) },
      );
    }
  });

  // No portable pattern can say so.
  test("of text are the same in the service, which also refuses U+2028, U+2029 and unpaired surrogates", async () => {
    for (const good of ["Rex", "🐕", "a🐕b", "שלום", "👩‍🔬", "\u{10FFFF}"])
      expect([good, (await addPet(good)).status]).toEqual([good, 201]);
    expect((await addPet("a\0b")).status).toBe(400);
    const { json } = await addPet("🐕\uD83D");
    const message = "must hold no unpaired surrogate; character 2 is U+D83D";
    expect(json.details).toEqual([{ path: "/body/name", message }]);
  });

  test("of all texts that enter refuse what breaks lines and terminals", () => {
    const refused = [
      "\uD83D",
      "\uDC15",
      "🐕\uD83D",
      "\uDC15🐕",
      "\0",
      "\u001B[2J",
      "\x7F",
      "\x85",
      "\u2028",
      "a\u2029b",
    ];
    const texts = operations.flatMap(({ name, body, query, params }) =>
      [body?.schema, query, params?.schema].flatMap((schema) => textsIn(schema, name)),
    );
    expect(texts.length).toBeGreaterThan(20);
    const lax = texts.filter(([, schema]) => refused.some((one) => compileValidator(schema).Check(one)));
    expect(lax.map(([place]) => place)).toEqual(texts.flatMap(([place]) => (place.endsWith("/cursor") ? [place] : [])));
    const long = texts.filter(([, schema]) => compileValidator(schema).Check("a\tb\r\nc")).map(([place]) => place);
    expect(long.every((place) => /\/(?:metadata\/\*|description|cursor)$/.test(place))).toBe(true);
  });
});

/** The schemas of texts that clients choose within an input, each with its place. */
function textsIn(schema: any, place: string): [string, TSchema][] {
  if (!schema || schema.enum || schema.format === "date-time") return [];
  if ([schema.type].flat().includes("string")) return [[place, schema]];
  const { properties = {}, items, additionalProperties, propertyNames } = schema;
  return [
    ...Object.entries(properties).flatMap(([name, field]) => textsIn(field, `${place}/${name}`)),
    ...textsIn(items, `${place}/items`),
    ...textsIn(propertyNames, `${place}/keys`),
    ...(typeof additionalProperties === "object" ? textsIn(additionalProperties, `${place}/*`) : []),
  ];
}

describe("operations", () => {
  test.each(cases)("%s states its scope", (_name, operation) => {
    expect(documented(operation).security).toEqual([{ bearerAuth: operation.scopes }]);
  });

  test.each(cases)("%s declares If-None-Match if it can return 304", (_name, operation) => {
    const { parameters, responses } = documented(operation);
    const names = parameters.map((parameter: any) => resolve(parameter).name);
    expect([names.includes("If-None-Match"), "304" in responses]).toEqual([
      isCacheable(operation),
      isCacheable(operation),
    ]);
  });

  test.each(cases)("%s has no two parameters that a generator would give one name", (_name, operation) => {
    const names = documented(operation).parameters.map((parameter: any) =>
      resolve(parameter).name.toLowerCase().replaceAll(/[_-]/g, ""),
    );
    expect(names).toEqual([...new Set(names)]);
  });

  test("listPets describes its filter", () => {
    const status = document.paths["/pets"].get.parameters.find(({ name }: any) => name === "status");
    expect(status.description).toBe("Filters animals by availability status.");
    expect(document.components.schemas.PetStatus.description).toBe("Availability status of an animal.");
  });
});

/** The links of the response of success, by name. */
function linksOf(name: string): Record<string, any> {
  const operation = operations.find((one) => one.name === name) as Operation;
  return documented(operation).responses[operation.response.status].links ?? {};
}

describe("links", () => {
  test("lead to operations, and set each of their path parameters", () => {
    const all = operations.flatMap(({ name }) => Object.values(linksOf(name)).map(resolve));
    expect(all.length).toBeGreaterThan(20);
    for (const { operationId, parameters } of all) {
      const target = operations.find(({ name }) => name === operationId) as Operation;
      expect(Object.keys(parameters)).toEqual(pathParameters(target.path));
    }
  });

  test("name the possible next operations", () => {
    expect(Object.keys(linksOf("createPet"))).toEqual(
      expect.arrayContaining(["getPet", "updatePet", "deletePet", "getCategory"]),
    );
    expect(Object.keys(linksOf("placeStoreOrder"))).toEqual(
      expect.arrayContaining(["getStoreOrder", "confirmStoreOrder", "cancelStoreOrder", "getPet"]),
    );
    expect(Object.keys(linksOf("createKey"))).toEqual(["updateKey", "rotateKey", "revokeKey"]);
    expect(linksOf("listPets")).toEqual({});
  });

  test("can be followed", async () => {
    const body = { name: "Rex", categoryId: 1, status: "available" };
    const pet = (await service.call("POST", "/pets", { key, body })).json;
    const order = (await service.call("POST", "/store/orders", { key, body: { petId: pet.id } })).json;
    for (const name of ["confirmStoreOrder", "getPet", "getStoreOrder"]) {
      const { operationId, parameters } = resolve(linksOf("placeStoreOrder")[name]);
      const { method, path } = operations.find((one) => one.name === operationId) as Operation;
      const filled = path.replaceAll(/\{([^}]*)\}/g, (_, parameter) => order[parameters[parameter].split("#/")[1]]);
      expect((await service.call(method, filled, { key })).status).toBe(200);
    }
  });
});
