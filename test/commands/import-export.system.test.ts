// `petstore import` and `petstore export`: what they say, alongside a service, and without room on the disk.
import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../../src/app/schema.ts";
import { run } from "../../src/cli/run.ts";
import { NewPet } from "../../src/domains/pets/pets.schemas.ts";
import { contextOf, runInProcess, runJsonInProcess } from "../harness/commands.ts";
import { liftBounds } from "../harness/keys.ts";
import { keyIn, newDataDir, Program, programCommand } from "../harness/program.ts";

/** The fields of an animal, as messages list them. */
const fieldNames = Object.keys(NewPet.properties).join(", ");

const command = (words: readonly string[]) => [...programCommand, ...words];
const folder = newDataDir();
let files = 0;
const newFile = (name: string, text?: string) => {
  const place = join(folder, String(++files));
  mkdirSync(place);
  if (text !== undefined) writeFileSync(join(place, name), text);
  return join(place, name);
};
const lines = (number: number) =>
  Array.from({ length: number }, (_, index) => `{"name":"Pet ${index + 1}","categoryId":${index % 7}}\n`).join("");

/** A folder with an empty store. */
async function newStore(): Promise<string> {
  const dataDir = newDataDir();
  await runJsonInProcess(dataDir, ["accounts", "create", "--name", "x", "--plan", "business"]);
  await liftBounds(dataDir);
  return dataDir;
}

/** What a store holds, as another process sees it. */
function look<T>(dataDir: string, sql: string): T[] {
  const database = new Database(join(dataDir, "petstore.db"), { readonly: true });
  try {
    database.run("PRAGMA busy_timeout = 10000"); // the process that opens the store after a kill locks it while it recovers
    return database.query<T, []>(sql).all();
  } finally {
    database.close();
  }
}
const countIn = (dataDir: string) =>
  look<{ count: number }>(dataDir, "SELECT count(*) AS count FROM pets")[0]?.count ?? -1;
const namesTwice = (dataDir: string) => look(dataDir, "SELECT name FROM pets GROUP BY name HAVING count(*) > 1");
const wrongCounts = (dataDir: string) =>
  look(
    dataDir,
    "SELECT category_id FROM category_animals WHERE animals <> (SELECT count(*) FROM pets WHERE pets.shop = category_animals.shop AND pets.category_id = category_animals.category_id)",
  );
async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await new Promise(setImmediate);
}

/** Runs a line of the shell in which an export to standard output is `"$@"`. */
const shell = (dataDir: string, line: string) =>
  Bun.spawnSync(["bash", "-c", line, "bash", ...command(["export", "-", "--format", "csv"])], {
    env: { ...process.env, PETSTORE_DATA_DIR: dataDir },
  });

