// Faults of real servers, under load. No acknowledged work is lost or done twice. Work fails only while the server is
// unreachable, and always with `StorageUnavailable`. Nothing hangs. All work succeeds soon after the server returns.

import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { stopwatch } from "../../../test/harness/cpu-time.ts";
import { DatabaseProxy } from "../../../test/harness/database-proxy.ts";
import { failureOf } from "../../../test/harness/failure-of.ts";
import { PostgresServer, postgresMissing } from "../../../test/harness/postgres-server.ts";
import { eventually } from "../../../test/harness/program.ts";
import { SharedPostgres } from "../../../test/harness/shared-postgres.ts";
import { isLongRun } from "../../../test/harness/test-length.ts";
import { unchecked } from "../../../test/harness/unchecked-pets.ts";
import { migrations } from "../../app/schema.ts";
import { shopNumber } from "../../contract/caller.ts";
import { operator } from "../../domains/events/publish.ts";
import { PetStore } from "../../domains/pets/pets.store.ts";
import { CommitUnknown, StorageUnavailable } from "../errors.ts";
import { change, query, type Row } from "../statement.ts";
import { type Storage, type StorageObserver, silentObserver } from "../storage.ts";
import { afterCommit, all, type Change, first } from "../transaction.ts";
import { type PostgresAddress, parsePostgresAddress } from "./address.ts";
import { Connection } from "./connection.ts";
import { openPostgres } from "./opening.ts";
import type { PostgresStorage } from "./postgres-storage.ts";
import { streamRows } from "./stream-rows.ts";

/** The documented time until all work succeeds after the server returns, in milliseconds. */
const WELL_WITHIN = isLongRun ? 2_000 : 20_000; // a busy machine takes longer
/** Longer than any deadline of the engine. */
const NEVER = 20_000;
/** The documented time until a read or a single write fails on a silent server, in milliseconds. */
const FAILS_WITHIN = 3_000;
/** The additional time on a busy machine, in milliseconds. */
const BUSY = isLongRun ? 1_000 : 4_000;

interface PetRow extends Row {
  name: string;
}
// Random ids: with a counter, all transactions would wait for its row.
const addPet = change<[name: string, categoryId: number], PetRow>(
  `INSERT INTO pets (shop, id, name, category_id, added_at)
   VALUES (1, CAST(random() * 1e18 AS BIGINT), $1, $2, 0) RETURNING name`,
);
const addShops = change(
  "INSERT INTO shops (shop, account_id, mode) SELECT n, 'acc_' || n, 'test' FROM generate_series(1, 3) AS n ON CONFLICT DO NOTHING",
);
/** Appends an animal to the first shop or another. */
const appendPet = (name: string, shop = 1) =>
  new PetStore({} as Storage, unchecked).add(operator(shopNumber(shop)), { name, categoryId: 1n });
const sessionsInTransaction = query<[], { sessions: bigint }>(
  "SELECT count(*) AS sessions FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in %'",
);
const petsFrom = query<[id: number], PetRow>("SELECT name FROM pets WHERE shop = 1 AND id >= $1 ORDER BY id LIMIT 5");
const allPets = query<[], PetRow>("SELECT name FROM pets");
const addCategory = change<[id: number, name: string]>(
  "INSERT INTO categories (shop, id, name, name_key) VALUES (1, $1, $2, $2)",
);

/** Writers and readers of one store, and the results of their work. */
class Load {
  readonly #storage: Storage;
  readonly #acknowledged: string[] = [];
  readonly #wrong: unknown[] = [];
  readonly #work: Promise<unknown>;
  #refused = 0;
  #slowest = 0;
  #sent = 0;
  #isOver = false;

  constructor(storage: Storage) {
    this.#storage = storage;
    const single = (name: string) => storage.write(() => appendPet(name));
    const double = (name: string) =>
      storage.write(function* () {
        yield* first(addPet, name, 2);
        yield* all(addPet, `${name}, again`, 2);
      });
    const add = (write: (name: string) => Promise<unknown>) => async () => {
      const name = `Pet ${++this.#sent}`;
      await write(name);
      this.#acknowledged.push(name);
    };
    const read = async () => void (await storage.read(all(petsFrom, 1)));
    const workers = [...Array.from({ length: 12 }, () => add(single)), ...Array.from({ length: 4 }, () => add(double))];
    this.#work = Promise.all([...workers, read, read, read, read].map((act) => this.#repeat(act)));
  }

