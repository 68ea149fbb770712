// `petstore migrate-store`: the service before and after it, and what is in the way of it, with real servers.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../../src/app/schema.ts";
import { openStorage } from "../../src/app/store/engines.ts";
import { readConfig } from "../../src/config.ts";
import { scopes } from "../../src/contract/caller.ts";
import { moveTables } from "../../src/storage/move-tables.ts";
import { type PostgresAddress, parsePostgresAddress } from "../../src/storage/postgres/address.ts";
import { PostgresTarget } from "../../src/storage/postgres/postgres-target.ts";
import { openDatabase } from "../../src/storage/sqlite/database.ts";
import { SqliteSource } from "../../src/storage/sqlite/sqlite-source.ts";
import { DatabaseProxy } from "../harness/database-proxy.ts";
import { fillEmptyTables } from "../harness/fill-tables.ts";
import { newKeyIn } from "../harness/keys.ts";
import { numbers } from "../harness/numbers.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { eventually, newDataDir, Program, programCommand, runCommand, runJson } from "../harness/program.ts";
import { toyTable } from "../harness/toys.ts";
import { secretKey } from "../harness/webhook-service.ts";

interface ParsedResponse {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects of it
  readonly json: any;
}

/** Asks a service. */
async function call(base: string, key: string, method: string, path: string, body?: unknown, headers = {}) {
  const response = await fetch(base + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, ...(body ? { "Content-Type": "application/json" } : {}), ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text && JSON.parse(text) } as ParsedResponse;
}

/** Animals with values that are hard to keep, and the ids of a deleted animal and shop, which must not be given again. */
const more = `
  INSERT INTO pets (shop, id, name, category_id, status, added_at)
    VALUES (2, 9007199254740993, '"Ñandú" \\ 🐕', -9223372036854775808, NULL, 0);
  UPDATE shops SET last_pet_id = 9007199254740999;
  UPDATE sqlite_sequence SET seq = 9007199254740000 WHERE name = 'shops';
`;

/** A table that a later release may add, besides that of the toys. */
const visits = (integer: string, end: string) =>
  `CREATE TABLE visits (id ${integer} PRIMARY KEY, pet_id ${integer} NOT NULL, name TEXT NOT NULL,
     kind TEXT NOT NULL CHECK (kind IN ('bath', 'trim'))) ${end};`;