describe("petstore import", () => {
  test("prints its result, in words and as JSON", async () => {
    const dataDir = await newStore();
    const file = newFile("animals.csv", "name,categoryId,status\r\nRex,1,sold\r\nTom,2,\r\n");
    const { status, stdout, stderr } = await runInProcess(dataDir, ["import", file]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^Added 2 animals of .*animals\.csv in [0-9.]+ s, [0-9,]+ a second\.\n$/);
    expect(await runJsonInProcess(dataDir, ["import", file])).toEqual({
      file,
      added: 2,
      updated: 0,
      skipped: 0,
      nextLine: 4,
      seconds: expect.any(Number),
    });
    expect(look(dataDir, "SELECT id, name, category_id, status FROM pets WHERE id > 2")).toEqual([
      { id: 3, name: "Rex", category_id: 1, status: "sold" },
      { id: 4, name: "Tom", category_id: 2, status: null },
    ]);
  });

  test("names bad lines on the error output, and escapes control characters", async () => {
    const dataDir = await newStore();
    const file = newFile("animals.jsonl", '{"name":"Rex","categoryId":1,"\\u001b[2J\\u007f\\u009b":1}\n');
    const { status, stdout, stderr } = await runInProcess(dataDir, ["import", file]);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      `line 1: /\\u001b[2J\\u007f\\u009b is not a field of an animal; it has ${fieldNames}\n` +
        `${file} has 1 fault. Nothing was added.\n`,
    );
    const asJson = await runInProcess(dataDir, ["import", file, "--json"]);
    expect([asJson.status, asJson.stderr, JSON.parse(asJson.stdout)]).toEqual([
      1,
      "",
      {
        file,
        added: 0,
        nextLine: 1,
        faults: [{ line: 1, message: expect.stringContaining("is not a field") }],
        moreFaults: 0,
      },
    ]);
  });

  test("prints how many more bad lines there are", async () => {
    const { stderr } = await runInProcess(await newStore(), ["import", newFile("x.jsonl", "x\n".repeat(1_060))]);
    expect(stderr).toContain("line 50: is not valid JSON\nand 1,010 more\n");
    expect(stderr).toEndWith(" has 1,060 faults. Nothing was added.\n");
  });

  test.each<[string[], Record<string, string>]>([
    [["--strict-categories"], {}],
    [[], { PETSTORE_STRICT_CATEGORIES: "true" }],
  ])("rejects unknown categories if they are strict (%p, %p)", async (words, settings) => {
    const file = newFile("animals.csv", "name,categoryId\nRex,1\n");
    const { status, stderr } = await runInProcess(await newStore(), ["import", file, ...words], settings);
    expect([status, stderr.split("\n")[0]]).toEqual([1, "line 2: /categoryId is not the id of a category"]);
  });

  test.each([
    [["import", "animals.xlsx"], 2, "animals.xlsx is a spreadsheet: save it as CSV in UTF-8. See --help.\n"],
    [["import", "animals.txt"], 2, "animals.txt does not end with .jsonl or .csv, so it needs --format. See --help.\n"],
    [["import", "-", "--format", "xml"], 2, "--format must be one of jsonl, csv. See --help.\n"],
    [["import", "a.csv", "--ids", "drop"], 2, "--ids must be keep or new. See --help.\n"],
    [["import", "/nowhere/a.csv"], 1, "/nowhere/a.csv does not exist.\n"],
    [["import", "/tmp", "--format", "csv"], 1, "/tmp is a folder. Nothing was added.\n"],
    [["export", "/nowhere/a.csv"], 1, "The folder /nowhere does not exist.\n"],
    [["export", "/dev/null", "--format", "csv", "--force"], 1, "/dev/null is not a file that can be replaced.\n"],
  ])("fails with a reason, like an export: %j", async (words, expected, message) => {
    const { status, stdout, stderr } = await runInProcess(await newStore(), words);
    expect([status, stdout, stderr]).toEqual([expected, "", message]);
  });

  test.each(["import", "export"])("fails without a store, like an export: %s creates none", async (name) => {
    const dataDir = newDataDir();
    const { status, stderr } = await runInProcess(dataDir, [name, newFile("a.csv", "name,categoryId\n")]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("There is no store at")]);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test("says that nothing was added if a newer release updates the store while it reads", async () => {
    const dataDir = await newStore();
    const { context, output } = contextOf(dataDir, { PETSTORE_DATA_DIR: dataDir });
    const input = async function* () {
      yield Buffer.from(lines(1));
      const newer = new Database(join(dataDir, "petstore.db"));
      newer.run(`PRAGMA user_version = ${migrations.length + 1}`);
      newer.close();
    };
    expect(await run(["import", "-", "--format", "jsonl"], { ...context, input })).toBe(1);
    expect(output.stderr).toMatch(/^The store failed: The store at .* knows [0-9]+\. Nothing was added\.\n$/);
    expect(countIn(dataDir)).toBe(0);
  });

  test("into a running service is visible to the next request, also on cached pages", async () => {
    const program = await Program.start(newDataDir());
    const key = keyIn(program.output);
    const page = async () =>
      (await (
        await fetch(`${program.base}/pets?limit=26`, { headers: { Authorization: `Bearer ${key}` } })
      ).json()) as {
        id: number;
      }[];
    const add = (id: number) =>
      runJsonInProcess(program.dataDir, [
        "import",
        newFile("a.jsonl", `{"id":${id},"name":"Ida","categoryId":1}`),
        "--ids",
        "keep",
      ]);
    const before = (await page()).map(({ id }) => id);
    await add(100);
    for (let round = 0; round < 3; round++) expect((await page()).map(({ id }) => id)).toEqual([...before, 100]);
    await add(110);
    expect((await page()).map(({ id }) => id)).toEqual([...before, 100, 110]);
    await program.end();
  });
});

