import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Authority, canCertify } from "../../../test/harness/certificates.ts";
import { giveToServer, PostgresServer, postgresMissing } from "../../../test/harness/postgres-server.ts";
import { migrations } from "../../app/schema.ts";
import type { Migration } from "../applied-migrations.ts";
import { StorageUnusable } from "../errors.ts";
import { type PostgresAddress, parsePostgresAddress } from "./address.ts";
import { Connection } from "./connection.ts";
import { type OpeningOptions, openPostgres } from "./opening.ts";

const newMigration = (name: string, postgres: string): Migration => ({ name, sqlite: "", postgres });
describe.skipIf(postgresMissing !== undefined)("a store in PostgreSQL", () => {
  let server: PostgresServer;
  let database: string;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    database = await server.newDatabase();
  });

  const addressOf = (name: string) => parsePostgresAddress(server.url(name)) as PostgresAddress;
  const open = async (options: Partial<OpeningOptions> = {}) =>
    (await openPostgres(addressOf(database), { migrations, ...options })).close();
  const refusal = (options?: Partial<OpeningOptions>, opening = open(options)) =>
    opening.then(
      () => "opened",
      (error: unknown) => (error instanceof StorageUnusable ? error.message : error),
    );

  test("is created by one of many processes that start concurrently", async () => {
    const slow = newMigration(
      "slow",
      "CREATE TABLE made (moment TEXT); SELECT pg_sleep(0.2); INSERT INTO made VALUES ('now');",
    );
    const options = { migrations: [...migrations, slow] };
    await Promise.all(Array.from({ length: 5 }, () => open(options)));
    expect(await server.run("SELECT moment FROM made", database)).toEqual([{ moment: "now" }]);
  });

  test("gets all missing migrations, or none", async () => {
    await open();
    const [good, bad] = [newMigration("good", "CREATE TABLE good (id BIGINT);"), newMigration("bad", "CREATE TABLE;")];
    expect(await refusal({ migrations: [...migrations, good, bad] })).toContain("syntax error");
    await open({ migrations: [...migrations, good] }); // it is not there yet
    expect(await server.run("SELECT max(step) AS version FROM petstore_steps", database)).toEqual([
      { version: BigInt(migrations.length + 1) },
    ]);
  });

  test("of an older release is refused and stays as it is, if it may not be migrated", async () => {
    await open({ mayMigrate: false }); // a new store
    const later = [...migrations, newMigration("later", "CREATE TABLE later (id BIGINT);")];
    expect(await refusal({ migrations: later, mayMigrate: false })).toContain(
      `has schema ${migrations.length}; this release uses ${later.length}.`,
    );
    await open({ mayMigrate: false });
  });

  test("of a newer release is refused", async () => {
    await open();
    const [known, newer] = [migrations.length, migrations.length + 1];
    await server.run(`INSERT INTO petstore_steps (step, digest) VALUES (${newer}, 'of a later migration')`, database);
    expect(await refusal()).toBe(
      `The store at ${addressOf(database).shown} was written by a newer release: its schema is ${newer}, this release knows ${known}.`,
    );
  });

  test.each([
    ["before there were digests of migrations", "DROP TABLE petstore_steps"],
    ["with another first migration", "UPDATE petstore_steps SET digest = 'of another migration'"],
  ])("of an unreleased schema, %s, is refused with instructions", async (_, change) => {
    await open();
    await server.run(change, database);
    expect(await refusal()).toMatch(/never released.*`petstore export`.*`petstore import`/);
  });

  test("is refused if the database has tables of another program", async () => {
    await server.run("CREATE TABLE theirs (id INTEGER)", database);
    expect(await refusal()).toContain("has tables of another program");
    expect(await server.run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", database)).toEqual([
      { tablename: "theirs" },
    ]);
  });

  test("is not created if it must exist", async () => {
    expect(await refusal({ create: false })).toBe(`There is no store in ${addressOf(database).shown}.`);
    await open();
    expect(await refusal({ create: false })).toBe("opened");
  });

  test("commits to disk, even if the database is configured otherwise", async () => {
    await server.run(`ALTER DATABASE ${database} SET synchronous_commit = off`);
    const connection = await Connection.open({ address: addressOf(database), deadline: 5_000 });
    const setting = { sql: "SELECT current_setting('synchronous_commit') AS mode" };
    expect((await connection.run(setting))[0]).toEqual({ mode: "on" });
    connection.close();
  });

  test("fails at once if it does not exist or refuses the login", async () => {
    const nowhere = openPostgres(addressOf("nowhere"), { migrations });
    expect(
      await refusal(
        {},
        nowhere.then(() => {}),
      ),
    ).toContain('database "nowhere" does not exist');
    const unknownRole = { ...addressOf(database), user: "unknown_role" };
    expect(
      await refusal(
        {},
        openPostgres(unknownRole, { migrations }).then(() => {}),
      ),
    ).toContain('role "unknown_role" does not exist');
  });

  test.skipIf(!canCertify)(
    "is not used if its certificate is not trusted but must be, whatever the environment says",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "petstore-postgres-tls-"));
      const { cert, key } = await (await Authority.make(folder)).certify("IP:127.0.0.1");
      giveToServer(folder);
      const encrypted = await PostgresServer.start(["ssl=on", `ssl_cert_file=${cert}`, `ssl_key_file=${key}`]);
      const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      const opened = (mode: string) => {
        const address = parsePostgresAddress(`${encrypted.url()}?sslmode=${mode}`) as PostgresAddress;
        return refusal(
          {},
          openPostgres(address, { migrations }).then((storage) => storage.close()),
        );
      };
      try {
        process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
        expect(await opened("require")).toBe("opened");
        for (const mode of ["verify-ca", "verify-full"]) expect(await opened(mode)).toContain("certificate");
      } finally {
        if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
        else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
        await encrypted.remove();
        rmSync(folder, { recursive: true });
      }
    },
  );

  test("is refused if the encoding of the database lacks characters", async () => {
    const latin = `latin_${database}`;
    await server.run(`CREATE DATABASE ${latin} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`);
    const opening = openPostgres(addressOf(latin), { migrations }).then((storage) => storage.close());
    expect(await refusal({}, opening)).toBe(
      "The database has the encoding LATIN1. Make one with UTF8: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.",
    );
  });

  test("waits for an unreachable server until it is stopped", async () => {
    const stop = new AbortController();
    const address = { ...addressOf(database), hosts: [{ name: "127.0.0.1", port: 1 }] };
    const observer = { committed() {}, failed() {}, fatal() {}, postponed: () => stop.abort() };
    const opening = openPostgres(address, { migrations, stop: stop.signal, observer });
    expect(
      await refusal(
        {},
        opening.then(() => {}),
      ),
    ).toContain("cannot be opened");
  });

  test("waits for a server that takes writes, and says so", async () => {
    await server.run(`ALTER DATABASE ${database} SET default_transaction_read_only = on`);
    const stop = new AbortController();
    const observer = { committed() {}, failed() {}, fatal() {}, postponed: () => stop.abort() };
    expect(await refusal({ migrations, stop: stop.signal, observer })).toBe(
      `The store in ${addressOf(database).shown} cannot be opened: 127.0.0.1:${server.port} takes no writes.`,
    );
  });
});
