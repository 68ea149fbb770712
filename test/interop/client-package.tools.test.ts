// What tools that check packages say of the client's.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clientPackage } from "../../src/app/web/client-package.ts";
import { hasInteropTools, interopFolder } from "../harness/interop-tools.ts";

const isInstalled = hasInteropTools();

let folder: string;
let file: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "petstore-package-"));
  file = join(folder, "client.tgz");
  await Bun.write(file, await clientPackage());
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a tool with the package. Without its own `arguments`, it fails for anything that it finds. */
function check(tool: string, ...options: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([
    join(interopFolder, "node_modules/.bin", tool),
    ...options,
    file,
  ]);
  return { exitCode, said: `${stdout}${stderr}` };
}

test.skipIf(!isInstalled)("publint finds nothing in it", () => {
  const { exitCode, said } = check("publint", "run", "--strict");
  expect([exitCode, said]).toEqual([0, expect.stringContaining("All good!")]);
});

// The rule is about Node before 20.19, where `require` loads no ES modules; client/README.md says so. The profile leaves
// out the resolution of Node 10, which knows no `exports`, and so not `petstore-client/testing`.
test.skipIf(!isInstalled)("its types resolve for every kind of importer", () => {
  const { exitCode, said } = check("attw", "--no-emoji", "--profile=node16", "--ignore-rules=cjs-resolves-to-esm");
  expect([exitCode, said]).toEqual([0, expect.stringContaining("petstore-client")]);
  expect(check("attw", "--no-emoji", "--profile=node16").exitCode).toBe(1); // the rule is the only one that finds something
});
