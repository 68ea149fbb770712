// A ban is seen where keys are listed: in the API, and by the command line, which is another process.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { DAY_MS, HOUR_MS } from "../../src/timing/clock.ts";
import { Bans } from "../harness/bans.ts";
import { Client } from "../harness/client.ts";
import { runInProcess, runJsonInProcess } from "../harness/commands.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { ask, askEach, endAll, startSeveral } from "../harness/processes.ts";
import { eventually, newDataDir, Program, serveSource } from "../harness/program.ts";
import { hasValkey, ValkeyServer } from "../harness/valkey-server.ts";

interface ListedKey {
  readonly id: string;
  readonly ban?: { readonly reason: string; readonly endsAt: string } | null;
}

const [bun = "", ...serve] = serveSource;
const withWrongClock = [bun, "--preload", join(import.meta.dir, "wrong-clock.ts"), ...serve];

const least = ["--plan", "enterprise", "--per-minute", "1", "--per-day", "1000000"];

/** A service with an account that has a banned key and one that lists keys and advances the clock. */
async function startWithBan(settings: Record<string, string>) {
  const program = await Program.start(newDataDir(), settings);
  const command = (...words: string[]) => runJsonInProcess(program.dataDir, words, settings);
  const account = await command("accounts", "create", "--name", "Corner shop", ...least);
  const issue = (scopes: string) => command("keys", "create", "--account", account.id, "--scopes", scopes);
  const [banned, admin] = [await issue("read"), await issue("write,admin")];
  await new Bans().provoke(program.base, banned.key);
  // Its keys share the minute, which is used up.
  await command("accounts", "set-plan", account.id, "--plan", "business");
  return { program, account: account.id as string, banned, admin };
}

/** Expects the ban in all lists. */
async function expectBan(settings: Record<string, string>): Promise<void> {
  const { program, account, banned, admin } = await startWithBan(settings);
  const headers = { Authorization: `Bearer ${admin.key}` };
  const response = await eventually(
    () => fetch(`${program.base}/keys`, { headers }),
    ({ status }) => status === 200,
  );
  const shown = (await response.json()) as ListedKey[];
  const ban = shown.find(({ id }) => id === banned.id)?.ban;
  expect(ban).toEqual({ reason: "It kept sending requests after a 429.", endsAt: expect.any(String) as string });
  expect(shown.find(({ id }) => id === admin.id)).not.toHaveProperty("ban");

  const words = ["keys", "list", "--account", account];
  const listed: ListedKey[] = await runJsonInProcess(program.dataDir, words, settings);
  const endsAt = listed.find(({ id }) => id === banned.id)?.ban?.endsAt ?? "";
  expect(endsAt).toBe(ban?.endsAt ?? "");
  expect(listed.find(({ id }) => id === admin.id)?.ban).toBeNull();
  const { stdout, stderr } = await runInProcess(program.dataDir, words, settings);
  expect(stderr).toBe("");
  expect(stdout.split("\n").find((line) => line.startsWith(banned.id))).toContain(`  banned until ${endsAt}  never  `);
  expect(stdout.split("\n").find((line) => line.startsWith(admin.id))).toContain("  valid  ");
  await program.end();
}

/** Expects that a ban is listed by `keys list --banned`, and that `bans lift` ends it in all of `processes` processes. */
async function expectLift(settings: Record<string, string>, processes = 1) {
  const { program, account, banned } = await startWithBan(settings);
  const programs = [program, ...(await startSeveral(processes - 1, settings))];
  const command = (...words: string[]) => runInProcess(program.dataDir, words, settings);
  const statuses = async () => (await askEach(programs, banned.key)).map(({ status }) => status);
  await eventually(statuses, (all) => all.includes(429));

  const [row, ...others] = await runJsonInProcess(program.dataDir, ["keys", "list", "--banned"], settings);
  expect([row.id, row.accountId, others]).toEqual([banned.id, account, []]);
  expect((await command("keys", "list", "--banned")).stdout).toContain(`  banned until ${row.ban.endsAt}  `);
  const other = await runJsonInProcess(
    program.dataDir,
    ["accounts", "create", "--name", "Other shop", ...least],
    settings,
  );
  expect((await command("keys", "list", "--banned", "--account", other.id)).stdout).toBe("There are no such keys.\n");

  const { stdout } = await command("bans", "lift", banned.id);
  expect(stdout).toStartWith(`The ban of key ${banned.id} (`);
  await eventually(statuses, (all) => all.every((status) => status === 200));
  expect(Date.now()).toBeLessThan(Date.parse(row.ban.endsAt)); // it was lifted, and has not ended by itself
  expect(await runJsonInProcess(program.dataDir, ["keys", "list", "--banned"], settings)).toEqual([]);
  const again = await command("bans", "lift", banned.id);
  expect([again.status, again.stderr]).toEqual([1, `The key ${banned.id} is not banned.\n`]);
  expect((await command("bans", "lift", "key_0")).stderr).toBe("There is no key key_0.\n");
  return { programs, key: banned.key as string, endsAt: Date.parse(row.ban.endsAt) };
}

test("a ban is listed on the embedded store", () => expectBan({}));

