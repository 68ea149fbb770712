// `petstore events` next to a running service.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { contextOf } from "../../../test/harness/commands.ts";
import { numbers } from "../../../test/harness/numbers.ts";
import { eventually } from "../../../test/harness/program.ts";
import { TestService } from "../../../test/harness/service.ts";
import { run } from "../../cli/run.ts";
import { SCAN_LIMIT } from "../../storage/pages.ts";

let service: TestService;
let key: string;
let accountId: string;
beforeAll(async () => {
  service = await TestService.start();
  const { account, key: own } = await service.newAccountWithKey("enterprise");
  [key, accountId] = [own, account.id];
  const shop = await service.shop(accountId);
  // Events of the key itself are not shown here.
  await service.store.run(
    `DELETE FROM events WHERE shop = ${shop}; UPDATE shops SET last_event_id = 0 WHERE shop = ${shop};`,
  );
  for (let count = 0; count < 3; count++) await add();
  await service.call("PATCH", "/pets/1", { key, body: { status: "sold" } });
});
afterAll(() => service.stop());

const add = () => service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 } });

/** Runs the command with these arguments. `output` is what it has written so far. */
function events(words: string, stop = new AbortController()) {
  const { context, output } = contextOf(service.store.folder, service.store.settings, stop);
  return { output, stop, ended: run(["events", "--account", accountId, ...words.split(" ").filter(Boolean)], context) };
}

const at = () => new Date(service.clock.now()).toISOString();

test("prints the newest events, the oldest of them first", async () => {
  const { output, ended } = events("--last 2");
  expect([await ended, output.stderr]).toEqual([0, ""]);
  const { id } = (await service.app.keys.list()).at(-1) ?? {};
  expect(output.stdout.trimEnd().split("\n")).toEqual([
    `ID  AT                        TYPE         SUBJECT  ACTOR`,
    `3   ${at()}  pet.created  pet 3    ${id}`,
    `4   ${at()}  pet.updated  pet 1    ${id}`,
  ]);
});

test("prints those of some types, as JSON", async () => {
  const { output, ended } = events("--type pet.updated,order.placed --json");
  expect(await ended).toBe(0);
  const { json } = await service.call("GET", "/events?type=pet.updated", { key });
  expect(JSON.parse(output.stdout)).toEqual(json);
});

test.each([
  ["--type pet.flown", "No event has the type pet.flown."],
  ["--last 0", "--last must be a whole number from 1 to 1000."],
  ["--last 1001", "--last must be a whole number from 1 to 1000."],
])("refuses %s", async (words, message) => {
  const { output, ended } = events(words);
  expect([await ended, output.stdout]).toEqual([2, ""]);
  expect(output.stderr).toContain(message);
});

test("--follow prints events as they happen, until it is stopped", async () => {
  const { output, stop, ended } = events("--follow --last 1 --json");
  const lines = () => output.stdout.split("\n").filter(Boolean);
  await eventually(() => lines().length === 1);
  await add();
  await add();
  await eventually(() => lines().length === 3);
  stop.abort();
  expect([await ended, output.stderr]).toEqual([0, ""]);
  const { json } = await service.call("GET", "/events?after=3", { key });
  expect(lines().map((line) => JSON.parse(line))).toEqual(json);
});

test("--follow without an earlier event also prints one that happens while it starts", async () => {
  const stop = new AbortController();
  const { context, output } = contextOf(service.store.folder, service.store.settings, stop);
  const words = ["events", "--account", accountId, "--follow", "--type", "pet.deleted", "--json"];
  let isFirst = true;
  const ended = run(words, {
    ...context,
    output: async (text) => {
      if (isFirst) await service.call("DELETE", "/pets/3", { key });
      else await context.output(text);
      isFirst = false;
    },
  });
  await eventually(() => output.stdout !== "");
  stop.abort();
  expect(await ended).toBe(0);
  expect(JSON.parse(output.stdout)).toMatchObject({ type: "pet.deleted", subject: { id: "3" } });
});

test("--follow keeps few events in memory while the output is full, and then writes each once", async () => {
  const { account } = await service.newAccountWithKey("enterprise");
  const shop = await service.shop(account.id);
  const words = ["events", "--account", account.id, "--follow", "--type", "pet.created", "--json"];
  const stop = new AbortController();
  const full = Promise.withResolvers<void>();
  let isFull = false;
  const follow = (isSlow: boolean) => {
    const { context, output } = contextOf(service.store.folder, service.store.settings, stop);
    const take = async (text: string) => {
      if (isSlow && isFull) await full.promise;
      await context.output(text);
    };
    const ids = () => output.stdout.split("\n").flatMap((line) => (line ? [Number(JSON.parse(line).id)] : []));
    return { ids, ended: run(words, { ...context, output: take }) };
  };
  const [slow, fast] = [follow(true), follow(false)];
  let last = 1;
  const addUpTo = async (upTo: number, followers: readonly (typeof slow)[]) => {
    await addEvents(shop, upTo, last + 1);
    last = upTo;
    for (const { ids } of followers) await eventually(() => ids().at(-1) === upTo);
  };
  for (const upTo of [10, 20]) await addUpTo(upTo, [slow, fast]); // after this, both follow
  isFull = true;
  // Both read in turn, so when the fast one has the last, the slow one has read the first 3,000.
  for (const upTo of [3_000, 3_010]) await addUpTo(upTo, [fast]);
  await service.store.run(`DELETE FROM events WHERE shop = ${shop} AND id > 2000 AND id <= 2500`);
  full.resolve();
  await eventually(() => slow.ids().at(-1) === last);
  expect(slow.ids()).toEqual(fast.ids().filter((id) => id <= 2_000 || id > 2_500));
  stop.abort();
  expect([await slow.ended, await fast.ended]).toEqual([0, 0]);
});

test("finds events before thousands of another type", async () => {
  await addMoreThanOneScan();
  const { output, ended } = events("--type pet.deleted --json");
  expect(await ended).toBe(0);
  expect(JSON.parse(output.stdout)).toMatchObject([{ type: "pet.deleted", subject: { id: "3" } }]);
});

test("--follow ends when the sandbox is reset", async () => {
  const { output, ended } = events("--follow --last 1");
  await eventually(() => output.stdout !== "");
  expect((await service.call("POST", "/sandbox/reset", { key, body: { animals: "none" } })).status).toBe(200);
  expect(await ended).toBe(1);
  expect(output.stderr).toContain("Run the command again.");
});

/** Adds more events to the log than one statement scans. */
async function addMoreThanOneScan(): Promise<void> {
  const [{ id: last }] = (await service.call("GET", "/events?sort=-id&limit=1", { key })).json;
  await addEvents(await service.shop(accountId), last + SCAN_LIMIT + 1, last + 1);
}

/** Adds events with the ids from `first` to `last`. */
async function addEvents(shop: number, last: number, first: number): Promise<void> {
  await service.store.run(`
    ${numbers(last, first)}
    INSERT INTO events (shop, id, at, type, under, actor, data) SELECT ${shop}, n, ${service.clock.now()}, 'pet.created', 1, 'system', '{"id":1,"name":"Rex","categoryId":1}' FROM numbers;
    UPDATE shops SET last_event_id = ${last} WHERE shop = ${shop};`);
}
