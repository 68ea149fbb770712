// `petstore usage` next to a running service.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { runInProcess, runJsonInProcess } from "../../test/harness/commands.ts";
import { newKeyIn } from "../../test/harness/keys.ts";
import { eventually, newDataDir, Program } from "../../test/harness/program.ts";

const dataDir = newDataDir();
let program: Program;
beforeAll(async () => {
  program = await Program.start(dataDir);
});
afterAll(() => program.end());

function send(path: string, bearer?: string): Promise<Response> {
  return fetch(program.base + path, bearer === undefined ? {} : { headers: { Authorization: `Bearer ${bearer}` } });
}

test("usage lists who sends most, by requests, errors and rejections", async () => {
  const refused = await newKeyIn(dataDir);
  await send("/pets/99", refused.key);
  await send("/pets");
  const busy = await newKeyIn(dataDir);
  for (let request = 0; request < 60; request++) await send("/pets", busy.key);
  const top = (...more: string[]) => runJsonInProcess(dataDir, ["usage", ...more]);
  const first = { name: busy.accountId, requests: 60, errors: 0, rejections: 0 };
  const [largest] = await eventually(top, ([account]) => account?.requests === 60);
  expect(largest).toEqual(first);
  expect((await top("--top", "keys"))[0]).toEqual({ ...first, name: busy.id });
  expect((await top("--top", "operations"))[0]).toMatchObject({ name: "listPets", rejections: 0 });
  const rejected = await top("--by", "rejections", "--days", "7");
  expect(rejected.map(({ name }: { name: string }) => name)).toEqual([refused.accountId]);
  expect(await top("--by", "errors")).toEqual([]);
  const byAddress = () => top("--top", "addresses", "--by", "rejections");
  expect((await eventually(byAddress, ({ length }) => length > 0))[0].name).toBe("127.0.0.1");
  expect(await top("--limit", "1")).toHaveLength(1);
  const { stdout } = await runInProcess(dataDir, ["usage", "--top", "keys"]);
  expect(stdout).toMatch(/^KEYS +REQUESTS +ERRORS +REJECTIONS$/m);
  for (const wrong of [
    ["--top", "pets"],
    ["--by", "fun"],
    ["--days", "31"],
    ["--limit", "0"],
  ]) {
    expect((await runInProcess(dataDir, ["usage", ...wrong])).status).toBe(2);
  }
});
