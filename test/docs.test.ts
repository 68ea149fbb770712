// Whatever the documentation tells a reader to type is typed here, in a fresh copy of the project.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { eventually, newDataDir } from "./harness/program.ts";

const root = join(import.meta.dir, "..");
const documents = ["README.md", "CONTRIBUTING.md", "docs/operating.md", "docs/errors.md", "docs/decisions.md"];

/** The lines of all shell blocks of a document; a line that ends with a backslash goes on in the next. */
function commandsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/```sh\n([^]*?)```/g)].flatMap(([, block = ""]) =>
    block
      .replaceAll("\\\n", "")
      .split("\n")
      .map((line) => line.replace(/ +#.*/, "").trim())
      .filter(Boolean),
  );
}

/** The JSON that a document shows behind a command. */
function shownAfter(file: string, command: RegExp): unknown {
  const text = readFileSync(join(root, file), "utf8");
  const start = text.search(command);
  return JSON.parse(/```json\n([^]*?)```/.exec(text.slice(start))?.[1] ?? "");
}

describe("links and paths", () => {
  test.each(documents)("of %s lead to something", (file) => {
    const text = readFileSync(join(root, file), "utf8");
    const links = [...text.matchAll(/\]\((?!http)([^)#]+)/g)].map(([, target = ""]) => join(dirname(file), target));
    const paths = [...text.matchAll(/`((?:src|docs|test|bench|scripts)\/[\w./-]+)`/g)].map(([, path = ""]) => path);
    expect([...links, ...paths].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe("commands", () => {
  const copy = join(newDataDir(), "petstore");
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PETSTORE_")));
  let started: Bun.Subprocess<"ignore", "pipe", "inherit">;
  let key = "";
  let port = "";

  /** Runs a line as a reader would, in the copy; port 8080 may be taken here, so another one stands in. */
  const shell = async (line: string, more: Record<string, string> = {}) => {
    const child = Bun.spawn(["sh", "-c", line.replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`)], {
      cwd: copy,
      env: { ...environment, KEY: key, ...more },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { status: await child.exited, stdout, stderr };
  };

  beforeAll(async () => {
    mkdirSync(copy);
    const files = Bun.spawnSync(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
    for (const file of files.stdout
      .toString()
      .split("\0")
      .filter((name) => name && existsSync(join(root, name)))) {
      await Bun.write(join(copy, file), Bun.file(join(root, file)));
    }
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules")); // stands in for `npm ci`
    const [run] = commandsOf("README.md");
    expect(run).toBe("npm ci && npm start");
    started = Bun.spawn(["sh", "-c", "exec npm start"], {
      cwd: copy,
      env: { ...environment, PETSTORE_PORT: "0" },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    let output = "";
    const decoder = new TextDecoder();
    for await (const bytes of started.stdout) {
      output += decoder.decode(bytes, { stream: true });
      if (output.includes('"event":"listening"')) break;
    }
    key = /psk_test_\w+/.exec(output)?.[0] ?? "";
    port = /127\.0\.0\.1:([0-9]+)\/v1/.exec(output)?.[1] ?? "";
  });
  afterAll(() => started.kill());

  test("of the README are all known to this test", () => {
    expect(commandsOf("README.md").map((line) => line.split(" ").slice(0, 4).join(" "))).toEqual([
      "npm ci && npm",
      "npm ci && npm",
      'curl -H "Authorization: Bearer',
      'curl -H "Authorization: Bearer',
      "npm run --silent petstore",
    ]);
  });

  test("the README's first calls answer as it shows", async () => {
    const [list = "", create = ""] = commandsOf("README.md").filter((line) => line.startsWith("curl"));
    expect(JSON.parse((await shell(list)).stdout)).toEqual(shownAfter("README.md", /curl .*status=available/));
    expect(JSON.parse((await shell(create)).stdout)).toEqual(shownAfter("README.md", /curl .*Content-Type/));
  });

  test("the README's help prints the commands", async () => {
    const { status, stdout, stderr } = await shell(commandsOf("README.md").at(-1) as string);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("keys create");
  });

  test("the README's test command ends with the line that it promises", async () => {
    expect(commandsOf("README.md")[1]).toBe("npm ci && npm test");
    const { status, stdout } = await shell("npm test -- src/domains/pets");
    expect(status).toBe(0);
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^[1-9][0-9]* passed, 0 failed$/);
  });

  test("the operator's commands work beside the running service", async () => {
    const lines = commandsOf("docs/operating.md").filter((line) => line.startsWith("npm run"));
    expect(lines.map((line) => line.split(" ").slice(5, 7).join(" "))).toEqual([
      "accounts create",
      "keys create",
      "backup /backups/petstore-today.db",
    ]);
    const [account = "", create = "", backup = ""] = lines;
    const id = /acc_\w+/.exec((await shell(account)).stdout)?.[0] ?? "";
    const made = await shell(create.replace("acc_…", id));
    const till = /psk_test_\w+/.exec(made.stdout)?.[0] ?? "";
    const answer = await fetch(`http://127.0.0.1:${port}/v1/pets`, { headers: { Authorization: `Bearer ${till}` } });
    expect(answer.status).toBe(200);
    const target = join(copy, "backup.db");
    expect((await shell(backup.replace("/backups/petstore-today.db", target))).status).toBe(0);
    expect(existsSync(target)).toBe(true);
  });

  test("the operator's start command starts it for production", () => {
    expect(commandsOf("docs/operating.md").slice(0, 2)).toEqual([
      "npm ci --omit=dev",
      "PETSTORE_ENV=production PETSTORE_BASE_URL=https://api.example.org/v1 npm start",
    ]);
  });

  test("the scripts that CONTRIBUTING names exist", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
    const named = commandsOf("CONTRIBUTING.md").map((line) => line.replace(/^npm (run )?/, ""));
    expect(named).toEqual(["ci", "check", "test", "torture", "derive", "bench"]);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named.slice(1)));
  });

  test("SIGTERM to npm ends the service", async () => {
    started.kill("SIGTERM");
    await started.exited;
    await eventually(
      () =>
        fetch(`http://127.0.0.1:${port}/healthz`).then(
          () => "alive",
          () => "gone",
        ),
      (state) => state === "gone",
    );
  });
});
