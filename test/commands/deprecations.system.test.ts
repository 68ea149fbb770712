import { afterAll, afterEach, beforeAll, expect, setSystemTime, test } from "bun:test";
import { runInProcess, runJsonInProcess } from "../harness/commands.ts";
import { eventually, newDataDir, Program } from "../harness/program.ts";

const dataDir = newDataDir();
const settings = { PETSTORE_ENV: "staging" };
let program: Program;
beforeAll(async () => {
  program = await Program.start(dataDir, settings);
});
afterAll(() => program.end());
afterEach(() => void setSystemTime());

const newKey = async (accountId: string, name: string) =>
  runJsonInProcess(dataDir, ["keys", "create", "--account", accountId, "--name", name], settings);
const get = (key: string, path: string) => fetch(program.base + path, { headers: { Authorization: `Bearer ${key}` } });
const report = () => runJsonInProcess(dataDir, ["usage", "--deprecated"], settings);

test("petstore usage --deprecated lists, alongside a running service, the keys that still call deprecated operations", async () => {
  const [{ operation, daysLeft, callers, ...rest }] = await report();
  expect([operation, callers]).toEqual(["getPet", []]);
  expect(rest).toEqual({
    method: "GET",
    path: "/pets/{petId}",
    since: "2026-11-21",
    removal: "2030-12-05",
    replacement: "listPets",
  });
  expect(Math.abs(daysLeft - (Date.UTC(2030, 11, 5) - Date.now()) / 86_400_000)).toBeLessThanOrEqual(1);
  expect((await runInProcess(dataDir, ["usage", "--deprecated"], settings)).stdout).toEndWith(
    "No key has called it in the last 30 days.\n",
  );

  const account = await runJsonInProcess(
    dataDir,
    ["accounts", "create", "--name", "Corner shop", "--plan", "pro"],
    settings,
  );
  const [till, van, modern] = [
    await newKey(account.id, "till"),
    await newKey(account.id, "van"),
    await newKey(account.id, "modern"),
  ];
  for (const key of [till.key, van.key, van.key]) await get(key, "/pets/1");
  await get(modern.key, "/pets?limit=1");
  const [told] = await eventually(report, ([{ callers: seen }]) => seen.length === 2 && seen[0].calls === 2);
  expect(told.callers).toEqual(
    [van, till].map(({ id, hint, name }, index) => ({
      accountId: account.id,
      accountName: "Corner shop",
      keyId: id,
      keyName: name,
      hint,
      calls: 2 - index,
      lastHour: expect.stringMatching(/^20.*:00:00.000Z$/),
    })),
  );
  expect(Date.now() - Date.parse(told.callers[0].lastHour)).toBeLessThan(3_600_000 + 60_000);
  const { stdout } = await runInProcess(dataDir, ["usage", "--deprecated"], settings);
  expect(stdout).toContain("Called in the last 30 days by:");
  expect(stdout).toContain(`${van.id}  ${van.hint}  van       2 `);
  expect(stdout).toContain(`${till.id}  ${till.hint}  till      1 `);
});

test.each([
  ["2030-12-03T12:00:00Z", "is removed on 2030-12-05, in 2 days."],
  ["2030-12-04T12:00:00Z", "is removed on 2030-12-05, in 1 day."],
  ["2030-12-05T00:00:00Z", "was removed on 2030-12-05."],
])("petstore usage --deprecated says at %s when the operation ends", async (now, words) => {
  setSystemTime(new Date(now));
  const { stdout } = await runInProcess(dataDir, ["usage", "--deprecated"], settings);
  expect(stdout).toContain(`getPet (GET /pets/{petId}) ${words}`);
});
