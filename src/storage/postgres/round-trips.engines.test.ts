import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DatabaseProxy } from "../../../test/harness/database-proxy.ts";
import { PostgresServer, postgresMissing } from "../../../test/harness/postgres-server.ts";
import { unchecked } from "../../../test/harness/unchecked-pets.ts";
import { migrations } from "../../app/schema.ts";
import { shopNumber } from "../../contract/caller.ts";
import { operator } from "../../domains/events/publish.ts";
import { PetStore } from "../../domains/pets/pets.store.ts";
import { SHARE } from "../../timing/turns.ts";
import { together } from "../combined-steps.ts";
import { change, lookUp, pageRead, query } from "../statement.ts";
import type { Storage } from "../storage.ts";
import { all, first, type Read } from "../transaction.ts";
import { type PostgresAddress, parsePostgresAddress } from "./address.ts";
import { openPostgres } from "./opening.ts";
import type { PostgresStorage } from "./postgres-storage.ts";

const addShop = change("INSERT INTO shops (shop, account_id, mode) VALUES (2, 'acc_1', 'test')");
// Random ids: with a counter, all transactions would wait for its row.
const addPet = change<[name: string, categoryId: number]>(
  `INSERT INTO pets (shop, id, name, category_id, added_at)
   VALUES (1, CAST(random() * 1e18 AS BIGINT), $1, $2, 0) RETURNING id`,
);
const addNamed = change<[id: bigint, name: string]>(
  "INSERT INTO pets (shop, id, name, category_id, added_at) VALUES (1, $1, $2, 1, 0)",
);
const petById = query<[id: number]>("SELECT name FROM pets WHERE shop = 1 AND id = $1");
/** Returns when the server began the statement that found the animal. */
const findPet = lookUp<[shop: number, id: bigint]>(
  (value) =>
    `SELECT name, CAST(statement_timestamp() AS TEXT) AS begun FROM pets
     WHERE shop = ${value(1)} AND id = ${value(2)}`,
);
/** The same for a page. */
const findNamed = pageRead<[shop: number, name: string, id: number, limit: number]>(
  (
    value,
  ) => `SELECT id, CAST(statement_timestamp() AS TEXT) AS begun FROM pets WHERE shop = ${value(1)} AND name IN (${value(2)}, ${value(2)}) AND id > ${value(3)}
   ORDER BY id LIMIT ${value(4)}`,
);
const touch = change<[name: string, id: number]>("UPDATE pets SET name = $1 WHERE shop = 1 AND id = $2");

/** A page whose rows take long to use. */
function* readSlowly(): Read<void> {
  yield* all(findNamed, 1, "NULL", 0, 101);
  for (const end = performance.now() + 2 * SHARE; performance.now() < end; );
}
const addRex = () =>
  new PetStore({} as Storage, unchecked).add(operator(shopNumber(2)), { name: "Rex", categoryId: 1n });

