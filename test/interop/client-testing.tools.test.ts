// The tests in the README of the client, in projects that have installed it.
import { beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { clientPackage } from "../../src/app/web/client-package.ts";
import { hasInteropTools, interopFolder } from "../harness/interop-tools.ts";
import { newDataDir } from "../harness/program.ts";

const isInstalled = hasInteropTools();
const root = join(import.meta.dir, "../..");
const readme = readFileSync(join(root, "client/README.md"), "utf8");
const files = new Map([...readme.matchAll(/```ts (\S+)\n([^]*?)```/g)].map(([, name = "", code = ""]) => [name, code]));

/** Handlers of the pet store come first, and leave to others what is not the pet store's. */
const others = `
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { petstoreHandlers } from "petstore-client/testing/msw";
import { expect, test } from "vitest";

test("requests to other services go to their handlers", async () => {
  const charge = http.post("https://payments.test/v1/charges", () => HttpResponse.json({ id: "ch_1" }));
  const events = http.get("https://payments.test/v1/events", () => HttpResponse.json([]));
  const dogs = http.get("http://127.0.0.1:8080/v1/dogs", () => HttpResponse.json(["Rex"]));
  const handlers = petstoreHandlers({ baseUrl: "http://127.0.0.1:8080/v1/", responses: { listPets: [] } });
  const server = setupServer(...handlers, charge, events, dogs);
  server.listen({ onUnhandledRequest: "error" });
  const headers = { Authorization: "Bearer any" };
  const read = async (url: string, method = "GET") => (await fetch(url, { method, headers })).json();
  expect(await read("https://payments.test/v1/charges", "POST")).toEqual({ id: "ch_1" });
  expect(await read("https://payments.test/v1/events")).toEqual([]);
  expect(await read("http://127.0.0.1:8080/v1/dogs")).toEqual(["Rex"]);
  expect(await read("http://127.0.0.1:8080/v1/pets")).toEqual([]);
  await expect(read("http://petstore.test/v1/pets")).rejects.toThrow();
  server.close();
});
`;

let withTools: string;
let without: string;
beforeAll(async () => {
  const parent = newDataDir();
  if (isInstalled) symlinkSync(join(interopFolder, "node_modules"), join(parent, "node_modules"));
  withTools = await project(join(parent, "shop"), "fake.test.ts");
  await Bun.write(join(withTools, "others.test.ts"), others);
  without = await project(newDataDir(), "shop.test.ts");
});

/** Makes a project with one test, in which the client is installed. */
async function project(folder: string, file: string): Promise<string> {
  await Bun.write(join(folder, file), files.get(file) ?? "");
  await Bun.write(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  for (const [path, content] of await new Bun.Archive(await clientPackage()).files()) {
    await Bun.write(join(folder, "node_modules/petstore-client", path.replace(/^package\//, "")), content);
  }
  return folder;
}

/** Runs a command in a project. Returns its exit code and what it said. */
async function run(folder: string, command: readonly string[], environment: Record<string, string> = {}) {
  const env = { ...process.env, NO_COLOR: "1", ...environment };
  const child = Bun.spawn([...command], { cwd: folder, env, stdout: "pipe", stderr: "pipe" });
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, said: out + errors };
}

test.skipIf(!isInstalled)("the tests without the service pass in vitest, with msw", async () => {
  const vitest = join(interopFolder, "node_modules/vitest/vitest.mjs");
  const { code, said } = await run(withTools, ["node", vitest, "run", "--root", withTools]);
  expect([said, code]).toEqual([expect.stringMatching(/Tests +3 passed/), 0]);
});

test.skipIf(!isInstalled)("they compile with the strictest settings", async () => {
  const settings = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit"];
  const modules = [
    "--skipLibCheck",
    "--module",
    "nodenext",
    "--target",
    "esnext",
    "--lib",
    "esnext,dom",
    "--types",
    "",
  ];
  const compiler = join(root, "node_modules/.bin/tsc");
  expect((await run(withTools, [compiler, ...settings, ...modules, "fake.test.ts"])).said).toBe("");
});

test("the tests with the service pass in Bun, without msw", async () => {
  expect(() => Bun.resolveSync("msw", without)).toThrow();
  const programs = join(without, "programs");
  mkdirSync(programs);
  symlinkSync(join(root, "scripts/petstore.mjs"), join(programs, "petstore"));
  const environment = { PATH: `${programs}:${process.env["PATH"]}`, PETSTORE_KEY: "", PETSTORE_URL: "" };
  const { code, said } = await run(without, [process.execPath, "test", "--timeout=120000"], environment);
  expect([said, code]).toEqual([expect.stringContaining("1 pass"), 0]);
});