  get acknowledged(): number {
    return this.#acknowledged.length;
  }

  get refused(): number {
    return this.#refused;
  }

  /** Resolves when this many more operations have succeeded, which proves that the server is reachable. */
  async more(count: number): Promise<void> {
    const wanted = this.acknowledged + count;
    await eventually(() => this.acknowledged >= wanted);
  }

  /** The time until one operation of each kind succeeds, in milliseconds. */
  async untilWell(): Promise<number> {
    const elapsed = stopwatch();
    const tries = [
      () => this.#storage.write(() => appendPet("well")),
      () => this.#storage.write(() => all(addPet, "well", 3)),
      () => Promise.resolve(this.#storage.read(all(petsFrom, 1))),
    ];
    for (const attempt of tries) {
      await eventually(() => attempt().then(Boolean, () => false));
    }
    return elapsed();
  }

  /** Ends the load and returns the failures. */
  async faults() {
    this.#isOver = true;
    await this.#work;
    const rows = (await this.#storage.read(all(allPets))).map(({ name }) => name);
    const counts = Map.groupBy(rows, (name) => name);
    return {
      lost: this.#acknowledged.filter((name) => !counts.has(name)),
      doubled: [...counts].filter(([name, { length }]) => name !== "well" && length > 1),
      wrong: this.#wrong,
      hung: this.#slowest > NEVER,
    };
  }

  async #repeat(act: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      const started = performance.now();
      try {
        await act();
      } catch (error) {
        this.#refused++;
        if (!(error instanceof StorageUnavailable)) this.#wrong.push(error);
        await Bun.sleep(5);
      }
      this.#slowest = Math.max(this.#slowest, performance.now() - started);
    }
  }
}

const noFaults = { lost: [], doubled: [], wrong: [], hung: false };

