// `petstore adopt`: a copy of a production store becomes one that staging can use, and nothing else makes it so.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { newDataDir, Program, runCommand, runJson } from "../harness/program.ts";

const secretKey = {
  PETSTORE_SECRET_KEY: Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString("base64"),
};
const production = { PETSTORE_ENV: "production", ...secretKey };
const staging = { PETSTORE_ENV: "staging", ...secretKey };
const adopt = ["adopt", "--yes"];

/** Where a store is, or can be made. */
interface Place {
  readonly dataDir: string;
  readonly settings: Record<string, string>;
}

/** A store of production with a live and a test key, and a copy of it. */
async function newCopy(newPlace: () => Promise<Place>, copyOf: (place: Place) => Promise<Place>) {
  const { dataDir, settings } = await newPlace();
  const environment = { ...settings, ...production };
  const { id } = await runJson(dataDir, ["accounts", "create", "--name", "x", "--plan", "pro"], environment);
  const newKey = async (mode: string, scopes = "read,write") =>
    (await runJson(dataDir, ["keys", "create", "--account", id, "--mode", mode, "--scopes", scopes], environment))
      .key as string;
  const [live, sandbox, admin] = [await newKey("live"), await newKey("test"), await newKey("test", "admin,read")];
  const program = await Program.start(dataDir, environment);
  await fetch(`${program.base}/webhook-endpoints`, {
    method: "POST",
    headers: { Authorization: `Bearer ${admin}`, "Content-Type": "application/json" },
    body: JSON.stringify({ url: "https://example.org/hook" }),
  });
  await program.end();
  const endpointStates = async ({ base }: Program) => {
    const listed = await fetch(`${base}/webhook-endpoints`, { headers: { Authorization: `Bearer ${admin}` } });
    return ((await listed.json()) as { state: string }[]).map(({ state }) => state);
  };
  return { original: { dataDir, settings }, copy: await copyOf({ dataDir, settings }), live, sandbox, endpointStates };
}

const statusOf = async ({ base }: Program, key: string) =>
  (await fetch(`${base}/pets`, { headers: { Authorization: `Bearer ${key}` } })).status;

function adopting(newPlace: () => Promise<Place>, copyOf: (place: Place) => Promise<Place>): void {
  test("removes live keys, keeps test keys, and makes production refuse the copy", async () => {
    const { original, copy, live, sandbox, endpointStates } = await newCopy(newPlace, copyOf);
    const run = (words: string[], more: Record<string, string>) =>
      runCommand(copy.dataDir, words, { ...copy.settings, ...more });
    expect((await run(["serve"], staging)).stderr).toContain("adopt --help");
    const { status, stdout, stderr } = await run(adopt, staging);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("1 live key was removed.");
    expect(stdout).toContain("1 webhook endpoint was paused.");

    const program = await Program.start(copy.dataDir, { ...copy.settings, ...staging });
    expect([await statusOf(program, live), await statusOf(program, sandbox)]).toEqual([401, 200]);
    expect(await endpointStates(program)).toEqual(["paused"]);
    await program.end();
    expect((await run(["serve"], production)).stderr).toContain("belongs to development or staging");

    const service = await Program.start(original.dataDir, { ...original.settings, ...production });
    expect([await statusOf(service, live), await statusOf(service, sandbox)]).toEqual([200, 200]);
    expect(await endpointStates(service)).toEqual(["enabled"]);
    await service.end();
  });

  test("changes nothing while a service has the store open", async () => {
    const { copy, live } = await newCopy(newPlace, copyOf);
    const program = await Program.start(copy.dataDir, { ...copy.settings, ...production });
    const { status, stderr } = await runCommand(copy.dataDir, adopt, { ...copy.settings, ...staging });
    expect([status, stderr]).toEqual([1, expect.stringContaining("is in use")]);
    expect(await statusOf(program, live)).toBe(200);
    await program.end();
  });

  test("says that there is no store before it asks", async () => {
    const { dataDir, settings } = await newPlace();
    const { status, stderr } = await runCommand(dataDir, ["adopt"], { ...settings, ...staging });
    expect([status, stderr]).toEqual([1, expect.stringContaining("There is no store")]);
  });

  test("refuses production, no environment, a store of another one, and a missing --yes without a terminal", async () => {
    const { copy, live } = await newCopy(newPlace, copyOf);
    const run = (words: string[], more: Record<string, string>) =>
      runCommand(copy.dataDir, words, { ...copy.settings, ...more });
    const refused = async (words: string[], more: Record<string, string>) => {
      const { status, stdout, stderr } = await run(words, more);
      expect([status === 0, stdout]).toEqual([false, ""]);
      return stderr;
    };
    for (const settings of [production, {}])
      expect(await refused(adopt, settings)).toContain("Set PETSTORE_ENV to the environment of the copy");
    expect(await refused(["adopt"], staging)).toContain("This removes all live keys from the store at");
    const program = await Program.start(copy.dataDir, { ...copy.settings, ...production });
    expect(await statusOf(program, live)).toBe(200);
    await program.end();
    expect((await run(adopt, staging)).status).toBe(0);
    expect(await refused(adopt, staging)).toContain("does not belong to production");
  });
}

const newFolder = async () => ({ dataDir: newDataDir(), settings: {} });

describe("adopt of an embedded store", () => {
  const copyOf = async ({ dataDir }: Place) => {
    const place = await newFolder();
    await runJson(dataDir, ["backups", "take", "--file", join(place.dataDir, "petstore.db")]);
    return place;
  };
  adopting(newFolder, copyOf);

  test("fails for a store that does not exist, and creates none", async () => {
    const dataDir = join(newDataDir(), "mistyped");
    const { status, stderr } = await runCommand(dataDir, adopt, staging);
    expect([status, stderr]).toEqual([1, expect.stringContaining("There is no store at")]);
    expect(existsSync(dataDir)).toBe(false);
  });

  test.each([
    ["yes", 0, "1 live key was removed."],
    ["no", 1, "Nothing was done."],
    ["", 1, "Nothing was done."],
  ])("asks at the terminal: the answer %j ends with status %d", async (answer, status, expected) => {
    const { copy } = await newCopy(newFolder, copyOf);
    let shown = "";
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "../../src/main.ts"), "adopt"], {
      env: { ...process.env, PETSTORE_DATA_DIR: copy.dataDir, ...staging },
      terminal: {
        cols: 80,
        rows: 24,
        data: (terminal, bytes) => {
          const before = shown;
          shown += new TextDecoder().decode(bytes);
          const question = "Type yes to do it: ";
          if (shown.includes(question) && !before.includes(question)) terminal.write(`${answer}\r`);
        },
      },
    });
    expect([await child.exited, shown]).toEqual([status, expect.stringContaining(expected)]);
  });
});

describe.skipIf(postgresMissing !== undefined)("adopt of a store in PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.remove());
  const placeIn = (database: string) => ({
    dataDir: newDataDir(),
    settings: { PETSTORE_DATABASE_URL: server.url(database) },
  });
  adopting(
    async () => placeIn(await server.newDatabase()),
    async ({ settings }) =>
      placeIn(await server.newDatabase(new URL(settings["PETSTORE_DATABASE_URL"] ?? "").pathname.slice(1))),
  );
});
