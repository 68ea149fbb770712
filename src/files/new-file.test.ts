import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failureOf } from "../../test/harness/failure-of.ts";
import { asFileError, FileError, writeNewFile } from "./new-file.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-new-file-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function* pieces() {
  yield "one";
}

// The unfinished file has a longer name. As on a read-only file system, it can be neither created nor removed.
test("says in words that a file cannot be created", async () => {
  const file = join(folder, "x".repeat(250));
  const failure = await failureOf(writeNewFile(file, pieces(), false));
  expect(failure).toBeInstanceOf(FileError);
  expect((failure as FileError).message).toStartWith(`${file} failed: ENAMETOOLONG: `);
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ["replaced", true],
  ["created", false],
])("follows links to a file that does not exist yet, if a file may be %s", async (name, mayReplace) => {
  const [disk, link, nextLink] = [join(folder, name), join(folder, `${name}-link`), join(folder, name, "link")];
  mkdirSync(disk);
  symlinkSync(`${name}/link`, link);
  symlinkSync("latest.jsonl", nextLink);
  expect(await writeNewFile(link, pieces(), mayReplace)).toBe(3);
  expect(readFileSync(join(disk, "latest.jsonl"), "utf8")).toBe("one");
  expect([readlinkSync(link), readlinkSync(nextLink)]).toEqual([`${name}/link`, "latest.jsonl"]);
  rmSync(disk, { recursive: true });
  const failure = await failureOf(writeNewFile(link, pieces(), mayReplace));
  expect((failure as Error).message).toBe(`The folder ${disk} does not exist.`);
});

test("ends at a link to itself", async () => {
  const link = join(folder, "loop");
  symlinkSync("loop", link);
  const failure = await failureOf(writeNewFile(link, pieces(), false));
  expect((failure as Error).message).toBe(`${link} exists already.`);
});

test("says in words that a file system is read-only", () => {
  const failure = Object.assign(new Error("EROFS: read-only file system, open"), { code: "EROFS", syscall: "open" });
  expect(asFileError(failure, "/pets.csv")).toMatchObject({
    name: "FileError",
    message: "/pets.csv is on a file system that is mounted read-only.",
  });
});