describe.skipIf(postgresMissing !== undefined)("round trips to PostgreSQL", () => {
  let server: PostgresServer;
  let proxy: DatabaseProxy;
  let storage: PostgresStorage;
  beforeAll(async () => {
    server = await PostgresServer.start();
    proxy = await DatabaseProxy.start(server.port);
    const url = server.url().replace(String(server.port), String(proxy.port));
    storage = await openPostgres(parsePostgresAddress(url) as PostgresAddress, { migrations });
    await storage.write(() => all(addShop));
    // Connections are opened, and statements are prepared, on first use.
    for (let round = 0; round < 3; round++) {
      await Promise.all(Array.from({ length: 12 }, work.read));
      await Promise.all(Array.from({ length: 12 }, work.create));
      await work.append();
      await work.appendAndTouch();
      await work.double();
      await work.touchMany();
    }
  });
  afterAll(async () => {
    await storage.close();
    proxy.stop();
    await server.remove();
  });

  const work = {
    read: () => storage.read(first(petById, 1)),
    append: () => storage.write(addRex),
    /** An append, and another statement after it. */
    appendAndTouch: () =>
      storage.write(function* () {
        const pet = yield* addRex();
        yield* all(touch, "Rex", 1);
        return pet;
      }),
    appendAndFail: () =>
      storage.write(function* () {
        yield* addRex();
        throw new Error("Not this one.");
      }),
    count: () => storage.read(first(query<[], { pets: bigint }>("SELECT count(*) AS pets FROM pets"))),
    create: () => storage.write(() => first(addPet, "Rex", 1)),
    double: () =>
      storage.write(function* () {
        yield* first(petById, 1);
        yield* first(addPet, "Rex", 1);
      }),
    touchMany: () => storage.write(() => together(Array.from({ length: 50 }, (_, id) => all(touch, "Rex", id)))),
  };

  let lastShop = 100;
  /** The number of statements that read this many pages of each new shop. */
  const statementsFor = (counts: readonly number[], limit: number) =>
    statementsOf(
      counts.flatMap((count) => Array.from({ length: count }).fill(++lastShop) as number[]),
      limit,
    );
  /** How many statements read a page for each of these shops. */
  const statementsOf = async (payers: readonly number[], limit: number) => {
    const found = await Promise.all(payers.map((payer) => storage.read(all(findNamed, 1, "NULL", 0, limit), payer)));
    return new Set(found.map(([row]) => row?.begun)).size;
  };

  test("one for a read", async () => expect(await proxy.tripsOf(work.read)).toBe(1));
  test("one, with one statement, for all look-ups of a turn", async () => {
    const pets = ["Ada", "Ben", "Cleo"].map((name, id) => [name, BigInt(id) - (1n << 63n)] as const);
    for (const [name, id] of pets) await storage.write(() => first(addNamed, id, name));
    const wanted = [...pets, ["nobody", 7n] as const, ...pets.toReversed()];
    const find = () => Promise.all(wanted.map(([, id]) => storage.read(first(findPet, 1, id))));
    await find();
    let found: Awaited<ReturnType<typeof find>> = [];
    expect(await proxy.tripsOf(async () => void (found = await find()))).toBe(1);
    expect(found.map((row) => row?.["name"] ?? "nobody")).toEqual(wanted.map(([name]) => name));
    expect(new Set(found.flatMap((row) => row?.["begun"] ?? [])).size).toBe(1);
  });
  test("one, with one statement, for all pages of a turn; each page has its own rows, in order", async () => {
    const names = ['"Quo"ted"', String.raw`Back\slash`, "{Brace, comma}", "NULL", ""];
    for (const [index, name] of names.entries()) {
      for (const number of [3, 1, 2]) await storage.write(() => first(addNamed, BigInt(100 * index + number), name));
    }
    const wanted = [...names, "nobody", ...names.toReversed()];
    const find = () => Promise.all(wanted.map((name) => storage.read(all(findNamed, 1, name, 0, 2))));
    await find();
    let found: Awaited<ReturnType<typeof find>> = [];
    expect(await proxy.tripsOf(async () => void (found = await find()))).toBe(1);
    const idsOf = (name: string) =>
      name === "nobody" ? [] : [1n, 2n].map((id) => BigInt(100 * names.indexOf(name)) + id);
    expect(found.map((rows) => rows.map(({ id }) => id as unknown))).toEqual(wanted.map(idsOf));
    expect(new Set(found.flat().map(({ begun }) => begun)).size).toBe(1);
  });
  test("one for at most four large pages of an unknown shop, of which others then come with the next", async () => {
    expect(await statementsFor([4, 4], 101)).toBe(1);
    expect(await statementsFor([9, 4], 101)).toBe(3);
    expect(await statementsFor([9, 4], 21)).toBe(1);
  });
  test("one for each page of a shop whose rows took long to use", async () => {
    await storage.read(readSlowly(), ++lastShop);
    expect(await statementsOf([lastShop, lastShop, lastShop], 21)).toBe(3);
  });
  test("one for four pages of a shop, which are used in turns of the event loop", async () => {
    let turn = 0;
    const count = () => void (turn++, (counting = setImmediate(count)));
    let counting = setImmediate(count);
    const page = function* (): Read<number> {
      yield* all(findNamed, 1, "NULL", 0, 101);
      for (const end = performance.now() + 2 * SHARE; performance.now() < end; ); // uses its share
      return turn;
    };
    const used = await Promise.all(Array.from({ length: 4 }, () => storage.read(page(), 3)));
    clearImmediate(counting);
    expect(new Set(used).size).toBe(4);
  });
  test("one after the other for searches of a shop, for which neither look-ups nor other shops wait", async () => {
    const order: string[] = [];
    const search = async (name: string, payer: number) => {
      await storage.read(all(query("SELECT 1 AS found FROM pg_sleep(0.2)")), payer);
      order.push(name);
    };
    const find = async () => {
      await storage.read(first(findPet, 1, 7n), 1);
      order.push("look-up");
    };
    await Promise.all([search("first", 1), search("second", 1), search("of another", 2), find()]);
    expect(order).toEqual(["look-up", "first", "of another", "second"]);
  });
  test("two for a transaction of one statement", async () => expect(await proxy.tripsOf(work.create)).toBe(2));
  test("two for an append, and for fifty at the same moment", async () => {
    expect(await proxy.tripsOf(work.append)).toBe(2);
    expect(await proxy.tripsOf(() => Promise.all(Array.from({ length: 50 }, work.append)))).toBe(2);
  });
  test("three for transactions that begin with an append, of one and of fifty, each with its own row", async () => {
    expect(await proxy.tripsOf(work.appendAndTouch)).toBe(3);
    let added: readonly unknown[] = [];
    const fifty = async () => void (added = await Promise.all(Array.from({ length: 50 }, work.appendAndTouch)));
    expect(await proxy.tripsOf(fifty)).toBe(3);
    const ids = added.map((pet) => (pet as { id: bigint }).id);
    expect(ids).toEqual(ids.map((_, index) => (ids[0] as bigint) + BigInt(index)));
  });
  test("each alone, and none twice, after one of a group has failed", async () => {
    const before = (await work.count())?.pets ?? 0n;
    const settled = await Promise.allSettled([work.appendAndTouch(), work.appendAndFail(), work.append()]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((await work.count())?.pets).toBe(before + 2n);
  });
  test("three for a transaction of a read and a write", async () => expect(await proxy.tripsOf(work.double)).toBe(3));
  test("two for fifty statements together", async () => expect(await proxy.tripsOf(work.touchMany)).toBe(2));
});
