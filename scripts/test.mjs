// Runs all tests, or those that the arguments name, and ends with the line
// `N passed, N failed` (`, N skipped` where something that a test needs is not on this machine).
// The last test is a search for keys in everything that the services under test have said.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureBun } from "./ensure-bun.mjs";

ensureBun();
const root = fileURLToPath(new URL("..", import.meta.url));
const bun = join(root, "node_modules/.bin/bun");
const folder = mkdtempSync(join(tmpdir(), "petstore-junit-"));
const report = join(folder, "junit.xml");
const evidence = join(folder, "evidence");
mkdirSync(evidence);

/** A figure of the report's first element. */
function count(xml, name) {
  return Number(new RegExp(`<testsuites[^>]*\\b${name}="([0-9]+)"`).exec(xml)?.[1] ?? 0);
}

try {
  const { status } = spawnSync(
    bun,
    [
      "test",
      "--timeout=60000",
      "--preload=./test/leaks/record.ts",
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      ...process.argv.slice(2),
    ],
    { cwd: root, stdio: "inherit", env: { ...process.env, TEST_EVIDENCE: evidence } },
  );
  const search = spawnSync(bun, ["scripts/search-evidence.ts", evidence], { cwd: root, stdio: "inherit" });
  const xml = existsSync(report) ? readFileSync(report, "utf8") : "";
  const [tests, skipped] = [count(xml, "tests") + 1, count(xml, "skipped")];
  // A run that broke down outside a test, or without a report, has failed too.
  const brokeDown = status !== 0 || tests === 1;
  const failed = (count(xml, "failures") || (brokeDown ? 1 : 0)) + (search.status === 0 ? 0 : 1);
  if (skipped > 0 && spawnSync("strace", ["-o", "/dev/null", "true"]).status !== 0) {
    console.log(
      "Tests of system calls were skipped: they need strace that may trace (Debian: apt-get install strace).",
    );
  }
  if (skipped > 0 && !existsSync("/usr/bin/chromium")) {
    console.log("Tests of pages were skipped: they need Chromium (Debian: apt-get install chromium).");
  }
  console.log(
    `${Math.max(0, tests - failed - skipped)} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`,
  );
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