describe("with several accounts", () => {
  const file = newFile("one.csv", "name,categoryId\nRex,1\n");

  test("an import and an export use the given account", async () => {
    const dataDir = await newStore();
    const { id } = await runJsonInProcess(dataDir, ["accounts", "create", "--name", "y", "--plan", "business"]);
    await runJsonInProcess(dataDir, ["import", file, "--account", id]);
    expect(look(dataDir, `SELECT account_id, mode FROM pets JOIN shops USING (shop)`)).toEqual([
      { account_id: id, mode: "test" },
    ]);
    const exported = await runInProcess(dataDir, ["export", "-", "--format", "csv", "--account", id]);
    expect(exported.stdout).toBe(
      "\uFEFFid,name,categoryId,status,price,currency,reference,metadata\r\n1,Rex,1,,,,,\r\n",
    );
  });

  test.each(["import", "export"])("an %s needs an account, and says how to find it", async (name) => {
    const dataDir = await newStore();
    await runJsonInProcess(dataDir, ["accounts", "create", "--name", "y", "--plan", "business"]);
    const target = name === "import" ? file : newFile("out.csv");
    const untold = await runInProcess(dataDir, [name, target]);
    expect([untold.status, untold.stderr]).toEqual([
      2,
      "There are several accounts: choose one with --account. The command `accounts list` shows the ids of accounts. See --help.\n",
    ]);
    const unknown = await runInProcess(dataDir, [name, target, "--account", "acc_nobody"]);
    expect([unknown.status, unknown.stderr]).toEqual([
      1,
      "There is no account acc_nobody. The command `accounts list` shows the ids of accounts.\n",
    ]);
  });
});

test("in production, an import and an export use the live shop by default", async () => {
  const dataDir = newDataDir();
  const production = { PETSTORE_ENV: "production" };
  await runJsonInProcess(dataDir, ["accounts", "create", "--name", "x", "--plan", "business"], production);
  await runJsonInProcess(dataDir, ["import", newFile("live.jsonl", lines(2))], production);
  await runJsonInProcess(dataDir, ["import", newFile("test.jsonl", lines(1)), "--sandbox"], production);
  const exported = (words: readonly string[]) =>
    runJsonInProcess(dataDir, ["export", newFile("out.csv"), ...words], production);
  expect([await exported([]), await exported(["--sandbox"])]).toMatchObject([{ animals: 2 }, { animals: 1 }]);
});

