// Whatever the documentation tells a reader to type is typed here, in a fresh copy of the project.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { FreshCopy } from "./harness/fresh-copy.ts";
import { PostgresServer, postgresMissing } from "./harness/postgres-server.ts";
import { keyIn } from "./harness/program.ts";

const root = join(import.meta.dir, "..");
/** All pages that people write. The pages of results are written by `npm run bench`. */
const documents = [
  ...["README", "CONTRIBUTING", "SECURITY", "CHANGELOG"].map((name) => `${name}.md`),
  ...new Glob("{client,console,deploy,docs}/**/*.md").scanSync(root),
].filter((page) => !page.endsWith("-results.md") && !page.includes("node_modules/"));
/** Without the changelog, which grows with each release. */
const MOST_WORDS = 20_000;
const MOST_WORDS_OF_A_PAGE = 2200;

/** The lines of all shell blocks of a document; a line that ends with a backslash continues in the next. */
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

const beginningsIn = (file: string) => commandsOf(file).map((line) => line.split(" ").slice(0, 4).join(" "));

/** The JSON that a document shows after a command, as it is read. */
function shownAfter(file: string, command: RegExp): unknown {
  const text = readFileSync(join(root, file), "utf8");
  const start = text.search(command);
  return read(/```json\n([^]*?)```/.exec(text.slice(start))?.[1] ?? "");
}

/** What a JSON text holds, with every moment taken for the same one, and every key. */
function read(json: string): unknown {
  const moments = json.replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"a moment"');
  return JSON.parse(moments.replaceAll(/"key_\w+"/g, '"a key"'));
}

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (page: string): string[] =>
  [...readFileSync(page, "utf8").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );

describe("links and paths", () => {
  test.each(documents)("of %s lead to an existing target", (file) => {
    const text = readFileSync(join(root, file), "utf8");
    const links = [...text.matchAll(/\]\((?!http)([^)]+)\)/g)].map(([, target = ""]) => target);
    const paths = [...text.matchAll(/`((?:src|docs|test|bench|scripts|deploy)\/[\w./-]+)`/g)].map(
      ([, path = ""]) => path,
    );
    const leadsNowhere = (link: string) => {
      const [path = "", anchor] = link.split("#");
      const page = path ? join(root, dirname(file), path) : join(root, file);
      return !existsSync(page) || (anchor !== undefined && !anchorsOf(page).includes(anchor));
    };
    expect(links.filter(leadsNowhere)).toEqual([]);
    const isMissing = (path: string) => ![root, join(root, dirname(file))].some((base) => existsSync(join(base, path)));
    expect(paths.filter(isMissing)).toEqual([]);
  });
});

describe("length", () => {
  const words = documents.map((page) => ({
    page,
    count: readFileSync(join(root, page), "utf8").split(/\s+/).filter(Boolean).length,
  }));

  test("of all pages together is bounded", () => {
    const counted = words.filter(({ page }) => page !== "CHANGELOG.md");
    const sum = counted.reduce((total, { count }) => total + count, 0);
    const advice = `The docs have ${sum} words, the limit is ${MOST_WORDS}. Say it shorter, say it once, or link to it.`;
    expect(sum < MOST_WORDS ? "" : advice).toBe("");
  });

  test("of each page is bounded", () => {
    const advice = words
      .filter(({ count }) => count > MOST_WORDS_OF_A_PAGE)
      .map(({ page, count }) => `${page} has ${count} words, the limit is ${MOST_WORDS_OF_A_PAGE}. Split it by task.`);
    expect(advice).toEqual([]);
  });
});