test("a ban survives a kill of the service right after it was announced", async () => {
  const { program, banned } = await startWithBan({});
  const bans = new Bans();
  await bans.provoke(program.base, banned.key);
  await program.end("SIGKILL");
  const restarted = await Program.start(program.dataDir);
  await bans.check(restarted.base);
  expect([bans.count, bans.violations]).toEqual([1, []]);
  await restarted.end();
});

test.each([
  ["an hour ahead", HOUR_MS, undefined],
  ["a year ahead", 365 * DAY_MS, undefined],
  ["an hour behind", -HOUR_MS, undefined],
  ["five seconds behind", -5_000, "key_banned"],
])(
  "a killed service starts again with its clock %s: a ban that ends later than it can is over",
  async (_, by, code) => {
    const { program, banned } = await startWithBan({});
    const end = async ({ base }: Program) => {
      const response = await ask(base, banned.key);
      const { code: found } = (await response.json()) as { code?: string };
      return { code: found, reset: response.headers.get("x-ratelimit-reset") };
    };
    const before = await end(program);
    expect(before.code).toBe("key_banned");
    await program.end("SIGKILL");
    const restarted = await Program.start(program.dataDir, { TEST_CLOCK_ERROR: String(by) }, withWrongClock);
    const after = await end(restarted);
    expect(after.code).toBe(code);
    if (code !== undefined) expect(after.reset).toBe(before.reset);
    await restarted.end();
  },
);

test("a ban is lifted on the embedded store, and stays lifted after a restart", async () => {
  const { programs } = await expectLift({});
  const { dataDir } = programs[0] as Program;
  expect(await endAll(programs)).toEqual([0]);
  const restarted = await Program.start(dataDir);
  expect(await runJsonInProcess(dataDir, ["keys", "list", "--banned"])).toEqual([]);
  await restarted.end();
});

describe.skipIf(postgresMissing !== undefined)("on PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.remove());

  test("a ban is listed", async () => expectBan({ PETSTORE_DATABASE_URL: server.url(await server.newDatabase()) }));

  test("a ban of one of two processes with separate counts is lifted", async () => {
    const { programs } = await expectLift({ PETSTORE_DATABASE_URL: server.url(await server.newDatabase()) }, 2);
    expect(await endAll(programs)).toEqual([0, 0]);
  });

  test("a ban of one of two processes with separate counts ends by a fast-forward at the other", async () => {
    const settings = { PETSTORE_DATABASE_URL: server.url(await server.newDatabase()) };
    const { program, banned, admin } = await startWithBan(settings);
    const other = await Program.start(newDataDir(), settings);
    const pets = () => new Client(program.base, banned.key).call("GET", "/pets");
    const endsAt = Number((await pets()).headers.get("x-ratelimit-reset"));
    const otherPets = () => new Client(other.base, banned.key).call("GET", "/pets");
    await eventually(otherPets, ({ text = "" }) => text.includes('"key_banned"'));
    const client = new Client(other.base, admin.key);
    expect((await client.call("POST", "/sandbox/fast-forward", '{"seconds":60}')).status).toBe(200);
    await eventually(pets, ({ status }) => status === 200);
    expect(Date.now() / 1000).toBeLessThan(endsAt); // in real time, it would still hold
    await Promise.all([program.end(), other.end()]);
  });

  test.skipIf(!hasValkey)("a ban survives the loss of Valkey's data and a kill of the service", async () => {
    const valkey = await ValkeyServer.start();
    const settings = {
      PETSTORE_DATABASE_URL: server.url(await server.newDatabase()),
      PETSTORE_VALKEY_URL: valkey.url,
    };
    const { program, banned } = await startWithBan(settings);
    const bans = new Bans();
    await bans.provoke(program.base, banned.key);
    await valkey.command("FLUSHALL");
    await bans.check(program.base);
    await program.end("SIGKILL");
    await valkey.kill();
    await valkey.restart();
    const programs = await startSeveral(2, settings);
    for (const { base } of programs) await bans.check(base);
    expect([bans.count, bans.violations]).toEqual([1, []]);
    await endAll(programs);
    await valkey.stop();
  });

  test.skipIf(!hasValkey)("a ban shared in Valkey is lifted, also while Valkey is unreachable", async () => {
    const valkey = await ValkeyServer.start();
    const settings = {
      PETSTORE_DATABASE_URL: server.url(await server.newDatabase()),
      PETSTORE_VALKEY_URL: valkey.url,
    };
    const { programs, key, endsAt } = await expectLift(settings, 2);
    await valkey.kill();
    for (const program of programs) await program.until(() => program.output.includes("limits_not_shared"));
    // A process that counts alone notices within a second that a ban was lifted.
    await eventually(async () => (await askEach(programs, key)).every(({ status }) => status === 200));
    expect(Date.now()).toBeLessThan(endsAt);
    expect(await endAll(programs)).toEqual([0, 0]);
    await valkey.stop();
  });
});

test.skipIf(!hasValkey)("a ban is listed and lifted also while Valkey is unreachable", async () => {
  const settings = { PETSTORE_VALKEY_URL: "redis://127.0.0.1:1" };
  await expectBan(settings);
  const { programs } = await expectLift(settings);
  await endAll(programs);
});