test("an import onto a full disk says which lines are in, and continues there", async () => {
  const dataDir = await newStore();
  const file = newFile("some.jsonl", lines(30_000));
  // A limit on the size of files does what a full disk does.
  const limited = Bun.spawn(
    ["sh", "-c", `trap '' XFSZ; ulimit -f 4000; exec "$@"`, "sh", ...command(["import", file])],
    {
      env: { ...process.env, PETSTORE_DATA_DIR: dataDir },
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  expect(await limited.exited).toBe(1);
  const stderr = await new Response(limited.stderr).text();
  expect(stderr).toMatch(/^The store failed: (database or disk is full|disk I\/O error)\. Lines 1 to [0-9]+ are in /);
  const next = /Continue with --from-line ([0-9]+)\.\n$/.exec(stderr)?.[1] ?? "";
  expect(countIn(dataDir)).toBe(Number(next) - 1);
  expect(await runJsonInProcess(dataDir, ["import", file, "--from-line", next])).toMatchObject({ nextLine: 30_001 });
  expect([countIn(dataDir), namesTwice(dataDir), wrongCounts(dataDir)]).toEqual([30_000, [], []]);
  expect(look(dataDir, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
});

describe("petstore export", () => {
  const animals =
    '{"id":3,"name":"Say \\"hi\\", Rex","categoryId":9223372036854775807,"status":"sold"}\n{"id":9007199254740993,"name":"🐕","categoryId":-1}\n';
  let dataDir: string;
  let large: string;
  beforeAll(async () => {
    large = await newStore();
    await runJsonInProcess(large, ["import", newFile("many.jsonl", lines(60_000))]);
    dataDir = await newStore();
    await runJsonInProcess(dataDir, ["import", newFile("a.jsonl", animals), "--ids", "keep"]);
  });

  test.each([
    ["jsonl", animals],
    [
      "csv",
      '\uFEFFid,name,categoryId,status,price,currency,reference,metadata\r\n3,"Say ""hi"", Rex",9223372036854775807,sold,,,,\r\n9007199254740993,🐕,-1,,,,,\r\n',
    ],
  ])("writes exactly what is in the store as %s, from which an import makes the same store", async (format, text) => {
    const file = newFile(`out.${format}`);
    const report = await runJsonInProcess(dataDir, ["export", file]);
    expect(report).toEqual({ file, animals: 2, bytes: Buffer.byteLength(text), seconds: expect.any(Number) });
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(readdirSync(join(file, ".."))).toEqual([`out.${format}`]);
    const other = await newStore();
    await runJsonInProcess(other, ["import", file, "--ids", "keep"]);
    const { stdout, stderr } = await runInProcess(other, ["export", "-", "--format", format]);
    expect([stdout, stderr]).toEqual([text, expect.stringMatching(/^Wrote 2 animals to standard output /)]);
  });

  test("replaces a file only with --force, through a link", async () => {
    const file = newFile("out.jsonl", "mine");
    const refused = await runInProcess(dataDir, ["export", file]);
    expect([refused.status, refused.stderr]).toEqual([1, `${file} exists already. The option --force replaces it.\n`]);
    expect(readFileSync(file, "utf8")).toBe("mine");
    const link = newFile("link.jsonl");
    symlinkSync(file, link);
    await runJsonInProcess(dataDir, ["export", link, "--force"]);
    expect(readFileSync(file, "utf8")).toBe(animals);
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  test("leaves the unfinished file of a process in another container, which can have the same id", async () => {
    const file = newFile("out.jsonl");
    const unfinished = `${file}.unfinished-${process.pid}`;
    writeFileSync(unfinished, "half");
    await runJsonInProcess(dataDir, ["export", file]);
    expect(readFileSync(file, "utf8")).toBe(animals);
    expect(readFileSync(unfinished, "utf8")).toBe("half");
  });

  test("fails with a message when the disk is full, and leaves no file", async () => {
    const file = newFile("out.jsonl");
    const limited = Bun.spawn(
      ["sh", "-c", `trap '' XFSZ; ulimit -f 1000; exec "$@"`, "sh", ...command(["export", file])],
      {
        env: { ...process.env, PETSTORE_DATA_DIR: large },
        stdout: "pipe",
        stderr: "pipe",
      },
    );
    expect(await limited.exited).toBe(1);
    expect(await new Response(limited.stderr).text()).toBe(`There is no room for ${file}.\n`);
    expect(readdirSync(join(file, ".."))).toEqual([]);
  });

  test("fails with a message if standard output is closed or full", async () => {
    const full = shell(large, '"$@" >/dev/full');
    expect([full.exitCode, full.stderr.toString()]).toEqual([1, "There is no room for standard output.\n"]);
    const left = shell(large, '"$@" | true; exit ${PIPESTATUS[0]}');
    expect([left.exitCode, left.stderr.toString()]).toEqual([1, "Nobody reads standard output any more.\n"]);
  });
});

describe.each(["import", "export"])("on a terminal, %s", (name) => {
  test("shows its progress in one line, which it removes at the end", async () => {
    const dataDir = await newStore();
    await runJsonInProcess(dataDir, ["import", newFile("a.jsonl", lines(10_000))]);
    let shown = "";
    const child = Bun.spawn(command([name, newFile("b.jsonl", name === "import" ? lines(10_000) : undefined)]), {
      env: { ...process.env, PETSTORE_DATA_DIR: dataDir },
      terminal: { cols: 100, rows: 30, data: (_, data) => (shown += Buffer.from(data).toString()) },
    });
    expect(await child.exited).toBe(0);
    await until(() => shown.includes("a second."));
    const [before, after] = [
      shown.slice(0, shown.lastIndexOf("\u001b[K")),
      shown.slice(shown.lastIndexOf("\u001b[K") + 3),
    ];
    expect(before).toMatch(/(Checking|Adding|Writing) \[[█░]{24}\] +[0-9]+ % [0-9,]+ animals/);
    expect(before).not.toContain("\n");
    expect(after).toMatch(/^(Added|Wrote) 10,000 animals [^\r\n]*\r?\n$/);
  });
});
