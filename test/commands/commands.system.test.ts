// What every command must do, whatever else it does: help with an example, suggestions, errors as JSON. A new command is
// tested here without further code. The commands run inside the test; other tests run them as processes.
import { describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { domains } from "../../src/app/domains.ts";
import { type ProgramCommand, readArguments } from "../../src/cli/program-command.ts";
import { commandsOf } from "../../src/cli/run.ts";
import { settings as ownSettings } from "../../src/config/service-settings.ts";
import { settingsOf } from "../../src/domains/domain.ts";
import { runInProcess as run } from "../harness/commands.ts";
import { newDataDir } from "../harness/program.ts";

const commands = commandsOf(domains);
const settings = { ...ownSettings, ...settingsOf(domains) };

/** Runs one command line in a folder, which also has the store, and gives the status and what was said. */
const runHere = (words: readonly string[], environment: Record<string, string> = {}, folder = newDataDir()) =>
  run(folder, words, environment);

/** Words of a command line, as a shell splits them. */
const split = (line: string) => [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);

const names = commands.map(({ name }) => name);
const each = (list: readonly ProgramCommand[]) => list.map((command) => [command.name, command] as const);

describe("--help", () => {
  test.each(each(commands))("of %s shows its summary, arguments, options and an example", async (name, command) => {
    const { status, stdout, stderr } = await runHere([...name.split(" "), "--help"]);
    expect([status, stderr]).toEqual([0, ""]);
    const { summary, args = [], options = {}, example } = command;
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toBe(summary);
    expect(lines.find((line) => line.startsWith(`Usage: petstore ${name}`))).toContain([name, ...args].join(" "));
    for (const option of Object.keys(options)) expect(stdout).toMatch(new RegExp(`^--${option} .*[.]$`, "m"));
    expect(lines.at(-1)).toBe(`Example: petstore ${example}`);
  });

  test.each(each(commands))("of %s has a valid example", (name, command) => {
    const words = split(command.example);
    const own = name.split(" ");
    expect(words.slice(0, own.length)).toEqual(own);
    expect(readArguments(command, words.slice(own.length))).not.toBe("help");
  });

  test("of keys rotate is as expected", async () => {
    expect((await runHere(["keys", "rotate", "--help"])).stdout).toBe(`\
Replace a key with a new one. The old key stays valid for a while.

Usage: petstore keys rotate KEY_ID [--overlap TIME] [--json]

--overlap TIME  How long the old key stays valid: 90s, 30m, 24h, 7d, or 0. Default: 24h.
--json          Print the result as JSON, and an error too.
--help          Print this.

Example: petstore keys rotate key_5fQ0c2mN8xWbT1Lz --overlap 7d
`);
  });

  test("of the program shows every command and every setting", async () => {
    const { stdout } = await runHere(["--help"]);
    for (const { name, summary } of commands)
      expect(stdout).toMatch(new RegExp(`^  ${name} .*${escaped(summary)}$`, "m"));
    for (const name of Object.keys(settings)) expect(stdout).toContain(`\n  ${name} `);
  });
});

const exampleOf = (name: string) => commands.find((command) => command.name === name)?.example ?? "";

test("the examples do what they describe", async () => {
  const folder = newDataDir();
  const runExample = async (name: string, ...replacements: [string | RegExp, string][]) => {
    const line = replacements.reduce((text, [from, to]) => text.replace(from, to), exampleOf(name));
    const { status, stdout, stderr } = await runHere(split(line), {}, folder);
    expect([name, status, stderr]).toEqual([name, 0, ""]);
    return stdout;
  };
  const account = /acc_\w+/.exec(await runExample("accounts create"))?.[0] ?? "";
  expect(await runExample("accounts set-plan", [/acc_\w+/, account])).toContain("5000 requests a minute");
  expect(await runExample("accounts rename", [/acc_\w+/, account])).toContain("(Shop at the corner)");
  expect(await runExample("accounts show", [/acc_\w+/, account])).toContain("Shop at the corner");
  const id = /key_\w+/.exec(await runExample("keys create", [/acc_\w+/, account]))?.[0] ?? "";
  expect(await runExample("keys rotate", [/key_\w+/, id])).toContain(`The old key ${id} `);
  await runExample("keys revoke", [/key_\w+/, id]);
  const [headings, ...rows] = (await runExample("keys list", [/acc_\w+/, account])).trimEnd().split("\n");
  expect(rows.map((row) => row.includes("revoked"))).toEqual([true, false]);
  for (const row of rows) expect(row).toMatch(/ read,write +60 /);
  expect(headings).toStartWith("ID ");
  const tooMany = ["keys", "create", "--account", account, "--per-minute", "5001"];
  expect((await runHere(tooMany, {}, folder)).stderr).toContain("--per-minute must be at most 5000, the plan's.");
  expect(await runExample("accounts list")).toContain(account);
  writeFileSync(join(folder, "animals.csv"), "name,categoryId,status\nRex,1,\n");
  expect(await runExample("import")).toStartWith("Added 1 animal ");
  expect(await runExample("export")).toStartWith("Wrote 1 animal ");
  await runExample("backups take", ["/backups", folder]);
  expect(existsSync(join(folder, "petstore-today.db"))).toBe(true);
  expect(JSON.parse(await runExample("openapi"))).toHaveProperty("openapi");
  expect(await runExample("requests", [/acc_\w+/, account])).toBe("There are none.\n");
  expect(await runExample("accounts delete", [/acc_\w+/, account])).toContain(`Account ${account} `);
});

describe("a table", () => {
  test.each([
    [["accounts", "list"], /^ID {20}NAME {2,}PLAN {2,}PER MINUTE {2}PER DAY {2}ANIMALS {2}CREATED {19}STATE$/],
    [
      ["keys", "list"],
      /^ID {20}ACCOUNT {15}MODE {2}HINT {2,}NAME {2,}SCOPES {2,}PER MINUTE {2}STATE {2}EXPIRES {2}LAST USED$/,
    ],
  ])("of %j has headings above its columns, also next to wide characters", async (words, headings) => {
    const folder = newDataDir();
    for (const name of ["商店", "Corner shop"]) {
      const create = ["accounts", "create", "--name", name, "--plan", "free", "--json"];
      const { id } = JSON.parse((await runHere(create, {}, folder)).stdout) as { id: string };
      await runHere(["keys", "create", "--account", id, "--name", name], {}, folder);
    }
    const [head = "", ...rows] = (await runHere(words, {}, folder)).stdout.trimEnd().split("\n");
    expect(head).toMatch(headings);
    const starts = [...head.matchAll(/(?<=^| {2})\S/g)].map(({ index }) => index);
    expect(rows).toHaveLength(2);
    for (const row of rows) {
      const places = row.replaceAll(/\p{sc=Han}/gu, "xx"); // an ideograph is as wide as two letters
      expect(starts.filter((start) => places[start] === " " || (start > 0 && places[start - 1] !== " "))).toEqual([]);
    }
  });
});

/** Misspellings of a word in one letter, from index `from` on: the letter is left out, doubled or replaced. */
function misspellings(word: string, from = 0): string[] {
  return word.split("").flatMap((letter, index) => {
    if (index < from || !/[a-z]/i.test(letter)) return [];
    const [before, after] = [word.slice(0, index), word.slice(index + 1)];
    return [before + after, before + letter + letter + after, `${before}${letter === "x" ? "y" : "x"}${after}`];
  });
}

/** Second words of other commands with the same first one: `lit` could be `list` as well as `lift`. */
const siblingsOf = (name: string) =>
  names
    .filter((other) => other !== name && other.split(" ")[0] === name.split(" ")[0])
    .map((other) => other.split(" ")[1] ?? "");

describe("a misspelled name gets the correct one as a suggestion:", () => {
  test.each(names)("%s", async (name) => {
    const [first = "", second] = name.split(" ");
    const lines = [
      ...misspellings(first).map((word) => (second === undefined ? [word] : [word, second])),
      ...(second === undefined
        ? []
        : misspellings(second)
            .filter((word) => !siblingsOf(name).some((sibling) => misspellings(sibling).includes(word)))
            .map((word) => [first, word])),
    ];
    for (const words of lines) {
      const { status, stdout, stderr } = await runHere([...words, "--json"]);
      expect([words, status, stdout]).toEqual([words, 2, ""]);
      expect([words, stderr]).toEqual([words, expect.stringContaining(` Did you mean ${name}? `) as string]);
    }
  });

  test.each([...new Set(names.filter((name) => name.includes(" ")).map((name) => name.split(" ")[0] as string))])(
    "the group %s",
    async (group) => {
      for (const word of misspellings(group)) {
        expect([word, (await runHere([word])).stderr]).toEqual([
          word,
          `${word} is not a command. Did you mean ${group}? See --help.\n`,
        ]);
      }
    },
  );

  const options = commands.flatMap(({ name, options: own = {} }) =>
    [...Object.keys(own), "json", "help"].map((option) => [name, option] as const),
  );
  test.each(options)("%s --%s", async (name, option) => {
    for (const word of misspellings(option).filter((one) => one.length > 1)) {
      const { status, stdout, stderr } = await runHere([...name.split(" "), `--${word}`, "value"]);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toBe(`${name} has no option --${word}. Did you mean --${option}? See --help.\n`);
    }
  });

  test.each(Object.keys(settings).filter((name) => name.startsWith("PETSTORE_")))("%s", async (name) => {
    for (const word of [...misspellings(name, "PET".length), name.toLowerCase(), name.replace("T", "T_")]) {
      const { status, stdout, stderr } = await runHere(["accounts", "list"], { [word]: "1" });
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toBe(`${word} is not a setting. Did you mean ${name}?\n`);
    }
  });

  test("a variable of another program gets no suggestion", async () => {
    const environment = {
      RESTORE_PORT: "1",
      PETS_PORT: "tcp://10.0.0.1:80",
      PETSTOREX: "1",
      OTEL_LOGS_EXPORTER: "none",
    };
    expect((await runHere(["openapi"], environment)).status).toBe(0);
  });

  test.each([
    [["acounts"], "accounts"],
    [["acounts", "lst"], "accounts list"],
    [["account", "list"], "accounts list"],
    [["keyslist"], "keys list"],
    [["sevre"], "serve"],
    [["--hlep"], "--help"],
    [["keys", "list", "--acocunt=x"], "--account"],
  ])("%j", async (words, meant) => {
    expect((await runHere(words)).stderr).toContain(` Did you mean ${meant}? `);
  });

  test.each([[["zebra"]], [["accounts", "revoke"]], [["keys", "list", "--q"]], [["keys", "list", "-q"]]])(
    "nothing where none is near: %j",
    async (words) => {
      const { status, stderr } = await runHere(words);
      expect([status, stderr.includes("Did you mean")]).toEqual([2, false]);
    },
  );
});

describe("the environment variables of one command", () => {
  test.each(commands.filter(({ variables }) => variables))("$name are in its help, and checked", async (command) => {
    const { name, example, variables = {} } = command;
    const { stdout } = await runHere([...name.split(" "), "--help"]);
    for (const variable of Object.keys(variables)) {
      expect(stdout).toContain(`\n  ${variable} `);
      const wrong = await runHere(split(example), { [`${variable}X`]: "1", [variable]: "\0" });
      expect(wrong.status).toBe(1);
      expect(wrong.stderr).toContain(`${variable}X is not a setting. Did you mean ${variable}?`);
      expect(wrong.stderr).toMatch(new RegExp(`^${variable} (must be|is .*, but must be) `, "m"));
    }
  });

  test("do not disturb others", async () => {
    const ofAll = commands.flatMap(({ variables = {} }) => Object.keys(variables));
    expect(ofAll).toContain("PETSTORE_KEY");
    const environment = Object.fromEntries(ofAll.map((name) => [name, "\0"]));
    expect((await runHere(["openapi"], environment)).status).toBe(0);
  });
});

describe("with --json, errors are JSON, too:", () => {
  test.each<[string[], Record<string, string>, number, string, string]>([
    [["keys", "lst"], {}, 2, "invalid_command_line", "Did you mean keys list?"],
    [["keys", "list", "--acount", "x"], {}, 2, "invalid_command_line", "--account"],
    [["keys", "revoke"], {}, 2, "invalid_command_line", "keys revoke takes KEY_ID."],
    [
      ["accounts", "create", "--name", "--plan", "pro"],
      {},
      2,
      "invalid_command_line",
      "--name needs a value. One that starts with a dash is written as --name=VALUE. See --help.",
    ],
    [["keys", "rotate", "x", "--overlap", "-1"], {}, 2, "invalid_command_line", "--overlap must be"],
    [["requests", "--limit"], {}, 2, "invalid_command_line", "--limit needs a value."],
    [["keys", "list", "--json=yes"], {}, 2, "invalid_command_line", "--json takes no value."],
    [["accounts", "list"], { PETSTORE_PROT: "1" }, 1, "invalid_settings", "PETSTORE_PORT"],
    [["accounts", "list"], {}, 1, "storage_unusable", "There is no store at "],
    [["accounts", "create", "--name", "x", "--plan", "enterprise"], {}, 2, "invalid_command_line", "--per-day"],
    [["import", "none.csv"], {}, 1, "file_error", "none.csv"],
  ])("%j with %j", async (words, environment, expected, code, part) => {
    const { status, stdout, stderr } = await runHere([...words, "--json"], environment);
    expect([status, stdout, stderr.split("\n").length]).toEqual([expected, "", 2]);
    const text = await runHere(words, environment);
    expect(JSON.parse(stderr)).toEqual({ code, message: expect.stringContaining(part) as string });
    expect(text.status).toBe(expected);
    expect(text.stderr).toContain(part);
  });
});

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
