// What is generated from the contract is as `npm run derive` makes it.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { generatedModules } from "../../scripts/derive/generated-files.ts";

const root = join(import.meta.dir, "../..");
const versionIn = (path: string) => (JSON.parse(read(path)) as { version: string }).version;
const read = (path: string) => readFileSync(join(root, path), "utf8");

test("the client's modules match the contract", () => {
  for (const [path, text] of Object.entries(generatedModules())) expect([path, read(path)]).toEqual([path, text]);
});

test("the client has the version of the service", () => {
  expect(versionIn("client/package.json")).toBe(versionIn("package.json"));
});
