import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "typebox";
import { parse } from "yaml";
import { derivedParts, replacePart } from "../../scripts/derive/docs.ts";
import { domains } from "../../src/app/domains.ts";
import { settings as ownSettings } from "../../src/config/service-settings.ts";
import { defineOperation, type Operation } from "../../src/contract/operation.ts";
import { errorCatalogue, errorsOf } from "../../src/contract/operation-properties.ts";
import { deriveOpenApi } from "../../src/derive/openapi.ts";
import { settingsOf } from "../../src/domains/domain.ts";
import { logEvents } from "../../src/telemetry/log-events.ts";
import { TestService } from "../harness/service.ts";

const settings = { ...ownSettings, ...settingsOf(domains) };

const operations: readonly Operation[] = domains.flatMap((domain) => domain.operations);
const catalogue = errorCatalogue(operations);
const root = join(import.meta.dir, "../..");

let service: TestService;
/* oxlint-disable typescript/no-explicit-any -- the tests say what they expect of the document */
let document: any;

beforeAll(async () => {
  service = await TestService.start();
  document = await (await fetch(new URL("/openapi.json", service.app.base))).json();
});
afterAll(() => service.stop());

/** What a part of the document is or refers to. */
function resolve(part: any): any {
  const path: string[] | undefined = part.$ref?.slice(2).split("/");
  return path ? path.reduce((node, token) => node[token], document) : part;
}

describe("the document", () => {
  test("is the same in JSON and in YAML", async () => {
    const yaml = await fetch(new URL("/openapi.yaml", service.app.base));
    expect(yaml.headers.get("content-type")).toBe("application/yaml");
    expect(parse(await yaml.text())).toEqual(document);
  });

  test("has the version, the server and the security scheme", () => {
    expect(document.openapi).toStartWith("3.1.");
    expect(document.info.version).toBe("1.0.0");
    expect(document.servers).toEqual([{ url: service.app.base, description: "development", "x-internal": true }]);
    expect(document.components.securitySchemes.bearerAuth).toMatchObject({ type: "http", scheme: "bearer" });
  });

  test("has the three basic operations under the tag animals", () => {
    expect(document.paths["/pets"].get).toMatchObject({ operationId: "listPets", tags: ["animals"] });
    expect(document.paths["/pets"].post).toMatchObject({ operationId: "createPet", tags: ["animals"] });
    expect(document.paths["/pets/{petId}"].get).toMatchObject({
      operationId: "getPet",
      tags: ["animals"],
      deprecated: true,
      "x-deprecated-sunset": "2030-12-05",
    });
  });

  test("states the limits", () => {
    const [limit, , status] = document.paths["/pets"].get.parameters;
    expect(limit).toMatchObject({
      name: "limit",
      in: "query",
      schema: { type: "integer", minimum: 1, maximum: 100, default: 20 },
    });
    expect(status).toMatchObject({
      name: "status",
      schema: { $ref: "#/components/schemas/PetStatus" },
    });
    expect(document.components.schemas.PetStatus.enum).toEqual(["available", "pending", "sold"]);
    expect(document.components.schemas.NewPet.required).toEqual(["name", "categoryId"]);
    expect(document.components.schemas.Pet.required).toEqual(["id", "name", "categoryId"]);
    expect(document.components.schemas.Pet.properties.id).toMatchObject({ type: "integer", format: "int64" });
    expect(document.components.schemas.Error.required).toEqual(["code", "message", "status"]);
  });

  test("describes every component, and states the type of every enum", () => {
    for (const [name, { description }] of Object.entries<any>(document.components.schemas)) {
      expect([name, description]).toEqual([name, expect.stringMatching(/\.$/)]);
    }
    const lists: unknown[] = [];
    JSON.stringify(document, (_, value) => {
      if (value?.enum) lists.push([value.enum, value.type]);
      return value;
    });
    const typed = (lists as [unknown[]][]).map(([values]) => [
      values,
      values.includes(null) ? ["string", "null"] : "string",
    ]);
    expect(lists).toEqual(typed);
  });

  test("declares the rate limit headers as required on every response of every operation", () => {
    for (const item of Object.values<Record<string, any>>(document.paths)) {
      for (const { responses } of Object.values(item)) {
        for (const response of Object.values<any>(responses)) {
          for (const name of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]) {
            expect(resolve(resolve(response).headers[name]).required).toBe(true);
          }
        }
      }
    }
  });

  test("marks the stability of operations, and a test panel that is turned off", () => {
    const marked = (["stable", "beta", "experimental"] as const).map((stability) =>
      defineOperation({
        name: stability,
        method: "GET",
        path: `/${stability}`,
        tag: { name: "test", description: "Test.", stability: "stable" },
        summary: "Test",
        description: "Test.",
        stability,
        testPanel: stability === "stable" || { disabled: `it is ${stability}` },
        response: { status: 200, description: "Test.", schema: Type.String(), examples: { one: "x" } },
      }),
    );
    const { paths } = deriveOpenApi(marked, {
      servers: [{ url: "https://petstore.test/v1", description: "production" }],
      docs: "https://petstore.test/docs",
    }) as { paths: Record<string, any> };
    const shown = marked.map(({ path }) => [paths[path].get["x-stability"], paths[path].get["x-hideTryItPanel"]]);
    expect(shown).toEqual([
      [undefined, undefined],
      ["beta", true],
      ["experimental", true],
    ]);
    const reasons = marked.map(({ path }) => /No test panel: .*/.exec(paths[path].get.description)?.[0]);
    expect(reasons).toEqual([undefined, "No test panel: it is beta.", "No test panel: it is experimental."]);
  });
});

function byCode(one: { code: string }, other: { code: string }): number {
  return one.code.localeCompare(other.code);
}

describe("errors", () => {
  test("are the same in the document and the catalogue: code, status and meaning", () => {
    const expected = catalogue.map(({ code, status, meaning }) => ({ code, status, meaning })).toSorted(byCode);
    const table: string = document.info.description;
    const rows = [...table.matchAll(/^\| `([a-z_]+)` \| ([0-9]+) \| (.*) \|$/gm)];
    const inDocument = rows.map(([, code = "", status, meaning = ""]) => ({ code, status: Number(status), meaning }));
    expect(inDocument.toSorted(byCode)).toEqual(expected);
  });

  test("are declared by each operation that can return them", () => {
    for (const operation of operations) {
      const { responses } = document.paths[operation.path][operation.method.toLowerCase()];
      const declared = Object.entries<any>(responses).flatMap(([status, response]) =>
        Number(status) < 400
          ? []
          : Object.values<any>(resolve(response).content["application/json"].examples)
              .map((example) => resolve(example).value)
              .map((error) => [error.code, error.status]),
      );
      const owed = errorsOf(operation).map(({ code, status }) => [code, status]);
      expect(new Set(declared.map(String))).toEqual(new Set(owed.map(String)));
    }
  });
});

describe("derived documentation", () => {
  test.each(Object.entries(derivedParts(settings, logEvents)))("%s is up to date", (file, parts) => {
    const text = readFileSync(join(root, file), "utf8");
    for (const [name, content] of Object.entries(parts)) expect(replacePart(text, name, content)).toBe(text);
  });
});
