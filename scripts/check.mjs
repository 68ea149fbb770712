// All checks that need no tests: types, lint, format, dead exports, sizes, and the OpenAPI document. All of them run,
// so that one run reports everything that is wrong. As many run at once as there are processors.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureBun } from "./ensure-bun.mjs";

ensureBun();
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "petstore-check-"));
const bin = (name) => join(root, "node_modules/.bin", name);

// The document as staging and production publish it, because lint rejects a local address.
const document = join(folder, "openapi.yaml");
const settings = {
  PETSTORE_ENV: "production",
  PETSTORE_BASE_URL: "https://petstore.invalid/v1",
  PETSTORE_STAGING_BASE_URL: "https://staging.petstore.invalid/v1",
};

const checks = [
  ["types", [bin("tsc")]],
  ["types of the console", [bin("tsc"), "-p", "console"]],
  ["lint", [bin("oxlint"), "--deny-warnings"]],
  ["format", [bin("biome"), "ci", "--colors=off", "--error-on-warnings", "."]],
  ["size of the client", [bin("bun"), "scripts/client-size.ts"]],
  ["size of the console", [bin("bun"), "scripts/console-size.ts"]],
  ["dead exports", [bin("knip")]],
  ["document", [bin("redocly"), "lint", "--extends", "recommended-strict", document]],
];

/** The most that a command may print, in bytes. */
const MAX_OUTPUT = 64 * 1024 * 1024;

/** Runs a command and shows what it says only if it fails. */
async function run(name, [command, ...args], env = {}) {
  const options = {
    cwd: root,
    maxBuffer: MAX_OUTPUT,
    env: { ...process.env, NO_COLOR: "1", REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", ...env },
  };
  const { error, stdout, stderr } = await new Promise((resolve) => {
    execFile(command, args, options, (failure, out, errors) => {
      resolve({ error: failure, stdout: out, stderr: errors });
    });
  });
  const output = [typeof error?.code !== "number" && error?.message, stdout, stderr].filter(Boolean).join("\n");
  const failed = error !== null || /You have [0-9]+ warning/.test(output);
  console.log(`${failed ? "FAILED" : "ok    "}  ${name}`);
  if (failed) console.log(output);
  return { failed, stdout };
}

try {
  const derived = await run("derive the document", [bin("bun"), "src/main.ts", "openapi"], settings);
  writeFileSync(document, derived.stdout);
  const results = [derived];
  const waiting = [...checks];
  const runWaiting = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results.push(await run(...next));
  };
  await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
  process.exitCode = results.some(({ failed }) => failed) ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