describe.skipIf(postgresMissing !== undefined)("PostgreSQL", () => {
  let servers: PostgresServer[] = [];
  let stores: PostgresStorage[] = [];
  let shared: SharedPostgres | undefined;

  async function startServer(settings: readonly string[] = []): Promise<PostgresServer> {
    const server = await PostgresServer.start(settings);
    servers.push(server);
    return server;
  }
  /** The address of a new store on a server that tests neither stop nor freeze, and whose sessions they do not end. */
  async function newStore(): Promise<string> {
    shared ??= await SharedPostgres.start();
    return shared.server.url(await shared.newDatabase());
  }
  async function open(url: string, observer?: StorageObserver): Promise<PostgresStorage> {
    const store = await openPostgres(parsePostgresAddress(url) as PostgresAddress, { migrations, observer });
    stores.push(store);
    await store.write(() => all(addShops));
    return store;
  }
  afterEach(async () => {
    for (const store of stores) await store.close();
    for (const server of servers) await server.remove();
    [servers, stores] = [[], []];
  });
  afterAll(() => shared?.server.remove());

  test("loses no read and no acknowledged write when it kills sessions", async () => {
    const server = await startServer();
    const storage = await open(server.url());
    const load = new Load(storage);
    for (let round = 0; round < 5; round++) {
      await load.more(200);
      await server.killSessions();
    }
    expect(await load.untilWell()).toBeLessThan(WELL_WITHIN);
    await load.more(200);
    expect(await load.faults()).toEqual(noFaults);
    for (let read = 0; read < 10; read++) {
      await server.killSessions();
      expect((await storage.read(all(petsFrom, 1))).length).toBe(5);
    }
  });

  test("causes no error when it closes a new connection before it is ready", async () => {
    const url = new URL(await newStore());
    const proxy = await DatabaseProxy.start(Number(url.port));
    url.port = String(proxy.port);
    const storage = await open(url.href);
    proxy.cutBefore = "application_name\0"; // among the messages that precede ReadyForQuery
    expect(await storage.read(all(petsFrom, 1))).toEqual([]);
    expect(proxy.cutBefore).toBeUndefined();
    proxy.stop();
  });

  test.each(["gracefully", "at once"] as const)("is used again after it was stopped %s and started", async (how) => {
    const server = await startServer();
    const load = new Load(await open(server.url()));
    await load.more(200);
    await server.stop(how);
    const before = load.refused;
    await eventually(() => load.refused >= before + 50);
    await server.start();
    const elapsed = stopwatch();
    let refused: number;
    do {
      refused = load.refused; // each connection is reopened on its next use
      await load.more(200);
    } while (load.refused > refused);
    expect(elapsed()).toBeLessThan(WELL_WITHIN);
    await load.more(500);
    expect(load.refused).toBe(refused);
    expect(await load.faults()).toEqual(noFaults);
  });

  test("causes a wait and no error when it is frozen for a moment", async () => {
    const server = await startServer();
    const load = new Load(await open(server.url()));
    await load.more(200);
    server.freeze();
    await Bun.sleep(500);
    server.thaw();
    await load.more(500);
    expect(load.refused).toBe(0);
    expect(await load.faults()).toEqual(noFaults);
  });

  test("blocks nobody forever when it is frozen for long, and is used again afterwards", async () => {
    const server = await startServer();
    const load = new Load(await open(server.url()));
    await load.more(200);
    server.freeze();
    await eventually(() => load.refused >= 20);
    server.thaw();
    expect(await load.untilWell()).toBeLessThan(WELL_WITHIN);
    await load.more(500);
    expect(await load.faults()).toEqual(noFaults);
  });

  test("causes reads and single writes to fail within 3 s, from the first one on, when it is frozen", async () => {
    const server = await startServer();
    const storage = await open(server.url());
    const work = [() => storage.read(all(petsFrom, 1)), () => storage.write(() => appendPet("Rex"))];
    await Promise.all(work.map((act) => act()));
    server.freeze();
    const frozen = performance.now();
    const running: Promise<{ refused: boolean; after: number }>[] = [];
    while (performance.now() - frozen < 6_000) {
      for (const act of work) {
        const sent = performance.now();
        const ended = act().then(
          () => false,
          (error: unknown) => error instanceof StorageUnavailable,
        );
        running.push(ended.then((refused) => ({ refused, after: performance.now() - sent })));
      }
      await Bun.sleep(100);
    }
    const ends = await Promise.all(running);
    expect(ends.filter(({ refused }) => !refused)).toEqual([]);
    expect(ends.filter(({ after }) => after > FAILS_WITHIN + BUSY)).toEqual([]);
  });

  test("is not treated as silent if this process was stopped while it replied", async () => {
    const storage = await open(await newStore());
    await storage.read(all(petsFrom, 1));
    // On an open connection, and on a new one.
    const reads = [1, 2].map((done) => storage.read(all(query(`SELECT ${done} AS done FROM pg_sleep(1.5)`))));
    // Each time, timers are late, and responses of the server stay unread.
    for (let stall = 0; stall < 4; stall++) {
      Bun.sleepSync(800);
      await new Promise(setImmediate);
    }
    expect(await Promise.all(reads)).toEqual([[{ done: 1 }], [{ done: 2 }]] as never);
  });

  test("is counted by cause when it cannot be reached, whatever the work", async () => {
    const server = await startServer();
    const causes: string[] = [];
    const storage = await open(server.url(), { ...silentObserver, failed: (cause) => causes.push(cause) });
    const work = [
      () => storage.read(all(petsFrom, 1)),
      () => storage.write(() => appendPet("Rex")),
      () => storage.write(() => all(addPet, "Rex", 3)),
      () => storage.check(),
    ];
    /** The causes that each work adds alone. */
    const causesOf = async () => {
      const found: string[][] = [];
      for (const act of work) {
        await eventually(() =>
          act().then(
            () => false,
            () => true,
          ),
        ); // its connection is lost
        causes.length = 0;
        expect(await failureOf(act)).toBeInstanceOf(StorageUnavailable);
        found.push([...new Set(causes)]);
      }
      return found;
    };
    await storage.check();
    const refusal = new StorageUnavailable("The shop was deleted.");
    const refused = () =>
      storage.write(function* () {
        yield* all(petsFrom, 1);
        throw refusal;
      });
    expect([await failureOf(refused), causes]).toEqual([refusal, []]);
    await server.stop();
    expect(await causesOf()).toEqual(work.map(() => ["ERR_POSTGRES_CONNECTION_REFUSED"]));
    await server.start();
    await eventually(() =>
      storage.check().then(
        () => true,
        () => false,
      ),
    );
    server.freeze();
    expect(await causesOf()).toEqual(work.map(() => ["NO_CONNECTION"]));
  });

  test("does not pass a check while it gives fewer connections than a process needs", async () => {
    const server = await startServer();
    await server.run("CREATE ROLE clerk LOGIN CONNECTION LIMIT 7; GRANT ALL ON SCHEMA public TO clerk");
    const causes: string[] = [];
    const url = server.url().replace("petstore@", "clerk@");
    const storage = await open(url, { ...silentObserver, failed: (cause) => causes.push(cause) });
    expect(await failureOf(() => storage.check())).toBeInstanceOf(StorageUnavailable);
    expect(causes).toEqual(["53300"]);
    await server.run("ALTER ROLE clerk CONNECTION LIMIT 8");
    await eventually(() =>
      storage.check().then(
        () => true,
        () => false,
      ),
    );
  });

  test("recovers after it had no free connection", async () => {
    const server = await startServer(["max_connections=12", "superuser_reserved_connections=1"]);
    await server.run("CREATE ROLE clerk LOGIN; GRANT ALL ON SCHEMA public TO clerk");
    const load = new Load(await open(server.url().replace("petstore@", "clerk@")));
    await load.more(50);
    const url = server.url();
    const others = Array.from({ length: 11 }, () => new Bun.SQL({ url, max: 1 }));
    const held = await Promise.allSettled(others.map((other) => other.reserve()));
    expect(held.some(({ status }) => status === "fulfilled")).toBe(true);
    await server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'clerk'").catch(() => {});
    await Promise.all(others.map((other) => other.close({ timeout: 0 })));
    expect(await load.untilWell()).toBeLessThan(WELL_WITHIN);
    await load.more(100);
    expect(await load.faults()).toEqual(noFaults);
  });

  test("ends a stream whose consumer has paused for too long", async () => {
    const url = await newStore();
    const storage = await open(url);
    const address = parsePostgresAddress(url) as PostgresAddress;
    const connection = await Connection.open({ address, deadline: 10_000, isReader: true, idle: 300 });
    const stream = streamRows(connection, { sql: "SELECT n FROM generate_series(1, 1000) AS n" }, []);
    expect((await stream.next()).value).toHaveLength(500);
    await eventually(async () => (await storage.read(first(sessionsInTransaction)))?.sessions === 0n);
    expect(await failureOf(() => stream.next())).toMatchObject({
      message: "The next rows were not read for 10 minutes.",
    });
    connection.close();
  });

  test("is followed to its standby after a failover", async () => {
    const primary = await startServer();
    const standby = await primary.newStandby();
    servers.push(standby);
    await primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await primary.run("SELECT pg_reload_conf()");
    const both = `postgres://petstore@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`;
    const load = new Load(await open(`${both}?target_session_attrs=read-write`));
    await load.more(200);
    await primary.stop("at once");
    await standby.promote();
    expect(await load.untilWell()).toBeLessThan(WELL_WITHIN);
    await load.more(500);
    expect(await load.faults()).toEqual(noFaults);
  });

  test("whose machine died is not waited for again after one connection has found out", async () => {
    const primary = await startServer();
    const standby = await primary.newStandby();
    servers.push(standby);
    const both = `postgres://petstore@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`;
    const storage = await open(`${both}?target_session_attrs=read-write`);
    await storage.check(); // opens all connections
    primary.freeze(); // its connections stay open, but nobody answers
    expect(await failureOf(() => storage.read(all(petsFrom, 1)))).toBeInstanceOf(StorageUnavailable);
    await standby.promote();
    await eventually(async () => (await storage.check().catch(String)) === undefined);
    const larger = [1, 2, 3].map((n) => () => all(addPet, `Pet ${n}`, 3));
    const work = [() => appendPet("Rex"), () => appendPet("Tom", 2), ...larger];
    const ends = await Promise.allSettled(work.map((body) => storage.write<unknown>(body)));
    expect(ends.filter(({ status }) => status === "rejected")).toEqual([]);
  });

  test.each(["one append", "a group", "a larger transaction"])(
    "whose answer to the commit of %s is lost: the work is neither acknowledged nor done twice",
    async (what) => {
      const url = new URL(await newStore());
      const proxy = await DatabaseProxy.start(Number(url.port));
      url.port = String(proxy.port);
      const storage = await open(url.href);
      let done = 0;
      const noted = <T>(part: () => Change<T>) =>
        storage.write(function* () {
          yield* afterCommit(() => void done++);
          return yield* part();
        });
      const single = (shop: number) => () => noted(() => appendPet("Rex", shop));
      const larger = () => noted(() => all(addPet, "Rex", 1));
      const work: readonly (() => Promise<unknown>)[] =
        what === "a group" ? [1, 1, 1].map(single) : [what === "one append" ? single(1) : larger];
      for (let round = 0; round < 2; round++) await Promise.all(work.map((act) => act())); // prepares the statements
      proxy.cutBefore = "COMMIT\0"; // cuts the answer to the commit
      const ends = await Promise.allSettled(work.map((act) => act()));
      const reasons = ends.map((end) => (end.status === "rejected" ? end.reason : "acknowledged"));
      expect(reasons).toEqual(work.map(() => expect.any(StorageUnavailable)));
      expect(await storage.read(all(allPets))).toHaveLength(3 * work.length);
      expect(done).toBe(2 * work.length); // none for the commits whose responses were lost
      proxy.stop();
    },
  );

  test.each(
    ["40003", "08007"].flatMap((code) =>
      ["one append", "a group", "a larger transaction"].map((what) => [code, what] as const),
    ),
  )("is not asked again after it replied %s, which means an unknown outcome, to %s", async (code, what) => {
    const url = await newStore();
    const storage = await open(url);
    const { server } = shared as SharedPostgres;
    const database = new URL(url).pathname.slice(1);
    // The sequence counts the attempts: a rollback does not reset it. The trigger fires when a commit begins.
    await server.run(
      `
      CREATE SEQUENCE attempts;
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM nextval('attempts');
        RAISE EXCEPTION 'unknown' USING ERRCODE = '${code}';
      END $$;
      CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON pets DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail();
    `,
      database,
    );
    const single = (shop: number) => () => storage.write(() => appendPet("Rex", shop));
    const larger = () => storage.write(() => all(addPet, "Rex", 1));
    const work = what === "a group" ? [1, 1, 1].map(single) : [what === "one append" ? single(1) : larger];
    const ends = await Promise.allSettled(work.map((act) => act()));
    const reasons = ends.map((end) => (end.status === "rejected" ? end.reason : "acknowledged"));
    expect(reasons).toEqual(work.map(() => expect.any(CommitUnknown)));
    expect(await server.run("SELECT last_value::int AS attempts FROM attempts", database)).toEqual([{ attempts: 1 }]);
  });

  test("loses a transaction between whose statements this process was blocked, which then runs again", async () => {
    const storage = await open(await newStore());
    let runs = 0;
    await storage.write(function* () {
      yield* all(addPet, "first", 1);
      if (++runs === 1) Bun.sleepSync(3_000); // longer than the server lets it wait
      yield* all(addPet, "second", 1);
    });
    const names = (await storage.read(all(allPets))).map(({ name }) => name);
    expect([runs, names.toSorted()]).toEqual([2, ["first", "second"]]);
  });

  test("runs conflicting transactions again, and loses none", async () => {
    const url = await newStore();
    const [one, other] = [await open(url), await open(url)];
    await one.write(() => all(addCategory, 1, "0"));
    const read = query<[], PetRow>("SELECT name FROM categories WHERE id = 1");
    const write = change<[name: string]>("UPDATE categories SET name = $1 WHERE id = 1");
    const increment = function* () {
      const row = yield* first(read);
      yield* all(write, String(Number(row?.name) + 1));
    };
    await Promise.all(Array.from({ length: 30 }, () => [one.write(increment), other.write(increment)]).flat());
    expect((await one.read(first(read)))?.name).toBe("60");
  });

  test("gives up a transaction that conflicts for longer than its time limit", async () => {
    const url = await newStore();
    const storage = await open(url);
    const { server } = shared as SharedPostgres;
    const database = new URL(url).pathname.slice(1);
    await storage.write(() => all(addCategory, 1, "0"));
    const read = query<[], PetRow>("SELECT name FROM categories WHERE id = 1");
    const write = change<[name: string]>("UPDATE categories SET name = $1 WHERE id = 1");
    let sleeps = 0;
    const written = Promise.allSettled([
      storage.write(function* () {
        const row = yield* first(read);
        if (sleeps < 2) yield* all(query(`SELECT ${++sleeps} AS slept FROM pg_sleep(3)`));
        yield* all(write, `${row?.name}, then 1`);
      }),
    ]);
    for (const round of [1, 2]) {
      const sleeping = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE 'SELECT ${round} %'`;
      await eventually(async () => (await server.run(sleeping)).length > 0);
      await server.run(`UPDATE categories SET name = '${round}'`, database);
    }
    const [{ status }] = await written;
    const name = (await storage.read(first(read)))?.name;
    expect([status, name]).toEqual(["rejected", "2"]);
  });
});