describe.skipIf(postgresMissing !== undefined)("migrate-store", () => {
  let server: PostgresServer;
  let dataDir: string;
  let key: string;
  const inSource = <T>(work: (database: Database) => T): T => {
    const database = new Database(join(dataDir, "petstore.db"));
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  /** A copy of the source: a store that was moved is refused from then on. */
  const copy = () => {
    const folder = newDataDir();
    cpSync(dataDir, folder, { recursive: true });
    return folder;
  };
  const move = (database: string, folder = copy()) => ["migrate-store", "--from", folder, "--to", server.url(database)];
  const shown = (database: string) => parsePostgresAddress(server.url(database))?.shown as string;
  /** What clients see. */
  const look = async (base: string) => {
    const paths = ["/pets?limit=100", "/events?petId=1", "/categories", "/store/orders", "/keys", "/me"];
    const responses = await Promise.all(paths.map((path) => call(base, key, "GET", path)));
    return responses.map(({ status, json }) => [
      status,
      JSON.stringify(json).replaceAll(/"lastUsedAt":"[^"]*",?/g, ""),
    ]);
  };
  const orderAgain = (base: string) =>
    call(base, key, "POST", "/store/orders", { petId: 2 }, { "Idempotency-Key": "order-1" });

  let before: Awaited<ReturnType<typeof look>>;
  let order: ParsedResponse;
  beforeAll(async () => {
    server = await PostgresServer.start();
    dataDir = newDataDir();
    ({ key } = await newKeyIn(dataDir, { plan: "business", scopes }));
    const service = await Program.start(dataDir);
    const { base } = service;
    await call(base, key, "POST", "/categories", { name: "Dogs" });
    await call(base, key, "POST", "/categories", { name: "Cats" });
    await call(base, key, "DELETE", "/categories/2");
    for (let pet = 1; pet <= 3; pet++) {
      await call(base, key, "POST", "/pets", { name: `Pet ${pet}`, categoryId: 1, status: "available" });
    }
    await call(base, key, "PATCH", "/pets/1", { name: "Rex", status: "pending" });
    order = await orderAgain(base);
    await service.end();
    inSource((database) => {
      database.run(more);
      fillEmptyTables(database); // what the service fills only with time, and tables that are new
      // A service does not start without the key of an enabled endpoint, and reads the health of all.
      const health = JSON.stringify({ hours: [], failingSince: null, retriesAt: null, lastFailure: null });
      database.run("UPDATE webhook_endpoints SET state = 'paused', health = ?, secrets = '[]'", [health]);
    });
    const again = await Program.start(dataDir);
    before = await look(again.base);
    await again.end();
  });
  afterAll(() => server.remove());

  test("copies every table, and the service continues on the copy", async () => {
    const database = await server.newDatabase();
    const report = await runJson(dataDir, move(database));
    const counts = inSource((source) => {
      const tables = source
        .query<{ name: string }, []>(
          "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'petstore_steps'",
        )
        .all();
      return Object.fromEntries(
        tables.map(({ name }) => [
          name,
          source.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${name}`).get()?.rows ?? 0,
        ]),
      );
    });
    expect(report).toMatchObject({ to: shown(database), wasThere: false, tables: counts });
    // Nothing is proved of a table without rows.
    expect(Object.entries(counts).filter(([, rows]) => rows === 0)).toEqual([]);

    const service = await Program.start(newDataDir(), { PETSTORE_DATABASE_URL: server.url(database) });
    expect(await look(service.base)).toEqual(before);
    const again = await orderAgain(service.base);
    expect([again.json, again.headers.get("idempotent-replayed")]).toEqual([order.json, "true"]);
    const { headers } = await call(service.base, key, "POST", "/pets", { name: "New", categoryId: 1 });
    expect(headers.get("location")).toEndWith("/pets/9007199254741000");
    const next = await call(service.base, key, "POST", "/store/orders", { petId: 3 });
    expect(next.json.id).toBe(order.json.id + 1);
    expect((await call(service.base, key, "POST", "/categories", { name: "Birds" })).json.id).toBe(3);
    expect((await call(service.base, key, "POST", "/sandbox/reset", { animals: "none" })).status).toBe(200);
    await service.end();
    const settings = { PETSTORE_DATABASE_URL: server.url(database) };
    await runJson(newDataDir(), ["accounts", "create", "--name", "y", "--plan", "free"], settings);
    const firstNew = "SELECT min(shop) AS shop FROM shops WHERE shop > 2";
    expect(await server.run(firstNew, database)).toEqual([{ shop: 9_007_199_254_740_001n }]);
  });

  test("succeeds again without changes, and refuses a target with other data", async () => {
    const database = await server.newDatabase();
    const folder = copy();
    expect(await runJson(folder, move(database, folder))).toMatchObject({ wasThere: false });
    rmSync(join(folder, "petstore.db.moved"));
    expect(await runJson(folder, move(database, folder))).toMatchObject({ wasThere: true, rows: 0 });
    expect(existsSync(join(folder, "petstore.db.moved"))).toBe(true);
    const otherData = [
      "UPDATE pets SET name = 'Other' WHERE id = 2",
      "UPDATE pets SET name = 'Pet 2' WHERE id = 2; SELECT setval('shops_shop_seq', 2)", // a number is given again
    ];
    for (const sql of otherData) {
      await server.run(sql, database);
      const { status, stderr } = await runCommand(dataDir, move(database));
      const message = `${shown(database)} has other data: a store is moved to an empty database.\n`;
      expect([sql, status, stderr]).toEqual([sql, 1, message]);
    }
  });

  test("leaves a store on which the service and all commands refuse to run, and name the new store without its password", async () => {
    const database = await server.newDatabase();
    const folder = copy();
    const address = server.url(database).replace("petstore@", "petstore:a-password@");
    await runJson(folder, ["migrate-store", "--from", folder, "--to", address]);
    const mark = join(folder, "petstore.db.moved");
    const reason = `The store at ${join(folder, "petstore.db")} was moved to ${readFileSync(mark, "utf8").trim()}. `;
    expect(reason).toContain(` was moved to ${shown(database)} on 20`);
    expect(reason).not.toContain("a-password");
    const commands = [
      ["serve"],
      ["accounts", "list"],
      ["keys", "list"],
      ["backups", "take", "--file", join(folder, "backup.db")],
      ["export", join(folder, "animals.jsonl")],
      move(database, folder),
      move(await server.newDatabase(), folder),
    ];
    for (const words of commands) {
      const { status, stderr } = await runCommand(folder, words);
      expect([words[0], status, stderr]).toEqual([words[0], 1, expect.stringContaining(reason)]);
    }
    rmSync(mark); // as the reason says
    const service = await Program.start(folder);
    expect(await look(service.base)).toEqual(before);
    await service.end();
  });

  test("leaves a store that the service refuses, also if it was named by a link", async () => {
    const folder = copy();
    const linked = newDataDir();
    symlinkSync(join(folder, "petstore.db"), join(linked, "petstore.db"));
    await runJson(folder, move(await server.newDatabase(), join(linked, "petstore.db")));
    for (const dataFolder of [folder, linked]) {
      const { status, stderr } = await runCommand(dataFolder, ["serve"]);
      expect([status, stderr]).toEqual([1, expect.stringContaining(" was moved to postgres://")]);
    }
  });

  test("reports a store that it cannot mark as migrated, and marks it when run again", async () => {
    const database = await server.newDatabase();
    const folder = copy();
    const mark = join(folder, "petstore.db.moved");
    mkdirSync(`${mark}.unfinished`);
    const { status, stderr } = await runCommand(folder, move(database, folder));
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(`All was moved to ${shown(database)}, but ${mark} cannot be written: `),
    ]);
    rmdirSync(`${mark}.unfinished`);
    const again = await runCommand(folder, [...move(database, folder), "--json"]);
    expect([again.status, JSON.parse(again.stdout)]).toMatchObject([0, { wasThere: true, rows: 0, tables: {} }]);
    expect(JSON.parse(again.stderr)).toMatchObject({ code: "secret_key_missing" });
    expect(existsSync(mark)).toBe(true);
  });

  test("copies tables that a later release adds", async () => {
    const visitTable = { name: "visits", sqlite: visits("INTEGER", "STRICT"), postgres: visits("BIGINT", "") };
    const later = [...migrations, toyTable, visitTable];
    const database = await server.newDatabase();
    const file = join(copy(), "petstore.db");
    const filled = openDatabase(file, 1, later);
    fillEmptyTables(filled);
    filled.close();
    const source = SqliteSource.open(file, later);
    const target = await PostgresTarget.open(parsePostgresAddress(server.url(database)) as PostgresAddress, later);
    const emptyStore = SqliteSource.newInMemory(later);
    const options = { emptyStore, stop: new AbortController().signal, onProgress: () => {} };
    expect((await moveTables(source, target, options)).tables).toMatchObject({ toys: 1, visits: 1 });
    for (const store of [source, target, emptyStore]) store.close();
    const large = 9_007_199_254_740_994n;
    const name = '"Ñandú" \\ 🐕 1';
    expect(await server.run("SELECT * FROM toys", database)).toEqual([{ id: large, name }]);
    expect(await server.run("SELECT * FROM visits", database)).toEqual([
      { id: large, pet_id: large, name, kind: "bath" },
    ]);
  });

  test("refuses a store that a service has open, even if the service writes nothing", async () => {
    const database = await server.newDatabase();
    const service = await Program.start(dataDir);
    const { status, stderr } = await runCommand(dataDir, move(database, dataDir));
    expect([status, stderr]).toEqual([1, expect.stringContaining("is in use. Stop its service first")]);
    await service.end();
    expect(existsSync(join(dataDir, "petstore.db.moved"))).toBe(false);
  });

  test("leaves nothing if it is killed, and succeeds when run again", async () => {
    const large = newDataDir();
    await runJson(large, ["accounts", "create", "--name", "x", "--plan", "business"]);
    const source = new Database(join(large, "petstore.db"));
    source.run(`
      ${numbers(50_000)}
      INSERT INTO pets (shop, id, name, category_id, status, added_at) SELECT 1, n, 'Pet ' || n, n % 7, 'available', 0 FROM numbers
    `);
    source.close();
    const database = await server.newDatabase();
    await (await openStorage(readConfig({ PETSTORE_DATABASE_URL: server.url(database) }))).close(); // makes the tables
    // Half of the animals are moved by the time of the kill: the others wait for a lock.
    await server.run(
      `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql
         AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END';
       CREATE TRIGGER half BEFORE INSERT ON pets FOR EACH ROW WHEN (NEW.id = 25000) EXECUTE FUNCTION wait()`,
      database,
    );
    const pool = new Bun.SQL({ url: server.url(database), max: 1 });
    const holder = await pool.reserve();
    await holder`SELECT pg_advisory_lock(1)`;
    const words = ["migrate-store", "--from", large, "--to", server.url(database)];
    const child = Bun.spawn([...programCommand, ...words], { stdout: "pipe", stderr: "pipe" });
    const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await eventually(async () => (await server.run(waiting, database)).length > 0 || child.exitCode !== null);
    child.kill("SIGKILL");
    expect(await child.exited).toBe(137);
    await holder`SELECT pg_advisory_unlock(1)`;
    await pool.close({ timeout: 0 });
    expect(existsSync(join(large, "petstore.db.moved"))).toBe(false);
    expect(await server.run("SELECT count(*) AS pets FROM pets", database)).toEqual([{ pets: 0n }]);
    const { tables, rows, seconds } = await runJson(large, words);
    expect(tables.pets).toBe(50_000);
    if (process.env["TORTURE"]) console.log(`${rows} rows in ${seconds} s`);
  });

  test("warns that the new store needs the secret key of its webhook endpoints", async () => {
    const { status, stderr } = await runCommand(newDataDir(), move(await server.newDatabase()));
    expect([status, stderr]).toEqual([0, expect.stringContaining("has 1 webhook endpoint. Before the start, set")]);
    const withKey = await runCommand(newDataDir(), move(await server.newDatabase()), {
      PETSTORE_SECRET_KEY: secretKey,
    });
    expect([withKey.status, withKey.stderr]).toEqual([0, ""]);
  });

  test("names a database that it cannot open", async () => {
    const { status, stderr } = await runCommand(dataDir, move("nowhere"));
    expect([status, stderr]).toEqual([
      1,
      `The store in ${shown("nowhere")} cannot be opened: database "nowhere" does not exist.\n`,
    ]);
  });

  test("reports an unknown commit; a second run resolves it", async () => {
    const database = await server.newDatabase();
    await (await openStorage(readConfig({ PETSTORE_DATABASE_URL: server.url(database) }))).close(); // commits as well
    const proxy = await DatabaseProxy.start(server.port);
    const folder = copy();
    const words = move(database, folder).map((word) => word.replace(String(server.port), String(proxy.port)));
    proxy.cutBefore = "COMMIT\0";
    const { status, stdout, stderr } = await runCommand(dataDir, words);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      "The answer of the database to the commit was lost: either all was moved, or nothing. Run the same command " +
        "again: it says which, and moves what was not.\n",
    );
    expect(existsSync(join(folder, "petstore.db.moved"))).toBe(false);
    expect(await runJson(dataDir, words)).toMatchObject({ wasThere: true });
    expect(existsSync(join(folder, "petstore.db.moved"))).toBe(true);
    proxy.stop();
  });

  test.each([
    [["--to", "somewhere"], "--to must be an address such as postgres://USER:PASSWORD@HOST:5432/DATABASE."],
    [["--from", "postgres://petstore@db.test/petstore", "--to", "postgres://a@b/c"], "--from must be a data folder"],
  ])("refuses %j", async (words, message) => {
    const { status, stderr } = await runCommand(newDataDir(), ["migrate-store", ...words]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
