// A ban is seen where keys are listed: in the API, and by the command line, which is another process.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PostgresServer, postgresMissing } from "./harness/postgres-server.ts";
import { eventually, newDataDir, Program, runCommand, runJson } from "./harness/program.ts";
import { hasValkey, ValkeyServer } from "./harness/valkey-server.ts";
import { Bans } from "./torture/bans.ts";

interface ListedKey {
  readonly id: string;
  readonly ban?: { readonly reason: string; readonly endsAt: string } | null;
}

const least = ["--plan", "enterprise", "--per-minute", "1", "--per-day", "1000000"];

/** A service with an account that has a banned key and one that lists keys. */
async function startWithBan(settings: Record<string, string>) {
  const program = await Program.start(newDataDir(), settings);
  const command = (...words: string[]) => runJson(program.dataDir, words, settings);
  const account = await command("accounts", "create", "--name", "Corner shop", ...least);
  const issue = (scopes: string) => command("keys", "create", "--account", account.id, "--scopes", scopes);
  const [banned, admin] = [await issue("read"), await issue("admin")];
  await new Bans().provoke(program.base, banned.key);
  // Its keys share the minute, which is used up.
  await command("accounts", "set-plan", account.id, "--plan", "business");
  return { program, account: account.id as string, banned, admin };
}

/** Expects the ban in all lists. */
async function expectBan(settings: Record<string, string>): Promise<void> {
  const { program, account, banned, admin } = await startWithBan(settings);
  const headers = { Authorization: `Bearer ${admin.key}` };
  const answer = await eventually(
    () => fetch(`${program.base}/keys`, { headers }),
    ({ status }) => status === 200,
  );
  const shown = (await answer.json()) as ListedKey[];
  const ban = shown.find(({ id }) => id === banned.id)?.ban;
  expect(ban).toEqual({ reason: "It went on sending requests after a 429.", endsAt: expect.any(String) as string });
  expect(shown.find(({ id }) => id === admin.id)).not.toHaveProperty("ban");

  const words = ["keys", "list", "--account", account];
  const listed: ListedKey[] = await runJson(program.dataDir, words, settings);
  const endsAt = listed.find(({ id }) => id === banned.id)?.ban?.endsAt ?? "";
  expect(Math.abs(Date.parse(endsAt) - Date.parse(ban?.endsAt ?? ""))).toBeLessThanOrEqual(1_000); // two processes round
  expect(listed.find(({ id }) => id === admin.id)?.ban).toBeNull();
  const { stdout, stderr } = await runCommand(program.dataDir, words, settings);
  expect(stderr).toBe("");
  expect(stdout.split("\n").find((line) => line.startsWith(banned.id))).toContain(`  banned until ${endsAt}  never  `);
  expect(stdout.split("\n").find((line) => line.startsWith(admin.id))).toContain("  valid  ");
  await program.end();
}

test("a ban is listed on the embedded store", () => expectBan({}));

describe.skipIf(postgresMissing !== undefined)("on PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.remove());

  test("a ban is listed", async () => expectBan({ PETSTORE_DATABASE_URL: server.url(await server.newDatabase()) }));
});

describe("with Valkey", () => {
  test.skipIf(!hasValkey)("a ban is listed", async () => {
    const server = await ValkeyServer.start();
    await expectBan({ PETSTORE_VALKEY_URL: server.url });
    await server.stop();
  });

  test("keys are listed, without bans, while the server is away", async () => {
    const dataDir = newDataDir();
    const account = await runJson(dataDir, ["accounts", "create", "--name", "Corner shop", ...least]);
    await runJson(dataDir, ["keys", "create", "--account", account.id]);
    const away = { PETSTORE_VALKEY_URL: "redis://127.0.0.1:1" };
    const { status, stdout, stderr } = await runCommand(dataDir, ["keys", "list"], away);
    expect([status, stdout]).toEqual([0, expect.stringContaining("  valid  ") as string]);
    expect(stderr).toStartWith("Which keys are banned is not known: ");
    const asJson = await runCommand(dataDir, ["keys", "list", "--json"], away);
    expect(JSON.parse(asJson.stderr)).toEqual({ code: "bans_unknown", message: stderr.trimEnd() });
    expect((JSON.parse(asJson.stdout) as object[]).some((key) => "ban" in key)).toBe(false);
  });
});
