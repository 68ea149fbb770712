// The glossary names only what exists, and retired names stay out of the documentation.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

const root = join(import.meta.dir, "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");

/** Names of earlier revisions that the code no longer uses. Add one when the last use is renamed. */
const retired = [
  "Asker",
  "KeyWorld",
  "key-world",
  "key world",
  "Conduct",
  "retries/",
  "periodic-work",
  "isAlone",
  "limiter_alone",
  "isDoneWithin",
  "SafeRetries",
  "RetryStore",
  "AnswerRecord",
  "WholeStore",
  "WholePostgres",
  "WholeSqlite",
  "KeptShop",
  "MOST_",
  "tell_abuse",
  "petstore_retries_running",
  "isHopeless",
  "keptPairs",
  "WorkByHand",
  "work-by-hand",
  "FreeQuota",
  "admitFree",
  "PendingRequests",
  "pending-requests",
  "RequestText",
  "StreamText",
  "keepConnection",
  "mostWaiting",
  "longestTurn",
  "SavedLimits",
  "saveAhead",
  "logGuesses",
  "categoryHasRecord",
  "firstUnnamed",
  "AnimalChange",
  "FileAnimal",
  "DeprecatedUse",
  "beginAgain",
  "moveLog",
  "IdentityHost",
  "JobRow",
  "TimedWork",
  "commitBehind",
];

/** The pages of prose; those of measurements show file names of the revision that was measured. */
const pages = [...new Glob("docs/**/*.md").scanSync(root)].filter((page) => !page.endsWith("-results.md"));
const sources = [...new Glob("src/**/*.ts").scanSync(root)];

describe("the glossary", () => {
  const rows = [...read("docs/glossary.md").matchAll(/^\| (?!name |---)(.+) \| (.+) \| (.+) \|$/gm)];

  test("names paths that exist", () => {
    const paths = rows.flatMap(([, , , code = ""]) => [...code.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path));
    expect(paths.length).toBeGreaterThanOrEqual(rows.length);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test("has each name once", () => {
    const names = rows.flatMap(([, name = ""]) => name.split(", "));
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

describe("retired names", () => {
  test.each(retired)("%s is gone from the code and from the documentation", (name) => {
    expect([...sources, ...pages].filter((file) => read(file).includes(name))).toEqual([]);
  });
});
