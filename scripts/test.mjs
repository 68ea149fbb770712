// Runs all tests, or those that the arguments name, and ends with the line
// `N passed, N failed` (`, N skipped` where something that a test needs is not on this machine).
// All tests that have to pass on either engine run once more on PostgreSQL. Behind each run, all that the
// services under test have said is searched for keys.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureBun } from "./ensure-bun.mjs";

ensureBun();
const root = fileURLToPath(new URL("..", import.meta.url));
const bun = join(root, "node_modules/.bin/bun");
/** All that a run leaves behind, so that it can be removed: reports, and the stores of services that were killed. */
const folder = mkdtempSync(join(tmpdir(), "petstore-tests-"));
chmodSync(folder, 0o711); // PostgreSQL, which does not run as root, has its place in it too
/** What is the same for a client, whatever the engine. */
const onEitherEngine =
  /^(src\/(domains|retries)\/|src\/limits\/limits\.store\.|test\/(every-operation|paging|protocol|telemetry)\.test\.ts$)/;

/** The longest that a test may take, in milliseconds: a bound for one that hangs. The runner kills what it started. */
const LONGEST = process.env["TORTURE"] === "long" ? 1_800_000 : 240_000;

/** Where a program is on this machine. */
function program(name) {
  const files = (process.env["PATH"] ?? "").split(delimiter).map((place) => join(place, name));
  return files.filter((file) => existsSync(file));
}

/** A figure of an element's attributes. */
function figure(attributes, name) {
  return Number(new RegExp(`\\b${name}="([0-9]+)"`).exec(attributes)?.[1] ?? 0);
}

/** The test files of a report, with how many tests each has. */
function filesOf(xml) {
  const files = [...xml.matchAll(/<testsuite ([^>]*)>/g)].flatMap(([, attributes]) => {
    const [, file] = /\bfile="([^"]*)"/.exec(attributes) ?? [];
    return file !== undefined && attributes.startsWith(`name="${file}"`)
      ? [{ file, tests: figure(attributes, "tests") }]
      : [];
  });
  return files;
}

/** The text that an attribute or an element stands for. */
function unescaped(text) {
  const signs = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&", "#10": "\n" };
  return text.replaceAll(/&([a-z]+|#10);/g, (all, name) => signs[name] ?? all);
}

/** The failures of a report, as text. */
function failuresOf(xml) {
  return [...xml.matchAll(/<testcase ([^>]*)>\s*<failure ([^>]*)>/g)].map(([, attributes, failure]) => {
    const [name, group, file] = ["name", "classname", "file"].map((key) =>
      unescaped(new RegExp(`\\b${key}="([^"]*)"`).exec(attributes)?.[1] ?? ""),
    );
    const message = unescaped(/\bmessage="([^"]*)"/.exec(failure)?.[1] ?? "").trim();
    return `Failed: ${file}: ${group} > ${name}\n${message.replaceAll(/^/gm, "    ")}`;
  });
}

/** Runs tests and the search behind them. */
function run(name, words, environment) {
  const report = join(folder, `${name}.xml`);
  const evidence = join(folder, name);
  mkdirSync(evidence);
  const temporary = mkdtempSync(join(folder, "tmp-"));
  chmodSync(temporary, 0o711);
  const { status } = spawnSync(
    bun,
    [
      "test",
      `--timeout=${LONGEST}`,
      "--preload=./test/leaks/record.ts",
      "--preload=./test/harness/property-seed.ts",
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      ...words,
    ],
    {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, ...environment, TEST_EVIDENCE: evidence, TMPDIR: temporary },
    },
  );
  const search = spawnSync(bun, ["scripts/search-evidence.ts", evidence], { cwd: root, stdio: "inherit" });
  const xml = existsSync(report) ? readFileSync(report, "utf8") : "";
  const [, attributes = ""] = /<testsuites ([^>]*)>/.exec(xml) ?? [];
  const tests = figure(attributes, "tests") + 1;
  // A run that broke down outside a test, or without a report, has failed too.
  const brokeDown = status !== 0 || tests === 1;
  const failed = (figure(attributes, "failures") || (brokeDown ? 1 : 0)) + (search.status === 0 ? 0 : 1);
  return { tests, failed, skipped: figure(attributes, "skipped"), files: filesOf(xml), failures: failuresOf(xml) };
}

/** Why PostgreSQL does not run on this machine; an empty text if it does. */
function postgresMissing() {
  const ask = 'console.log((await import("./test/harness/postgres-server.ts")).postgresMissing ?? "")';
  return spawnSync(bun, ["-e", ask], { cwd: root }).stdout.toString().trim();
}

try {
  const words = process.argv.slice(2);
  const runs = [run("tests", words, {})];
  if (!process.env.TEST_ENGINE) {
    const again = runs[0].files.filter(({ file }) => onEitherEngine.test(file));
    const missing = postgresMissing();
    if (missing !== "") {
      const count = again.reduce((sum, { tests }) => sum + tests, 0);
      runs.push({ tests: count, failed: 0, skipped: count, failures: [] });
      console.log(`Tests of PostgreSQL were skipped: ${missing}.`);
    } else if (again.length > 0) {
      console.log("\nOnce more, on PostgreSQL:");
      runs.push(
        run(
          "postgres",
          again.map(({ file }) => file),
          { TEST_ENGINE: "postgres" },
        ),
      );
    }
  }
  const [tests, failed, skipped] = ["tests", "failed", "skipped"].map((name) =>
    runs.reduce((sum, one) => sum + one[name], 0),
  );
  if (skipped > 0 && spawnSync("strace", ["-o", "/dev/null", "true"]).status !== 0) {
    console.log(
      "Tests of system calls were skipped: they need strace that may trace (Debian: apt-get install strace).",
    );
  }
  if (skipped > 0 && spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).status !== 0) {
    console.log("The test of a full disk was skipped: it needs to mount one of its own (unshare -rm, as root or not).");
  }
  if (skipped > 0 && !existsSync("/usr/bin/chromium")) {
    console.log("Tests of pages were skipped: they need Chromium (Debian: apt-get install chromium).");
  }
  if (skipped > 0 && [...program("valkey-server"), ...program("redis-server")].length === 0) {
    console.log(
      "Tests of shared limits were skipped: they need Valkey or Redis (Debian: apt-get install redis-server).",
    );
  }
  if (skipped > 0 && program("openssl").length === 0) {
    console.log("Tests of Valkey over TLS were skipped: they need openssl (Debian: apt-get install openssl).");
  }
  if (skipped > 0 && ![...program("nginx"), "/usr/sbin/nginx"].some((file) => existsSync(file))) {
    console.log("Tests behind the proxy were skipped: they need nginx (Debian: apt-get install nginx-light).");
  }
  if (skipped > 0 && process.env["TORTURE"] === "long") {
    console.log("The audit of the packages was skipped if the registry that npm is set to answers none.");
  }
  // Each stands far above as well, among thousands that passed.
  for (const failure of runs.flatMap(({ failures }) => failures)) {
    console.log(failure);
  }
  console.log(
    `${Math.max(0, tests - failed - skipped)} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`,
  );
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
