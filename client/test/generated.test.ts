// What is generated from the contract is as `npm run derive` makes it.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { generatedModules, typeDeclarations } from "../../scripts/derive/generated-files.ts";

const root = join(import.meta.dir, "../..");
const versionIn = (path: string) => (JSON.parse(read(path)) as { version: string }).version;
const read = (path: string) => readFileSync(join(root, path), "utf8");

test("the client's modules match the contract", () => {
  for (const [path, text] of Object.entries(generatedModules())) expect([path, read(path)]).toEqual([path, text]);
});

test("the client's type declarations match its modules", () => {
  const declarations = typeDeclarations();
  for (const [path, text] of Object.entries(declarations)) expect([path, read(path)]).toEqual([path, text]);
  const files = readdirSync(join(root, "client/types")).map((name) => `client/types/${name}`);
  expect(files.toSorted()).toEqual(Object.keys(declarations).toSorted());
});

test("the client has the version of the service", () => {
  expect(versionIn("client/package.json")).toBe(versionIn("package.json"));
});
