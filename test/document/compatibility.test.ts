// What clients rely on is written down in promises.txt: no change breaks it unnoticed.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { domains } from "../../src/app/domains.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { deriveOpenApi } from "../../src/derive/openapi.ts";
import { broken, promisesOf } from "./promises.ts";

/* oxlint-disable typescript/no-explicit-any -- the tests change parts of the document */
const operations: readonly Operation[] = domains.flatMap((domain) => domain.operations);
const written = readFileSync(join(import.meta.dir, "promises.txt"), "utf8")
  .trim()
  .split("\n");

function document(): any {
  const servers = [{ url: "https://petstore.test/v1", description: "production" }] as const;
  return structuredClone(deriveOpenApi(operations, { servers, docs: "https://petstore.test/docs" }));
}

test("the document breaks nothing that clients rely on (if it must: npm run derive -- --break)", () => {
  expect(broken(written, promisesOf(document()))).toEqual([]);
});

test("all that it promises is written down (npm run derive)", () => {
  expect(written).toEqual(promisesOf(document()));
});

describe("a breaking change is found:", () => {
  const before = promisesOf(document());
  test.each<[string, (changed: any) => void, string[]]>([
    [
      "an operation is removed",
      ({ paths }) => delete paths["/categories"].post,
      ["gone: takes createCategory as POST /categories"],
    ],
    [
      "a parameter is removed",
      ({ paths }) => paths["/pets"].get.parameters.shift(),
      ["gone: takes listPets limit is integer int32"],
    ],
    [
      "a field of a response is removed",
      ({ components: { schemas } }) => delete schemas.Pet.properties.name,
      ["gone: gives Pet.name is string"],
    ],
    [
      "a field of a response may be absent",
      ({ components: { schemas } }) => schemas.Pet.required.pop(),
      ["gone: gives Pet.categoryId always"],
    ],
    [
      "a value is removed",
      ({ components: { schemas } }) => schemas.PetStatus.enum.pop(),
      ['gone: gives PetStatus "sold"', 'gone: takes PetStatus "sold"'],
    ],
    ["a status is removed", ({ paths }) => delete paths["/pets"].post.responses[201], ["gone: gives createPet 201"]],
    [
      "a type changes",
      ({ components: { schemas } }) => (schemas.Pet.properties.id = { type: "string" }),
      ["gone: gives Pet.id is integer int64"],
    ],
    [
      "a field becomes required",
      ({ components: { schemas } }) => schemas.NewPet.required.push("status"),
      ["new: needs NewPet.status: required"],
    ],
    [
      "a text must be shorter",
      ({ components: { schemas } }) => (schemas.NewPet.properties.name.maxLength = 20),
      ["new: needs NewPet.name: maxLength 20"],
    ],
    [
      "a component is renamed",
      ({ components: { headers } }) => delete headers.Location,
      ["gone: has headers/Location"],
    ],
  ])("%s", (_what, change, expected) => {
    const changed = document();
    change(changed);
    expect(broken(before, promisesOf(changed))).toEqual(expect.arrayContaining(expected));
  });

  test("and what clients do not notice is none", () => {
    const changed = document();
    const { schemas } = changed.components;
    schemas.Pet.properties.colour = { type: "string" };
    schemas.NewPet.properties.colour = { type: "string", maxLength: 20 };
    schemas.NewPet.properties.name.maxLength = 500;
    changed.paths["/toys"] = { get: { ...changed.paths["/categories"].get, operationId: "listToys" } };
    changed.paths["/pets"].post.responses[409] = { $ref: "#/components/responses/UpdatePetConflict" };
    delete changed.paths["/webhook-endpoints"].get; // beta
    expect(broken(before, promisesOf(changed))).toEqual([]);
  });
});
