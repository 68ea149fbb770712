import { afterAll, expect, test } from "bun:test";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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
])("writes nothing through a link whose target is missing, if a file may be %s", async (name, mayReplace) => {
  const [target, link] = [join(folder, `${name}-target`), join(folder, `${name}-link`)];
  symlinkSync(target, link);
  const failure = await failureOf(writeNewFile(link, pieces(), mayReplace));
  expect((failure as Error).message).toBe(`${link} is a link to a file that does not exist.`);
  expect([existsSync(target), readlinkSync(link)]).toEqual([false, target]);
  expect(readdirSync(folder).filter((one) => one.includes("unfinished"))).toEqual([]);
});

test("replaces the file that a link leads to, and keeps the link", async () => {
  const [target, link] = [join(folder, "target"), join(folder, "link")];
  writeFileSync(target, "before");
  symlinkSync(target, link);
  expect(await writeNewFile(link, pieces(), true)).toBe(3);
  expect([readFileSync(target, "utf8"), readlinkSync(link)]).toEqual(["one", target]);
});

test("says in words that a file system is read-only", () => {
  const failure = Object.assign(new Error("EROFS: read-only file system, open"), { code: "EROFS", syscall: "open" });
  expect(asFileError(failure, "/pets.csv")).toMatchObject({
    name: "FileError",
    message: "/pets.csv is on a file system that is mounted read-only.",
  });
});
