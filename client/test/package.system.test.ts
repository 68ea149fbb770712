// The client as the service serves it: a package that another project can install, and a module for browsers.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestService } from "../../test/harness/service.ts";

const root = join(import.meta.dir, "../..");

let service: TestService;
let folder: string;
let address: (path: string) => string;
beforeAll(async () => {
  service = await TestService.start();
  folder = mkdtempSync(join(tmpdir(), "petstore-client-"));
  address = (path) => new URL(path, service.app.base).href;
  const project = { name: "other", type: "module", private: true };
  await Bun.write(join(folder, "package.json"), JSON.stringify(project));
  await run(["npm", "install", "--no-audit", "--no-fund", address("/client.tgz")]);
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command in the other project, without blocking the service. */
async function run(command: string[], cwd = folder, environment: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(command, { cwd, env: { ...process.env, ...environment }, stdout: "pipe", stderr: "pipe" });
  const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed:\n${out}${error}`);
  return out;
}

/** Compiles a file of the other project with the strictest settings. */
async function compile(file: string): Promise<void> {
  const settings = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit"];
  const modules = ["--module", "nodenext", "--target", "esnext", "--lib", "esnext,dom", "--types", ""];
  await run([join(root, "node_modules/.bin/tsc"), ...settings, ...modules, file]);
}

/** The files of a package, by path. */
async function filesOf(bytes: Blob): Promise<Record<string, string>> {
  const files = await new Bun.Archive(await bytes.bytes()).files();
  return Object.fromEntries(await Promise.all([...files].map(async ([path, file]) => [path, await file.text()])));
}

/** The TypeScript snippets of the README, in order. */
async function snippets(): Promise<string> {
  const text = await Bun.file(join(root, "client/README.md")).text();
  return [...text.matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code).join("\n");
}

test("Node runs the snippets of the README with the installed package", async () => {
  await Bun.write(join(folder, "readme.ts"), await snippets());
  await Bun.write(join(folder, "readme.js"), new Bun.Transpiler({ loader: "ts" }).transformSync(await snippets()));
  // With white space around them, as when pasted.
  const environment = { PETSTORE_KEY: ` ${await service.newKey()}\n`, PETSTORE_URL: `\t${service.app.base} ` };
  const said = await run(["node", "readme.js"], folder, environment);
  expect(said.trim().split("\n")).toEqual([
    "1n Rex",
    expect.stringContaining("It has changed:"),
    expect.stringMatching(/^\d+n pet\.created /),
    expect.stringMatching(/^\d+n pet\.updated /),
    "Rex was available",
  ]);
});

// test/interop/client-testing.tools.test.ts runs the tests of that chapter.
test("its testing chapter tests a receiver, and a service that does not start says why", async () => {
  const program = `${await snippets()}
await testReceiver();
import { startPetstore } from "petstore-client/testing";
const refused = await startPetstore({ command: ["node", "--no-such-option"] }).catch(String);
console.log(refused.includes("no-such-option"));`;
  await Bun.write(join(folder, "testing.js"), new Bun.Transpiler({ loader: "ts" }).transformSync(program));
  const environment = { PETSTORE_KEY: await service.newKey(), PETSTORE_URL: service.app.base };
  const said = await run(["node", "testing.js"], folder, environment);
  expect(said.trim().split("\n").slice(-2)).toEqual(["204", "true"]);
});

test("its types compile with the strictest settings", async () => {
  await Bun.write(join(folder, "readme.ts"), await snippets());
  await compile("readme.ts");
});

test("the snippets of the reference page compile", async () => {
  const document = (await (await fetch(address("/openapi.json"))).json()) as {
    paths: Record<string, Record<string, { "x-codeSamples": [{ source: string }] }>>;
  };
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const calls = operations.map((operation) => operation["x-codeSamples"][0].source);
  const head = 'import { Petstore } from "petstore-client";\nconst petstore = new Petstore();\n';
  await Bun.write(join(folder, "snippets.ts"), head + calls.join("\n"));
  await compile("snippets.ts");
  expect(calls).toContain('console.log(await petstore.updatePet(7n, { status: "pending" }));');
});

test("CommonJS programs can require it, and their types compile", async () => {
  const program = `
    const { Petstore } = require("petstore-client");
    new Petstore().getCurrentKey().then(({ mode }) => console.log("The key's mode is", mode));`;
  await Bun.write(join(folder, "required.cjs"), program);
  const environment = { PETSTORE_KEY: await service.newKey(), PETSTORE_URL: service.app.base };
  expect(await run(["node", "required.cjs"], folder, environment)).toBe("The key's mode is test\n");
  const typed =
    'import client = require("petstore-client");\nexport const url: string = new client.Petstore() && "";\n';
  await Bun.write(join(folder, "required.cts"), typed);
  await compile("required.cts");
});

test("source maps lead from each module to the client's sources", async () => {
  const program = `
    import { Petstore } from "petstore-client";
    import { fakeFetch } from "petstore-client/testing";
    try { new Petstore({ key: " " }); } catch ({ stack }) { console.log(stack); }
    await fakeFetch({ listPets: "none" })("http://petstore.test/v1/pets", { headers: { authorization: "a" } })
      .catch(({ stack }) => console.log(stack));`;
  await Bun.write(join(folder, "mapped.js"), program);
  const said = await run(["node", "--enable-source-maps", "mapped.js"]);
  expect(said).toMatch(/src\/options\.ts:\d+/);
  expect(said).toMatch(/src\/fake-fetch\.ts:\d+/);
});

test("`npm pack` creates the same package", async () => {
  const packed = join(folder, "packed");
  mkdirSync(packed);
  await run(["npm", "pack", "--pack-destination", packed], join(root, "client"));
  const served = await filesOf(await (await fetch(address("/client.tgz"))).blob());
  expect(served).toEqual(await filesOf(Bun.file(join(packed, "petstore-client-1.0.0.tgz"))));
  expect(Object.keys(served)).toContain("package/LICENSE");
});

test("it has the same bytes wherever the service was started", async () => {
  const module = JSON.stringify(join(root, "src/app/web/client-package.ts"));
  const program = `process.stdout.write((await (await import(${module})).clientPackage()).toHex());`;
  const own = (await (await fetch(address("/client.tgz"))).bytes()).toHex();
  for (const place of ["/", folder]) expect((await run([process.execPath, "-e", program], place)) === own).toBe(true);
});

test("the module for browsers can be imported", async () => {
  const response = await fetch(address("/client.js"));
  expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  await Bun.write(join(folder, "client.js"), await response.text());
  const { Petstore } = (await import(join(folder, "client.js"))) as typeof import("../src/index.ts");
  const petstore = new Petstore({ key: await service.newKey(), baseUrl: service.app.base });
  expect((await petstore.getCurrentKey()).scopes).toEqual(["read", "write"]);
});