describe("commands for newcomers", () => {
  let copy: FreshCopy;
  beforeAll(async () => {
    copy = await FreshCopy.make();
    const [run = ""] = commandsOf("README.md");
    expect(run).toBe("npm ci && npm start");
    await copy.start(run.replace("npm ci && ", "")); // the copy has the packages of this project
  });
  afterAll(() => copy.stop());

  test("of the README and the first calls are all known to this test", () => {
    expect(beginningsIn("README.md")).toEqual([
      "npm ci && npm",
      'curl -H "Authorization: Bearer',
      "npm install --prefix ../petstore-app",
      'PETSTORE_KEY="$KEY" PETSTORE_URL=http://127.0.0.1:8080/v1 node ../petstore-app/app.mjs',
      "npm ci && npm",
      "npm run --silent petstore",
    ]);
    expect(beginningsIn("docs/first-calls.md")).toEqual([
      'curl -H "Authorization: Bearer',
      'curl -H "Authorization: Bearer',
      "curl -X PATCH -H",
      "RETRY_KEY=$(node -p 'crypto.randomUUID()')",
      'curl -H "Authorization: Bearer',
      'curl -H "Authorization: Bearer',
      "curl -X POST -H",
      "curl -X DELETE -H",
    ]);
  });

  const key = () => keyIn(copy.output);

  test("the README's call answers as it shows", async () => {
    const [, call = ""] = commandsOf("README.md");
    const { stdout } = await copy.shell(call, { KEY: key() });
    expect(read(stdout)).toEqual(shownAfter("README.md", /curl /));
  });

  test("the first calls answer as they show", async () => {
    const file = "docs/first-calls.md";
    const lines = commandsOf(file);
    const calls = lines.filter((line) => line.startsWith("curl"));
    /** What the page tells its reader to put into variables. */
    const told = Object.fromEntries(
      [...readFileSync(join(root, file), "utf8").matchAll(/here `(\w+)=(\d+)`/g)].map(([, name, id]) => [name, id]),
    );
    const makeRetryKey = lines.find((line) => line.startsWith("RETRY_KEY=")) ?? "";
    const commands = [
      /curl .*Content-Type/,
      /curl .*ids=/,
      /curl -X PATCH/,
      /RETRY_KEY=/,
      /curl .*\n.*\{\\"petId/,
      /curl .*confirm/,
      undefined,
    ];
    expect(calls.length).toBe(commands.length);
    for (const [index, line] of calls.entries()) {
      const isRetry = line.includes("RETRY_KEY");
      const typed = isRetry ? `${makeRetryKey}; ${line}; echo; ${line}` : line;
      const said = (await copy.shell(typed, { ...told, KEY: key() })).stdout;
      const [stdout = "", again = stdout] = said.split("\n");
      expect(again).toBe(stdout); // one sale, though it was sent twice
      if (isRetry) expect((await copy.shell(line, { KEY: key() })).status).not.toBe(0); // without a key
      const command = commands[index];
      expect(stdout && read(stdout)).toEqual(command ? shownAfter(file, command) : "");
    }
  });

  test("the sandbox's calls, which come after the first calls, answer as they show", async () => {
    const file = "docs/sandbox.md";
    const responses: unknown[] = [];
    for (const line of commandsOf(file)) responses.push(read((await copy.shell(line, { KEY: key() })).stdout));
    const [shown, advanced] = [shownAfter(file, /v1\/sandbox$/m), shownAfter(file, /fast-forward$/m)];
    const samples = { animals: 24, categories: 4, orders: 14, waiting: [] };
    expect(responses).toEqual([samples, expect.objectContaining({ id: 15, status: "placed" }), shown, advanced]);
  });

  test("the README's program in TypeScript adds an animal and lists it", async () => {
    const [, program = ""] = /```ts\n([^]*?)```/.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
    const lines = commandsOf("README.md");
    const [install = "", run = ""] = lines.slice(lines.findIndex((line) => line.startsWith("npm install")));
    const manifest = await Bun.file(join(copy.folder, "package.json")).text();
    expect((await copy.shell(install)).status).toBe(0);
    expect(await Bun.file(join(copy.folder, "package.json")).text()).toBe(manifest);
    await Bun.write(join(copy.folder, "../petstore-app/app.mjs"), program);
    const { status, stdout, stderr } = await copy.shell(run, { KEY: key() });
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^3n Tom\n(.+\n)*\d+n Ida$/m);
  });

  test("the README's help prints the commands", async () => {
    const { status, stdout, stderr } = await copy.shell(commandsOf("README.md").at(-1) as string);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("keys create");
  });

  test("the README's test command ends with the line that it promises", async () => {
    expect(commandsOf("README.md")).toContain("npm ci && npm test");
    const { status, stdout } = await copy.shell("npm test -- src/files");
    expect(status).toBe(0);
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^[1-9][0-9]* passed, 0 failed$/);
  });

  test("the scripts that CONTRIBUTING names exist", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
    const named = commandsOf("CONTRIBUTING.md").map((line) => line.replace(/^npm (run )?| -- .*/g, ""));
    expect(named).toContain("check");
    expect([...Object.keys(scripts), "ci"]).toEqual(expect.arrayContaining(named));
  });

  test("contain paths from the folder in which they are typed", async () => {
    const { stderr } = await copy.shell(
      "cd docs && npm run --silent petstore -- backups take --file one.db && mkdir ../else && cd ../else && " +
        "npm --prefix .. run --silent petstore -- backups take --file two.db && " +
        "PETSTORE_DATA_DIR=../data npm --prefix .. run --silent petstore -- backups take --file ../three.db",
    );
    expect(stderr).toBe("");
    const paths = ["docs/one.db", "else/two.db", "three.db", "two.db", "one.db"];
    expect(paths.filter((path) => existsSync(join(copy.folder, path)))).toEqual(paths.slice(0, 3));
  });

  test("SIGTERM to npm ends the service", async () => {
    expect(await copy.isListening()).toBe(true);
    await copy.stop();
    expect(await copy.isListening()).toBe(false);
  });
});

