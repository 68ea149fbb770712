// `petstore migrate-store`: the service before and after it, and what is in the way of it, with real servers.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { readConfig } from "../src/config.ts";
import { scopes } from "../src/contract/operation.ts";
import { parsePostgresAddress } from "../src/storage/postgres/address.ts";
import { openStorage } from "../src/store.ts";
import { DatabaseProxy } from "./harness/database-proxy.ts";
import { PostgresServer, postgresMissing } from "./harness/postgres-server.ts";
import { newDataDir, Program, runCommand, runJson, serveCommand } from "./harness/program.ts";

interface Answer {
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
  return { status: response.status, headers: response.headers, json: text && JSON.parse(text) } as Answer;
}

/** Rows for the tables that the service fills only with time, or of its own accord. */
const more = `
  INSERT INTO key_bans (key_id, ends_at, level, ends_after, boot) VALUES ('key_1', 9223372036854775807, 2, 1, 7);
  INSERT INTO deprecated_calls (day, operation, key_id, account_id, calls, last_called_at)
    VALUES (4102444800, 'listPets', 'key_1', 'acc_1', 3, 4);
  INSERT INTO deleted_pets (id) VALUES (9007199254740999);
  INSERT INTO imports (digest, line, animals) VALUES ('abc', 10, 9);
  INSERT INTO limit_windows (account_id, minute_ends_at, minute_used, day, day_used, previous_day, previous_day_used)
    VALUES ('acc_1', 1, 2, 3, 4, 5, 6);
  INSERT INTO pets (id, name, category_id, status) VALUES (9007199254740993, '"Ñandú" \\ 🐕', -9223372036854775808, NULL);
  INSERT INTO pets (id, name, category_id) VALUES (9007199254740999, 'the last', 1);
  DELETE FROM pets WHERE id = 9007199254740999;
`;

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
  const move = (database: string) => ["migrate-store", "--from", dataDir, "--to", server.url(database)];
  const shown = (database: string) => parsePostgresAddress(server.url(database))?.shown as string;
  /** What clients see. */
  const look = async (base: string) => {
    const paths = ["/pets?limit=100", "/pets/1/status-changes", "/categories", "/store/orders", "/keys", "/me"];
    const answers = await Promise.all(paths.map((path) => call(base, key, "GET", path)));
    return answers.map(({ status, json }) => [status, JSON.stringify(json).replaceAll(/"lastUsedAt":"[^"]*",?/g, "")]);
  };
  const orderAgain = (base: string) =>
    call(base, key, "POST", "/store/orders", { petId: 2 }, { "Idempotency-Key": "order-1" });

  let before: Awaited<ReturnType<typeof look>>;
  let order: Answer;
  beforeAll(async () => {
    server = await PostgresServer.start();
    dataDir = newDataDir();
    const { id } = await runJson(dataDir, ["accounts", "create", "--name", "x", "--plan", "business"]);
    const words = ["keys", "create", "--account", id, "--name", "k", "--scopes", scopes.join(",")];
    key = (await runJson(dataDir, words)).key;
    const service = await Program.start(dataDir);
    const { base } = service;
    await call(base, key, "POST", "/categories", { name: "Dogs" });
    await call(base, key, "POST", "/categories", { name: "Cats" });
    await call(base, key, "DELETE", "/categories/2");
    for (let pet = 1; pet <= 3; pet++) {
      await call(base, key, "POST", "/pets", { name: `Pet ${pet}`, categoryId: 1, status: "available" });
    }
    await call(base, key, "PUT", "/pets/1", { name: "Rex", categoryId: 1, status: "pending" });
    order = await orderAgain(base);
    await service.end();
    inSource((database) => database.run(more));
    const again = await Program.start(dataDir);
    before = await look(again.base);
    await again.end();
  });
  afterAll(() => server.remove());

  test("moves every table, and the service goes on with it as if nothing had happened", async () => {
    const database = await server.newDatabase();
    const report = await runJson(dataDir, move(database));
    const counts = inSource((source) => {
      const tables = source
        .query<{ name: string }, []>(
          "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'category_animals'",
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
    // A table that is new has to get a row above: nothing is proved of one without any.
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
    await service.end();
  });

  test("can be run again, and says that all is there; with other data in the target it refuses", async () => {
    const database = await server.newDatabase();
    expect(await runJson(dataDir, move(database))).toMatchObject({ wasThere: false });
    expect(await runJson(dataDir, move(database))).toMatchObject({ wasThere: true, rows: 0 });
    await server.run("UPDATE pets SET name = 'Other' WHERE id = 2", database);
    const { status, stderr } = await runCommand(dataDir, move(database));
    expect([status, stderr]).toEqual([
      1,
      `${shown(database)} has other data: a store is moved to an empty database.\n`,
    ]);
  });

  test("refuses while a service has the store open, also if it writes nothing", async () => {
    const database = await server.newDatabase();
    const service = await Program.start(dataDir);
    const { status, stderr } = await runCommand(dataDir, move(database));
    expect([status, stderr]).toEqual([1, expect.stringContaining("is in use. Stop its service first")]);
    await service.end();
  });

  test("that is killed leaves nothing, and succeeds when it is run again", async () => {
    const large = newDataDir();
    await runJson(large, ["accounts", "create", "--name", "x", "--plan", "business"]);
    const source = new Database(join(large, "petstore.db"));
    source.run(`
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
      INSERT INTO pets (name, category_id, status) SELECT 'Pet ' || i, i % 7, 'available' FROM n
    `);
    source.close();
    const database = await server.newDatabase();
    const words = ["migrate-store", "--from", large, "--to", server.url(database)];
    const child = Bun.spawn([...serveCommand.slice(0, 2), ...words], { stdout: "pipe", stderr: "pipe" });
    while (child.exitCode === null) {
      const [row] = await server.run<{ size: bigint }>(
        "SELECT COALESCE(pg_relation_size(to_regclass('pets')), 0) AS size",
        database,
      );
      if ((row?.size ?? 0n) > 1_000_000n) break;
    }
    child.kill("SIGKILL");
    await child.exited;
    expect(await server.run("SELECT count(*) AS pets FROM pets", database)).toEqual([{ pets: 0n }]);
    const { tables, rows, seconds } = await runJson(large, words);
    expect(tables.pets).toBe(200_000);
    if (process.env["TORTURE"]) console.log(`${rows} rows in ${seconds} s`);
  });

  test("whose last answer is lost says that it does not know, and tells when it is run again", async () => {
    const database = await server.newDatabase();
    await (await openStorage(readConfig({ PETSTORE_DATABASE_URL: server.url(database) }))).close(); // commits as well
    const proxy = await DatabaseProxy.start(server.port);
    const words = move(database).map((word) => word.replace(String(server.port), String(proxy.port)));
    proxy.cutBefore = "COMMIT\0";
    const { status, stdout, stderr } = await runCommand(dataDir, words);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      "The answer of the database to the commit was lost: either all was moved, or nothing. Run the same command " +
        "again: it says which, and moves what was not.\n",
    );
    expect(await runJson(dataDir, words)).toMatchObject({ wasThere: true });
    proxy.stop();
  });

  test.each([
    [["--to", "somewhere"], "--to has to be an address such as postgres://USER:PASSWORD@HOST:5432/DATABASE."],
    [["--from", "postgres://petstore@db.test/petstore", "--to", "postgres://a@b/c"], "--from has to be a data folder"],
  ])("refuses %j", async (words, message) => {
    const { status, stderr } = await runCommand(newDataDir(), ["migrate-store", ...words]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
