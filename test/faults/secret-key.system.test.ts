// The key in the folder of the store, where the process that makes it is killed at each of its steps.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSecretKeys } from "../../src/domains/webhooks/secrets/secret-keys.ts";
import { canInject } from "./faulty-disk.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-secret-"));
afterAll(() => rmSync(folder, { recursive: true }));

const file = join(import.meta.dir, "../../src/domains/webhooks/secrets/secret-keys.ts");
const script = `(await import(${JSON.stringify(file)})).openSecretKeys(undefined, process.argv[1])`;

/** The step at which it is killed, and whether the key has its name by then. */
test.skipIf(!canInject).each([
  ["fsync", 1, false],
  ["link,linkat", 1, false],
  ["fsync", 2, true],
  ["unlink,unlinkat", 1, true],
] as const)("the key is whole or absent after a kill at %s number %i", async (calls, when, isNamed) => {
  const store = mkdtempSync(join(folder, "store-"));
  const inject = ["-f", "-o", "/dev/null", "-e", `trace=${calls}`, "-e", `inject=${calls}:signal=KILL:when=${when}`];
  const child = Bun.spawn(["strace", ...inject, process.execPath, "-e", script, store], { stderr: "ignore" });
  await child.exited;
  expect(child.signalCode).toBe("SIGKILL");
  const key = join(store, "secret.key");
  expect(readdirSync(store)).not.toBeEmpty(); // it was killed while it made the key
  expect(existsSync(key)).toBe(isNamed);
  const before = isNamed ? readFileSync(key, "utf8") : undefined;
  const id = openSecretKeys(undefined, store)?.current.id;
  expect(id).toBe(openSecretKeys(undefined, store)?.current.id as string);
  if (before !== undefined) expect(readFileSync(key, "utf8")).toBe(before);
});