describe("commands for operators, in production, as written", () => {
  /** As docs/commands.md says, `petstore` is typed like this without the executable. */
  const lines = ["operating", "commands", "backups"]
    .flatMap((page) => commandsOf(`docs/${page}.md`))
    .map((line) => line.replace(/\bpetstore /, "npm run --silent petstore -- "));
  const [
    install = "",
    start = "",
    account = "",
    create = "",
    deprecations = "",
    bringIn = "",
    takeOut = "",
    backup = "",
    listBackups = "",
    verifyBackups = "",
    restore = "",
    migrate = "",
  ] = lines;
  let copy: FreshCopy;
  let key = "";
  beforeAll(async () => {
    copy = await FreshCopy.make();
    await copy.start(start);
  });
  afterAll(() => copy.stop());

  const list = () => fetch(`http://127.0.0.1:${copy.port}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } });

  test("are all known to this test", () => {
    expect(install).toBe("npm ci"); // the copy has the packages of this project
    expect(start).toBe("PETSTORE_ENV=production PETSTORE_BASE_URL=https://api.example.org/v1 npm start -- --create");
    expect(lines.slice(2).map((line) => line.split(" ").slice(5, 7).join(" "))).toEqual([
      "accounts create",
      "keys create",
      "usage --deprecated",
      "import animals.csv",
      "export animals.jsonl",
      "backups take",
      "backups list",
      "backups verify",
      "restore /backups/petstore-today.db",
      "migrate-store --from",
    ]);
  });

  test("create a key that the running service accepts", async () => {
    const id = /acc_\w+/.exec((await copy.shell(account)).stdout)?.[0] ?? "";
    const { stdout } = await copy.shell(create.replace("acc_…", id));
    key = keyIn(stdout);
    expect((await list()).status).toBe(200);
  });

  test("list who calls deprecated operations", async () => {
    expect((await copy.shell(deprecations)).stdout).toContain("getPet (GET /pets/{petId}) is removed on 2030-12-05");
  });

  test("make a backup that restores the store, as described there", async () => {
    const target = join(copy.folder, "petstore-today.db");
    const here = (line: string) => line.replace("/backups/petstore-today.db", target);
    expect((await copy.shell(here(backup))).status).toBe(0);
    for (const line of [listBackups, verifyBackups]) expect((await copy.shell(here(line))).status).toBe(0);
    await copy.stop();
    expect((await copy.shell(here(restore))).stderr).toBe("");
    await copy.start(start);
    expect((await list()).status).toBe(200);
  });

  test("import animals into the running service, and export them", async () => {
    await Bun.write(join(copy.folder, "animals.csv"), "name,categoryId,status\r\nRex,1,\r\n");
    expect((await copy.shell(bringIn)).stdout).toStartWith("Added 1 animal of ");
    expect(await (await list()).json()).toEqual([{ id: 1, name: "Rex", categoryId: 1 }]);
    expect((await copy.shell(takeOut)).stdout).toStartWith("Wrote 1 animal to ");
    const written = await Bun.file(join(copy.folder, "animals.jsonl")).text();
    expect(written).toBe('{"id":1,"name":"Rex","categoryId":1}\n');
  });

  test.skipIf(postgresMissing !== undefined)(
    "migrate the store to PostgreSQL, where the service continues",
    async () => {
      const server = await PostgresServer.start();
      const move = migrate.replace(/postgres:\S+/, server.url());
      expect((await copy.shell(move)).stderr).toContain("is in use. Stop its service first");
      await copy.stop();
      expect((await copy.shell(move)).stdout).toStartWith("Moved ");
      await copy.start(`PETSTORE_DATABASE_URL=${server.url()} ${start}`);
      expect(await (await list()).json()).toEqual([{ id: 1, name: "Rex", categoryId: 1 }]);
      await copy.stop();
      await server.remove();
    },
  );
});
