// Reads of more than one table or range, on PostgreSQL. Other clients can write between two statements, so each read is
// one statement: its result is of one moment, and it takes one round trip. Changes lock and write, which takes more:
// docs/scale.md states how many.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openStorage } from "../../src/app/store/engines.ts";
import { readConfig } from "../../src/config.ts";
import { shopNumber } from "../../src/contract/caller.ts";
import { changeStatus } from "../../src/domains/pets/pet-change.ts";
import { PetStore } from "../../src/domains/pets/pets.store.ts";
import { lockShop } from "../../src/domains/shops/shops.store.ts";
import { UsageStore } from "../../src/domains/usage/usage.store.ts";
import type { OpenStorage } from "../../src/storage/storage.ts";
import { systemClock } from "../../src/timing/clock.ts";
import { DatabaseProxy } from "../harness/database-proxy.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { type Call, TestService } from "../harness/service.ts";
import { unchecked } from "../harness/unchecked-pets.ts";

const shop = 1;
const nothing = () => [];
/** How often an action runs until its connections are made and its statements prepared, and then to be counted. */
const [PREPARING, COUNTED] = [4, 5];
const rex = { name: "Rex", categoryId: 1, status: "available" };
const orderOf = (pet: string) => ({ petId: Number(pet.split("/").at(-1)) });
const once = () => ({ headers: { "Idempotency-Key": crypto.randomUUID() } });

/** One for each time that `tripsOf` runs an action. */
async function manyOf(make: () => Promise<string>): Promise<string[]> {
  const made: string[] = [];
  while (made.length < PREPARING + COUNTED) made.push(await make());
  return made;
}

describe.skipIf(postgresMissing !== undefined)("round trips to PostgreSQL", () => {
  let server: PostgresServer;
  let proxy: DatabaseProxy;
  let storage: OpenStorage;
  let pets: PetStore;
  let usage: UsageStore;
  beforeAll(async () => {
    server = await PostgresServer.start();
    proxy = await DatabaseProxy.start(server.port);
    storage = await openStorage(readConfig({ PETSTORE_DATABASE_URL: urlOf() }));
    pets = new PetStore(storage, unchecked);
    usage = new UsageStore(storage);
    await server.run(`
      INSERT INTO shops (shop, account_id, mode, last_pet_id) VALUES (${shop}, 'acc_1', 'test', 25000);
      INSERT INTO pets (shop, id, name, category_id, status, added_at)
      SELECT ${shop}, n, 'Rex', n % 2, 'available', 1 FROM generate_series(1, 25000) AS n
    `);
    await storage.write(function* () {
      yield* changeStatus(yield* lockShop(shopNumber(shop), 1), 1n, "pending", "order_placed");
    });
  });
  afterAll(async () => {
    await storage.close();
    proxy.stop();
    await server.remove();
  });

  /** The address of a database behind the proxy. */
  function urlOf(database?: string): string {
    return server.url(database).replace(String(server.port), String(proxy.port));
  }

  /** As many round trips as an action takes once its connections are made and its statements prepared. */
  async function tripsOf(act: () => unknown): Promise<number> {
    for (let round = 0; round < PREPARING; round++) await act();
    return proxy.tripsOf(act);
  }

  /** The trips of an action that does the same with each. */
  function tripsFor(each: readonly string[], act: (one: string) => unknown): Promise<number> {
    const left = [...each];
    return tripsOf(() => act(left.pop() as string));
  }

  describe("one for", () => {
    test.each([
      ["full", { categoryId: 0n }, 20],
      ["without an animal", { categoryId: 7n }, 0],
      ["of a status, without an animal", { categoryId: 7n, status: "available" }, 0],
    ] as const)("a page of a category that is %s, and that another page follows", async (_what, filters, animals) => {
      const page = async () => storage.read(pets.pages.page(shopNumber(shop), undefined, 20, filters));
      const { items, next } = await page();
      expect([items.length, next !== undefined]).toEqual([animals, true]);
      expect(await tripsOf(page)).toBe(1);
    });

    test.each(["hour", "day"] as const)("the usage by the %s", async (granularity) => {
      const now = systemClock.now();
      const page = () =>
        storage.read(
          usage.page({ accountId: "acc_1", mode: "live" }, granularity, {
            before: undefined,
            limit: 100,
            now,
            unsaved: nothing,
          }),
        );
      expect(await tripsOf(page)).toBe(1);
    });
  });

  describe("of a request, with a key in memory", () => {
    let service: TestService;
    let key: string;
    const isOver = Promise.withResolvers<boolean>();
    beforeAll(async () => {
      service = await TestService.start({
        settings: { PETSTORE_DATABASE_URL: urlOf(await server.newDatabase()) },
        // Background tasks wait to know whether this process leads, so that only requests call the database.
        openStore: async (...options) => Object.assign(await openStorage(...options), { lead: () => isOver.promise }),
      });
      key = await service.newKey();
    });
    afterAll(async () => {
      isOver.resolve(false);
      // Not `stop`, which compares the events with those of the harness's own store.
      await service.app.stop();
      await service.store.remove();
    });

    async function call(method: string, path: string, body?: unknown, more: Call = {}) {
      const response = await service.call(method, path, { key, body, ...more });
      if (response.status >= 400) throw new Error(`${method} ${path}: ${response.text}`);
      return response;
    }
    /** The path of a new resource. */
    const created = async (list: string, body: unknown) => `${list}/${(await call("POST", list, body)).json.id}`;
    const order = (pet: string) => created("/store/orders", orderOf(pet));
    const newPets = () => manyOf(() => created("/pets", rex));

    test("one for a read, and one more for the key if it is not in memory", async () => {
      const pet = await created("/pets", rex);
      expect([
        await tripsOf(() => call("GET", pet)),
        await tripsOf(() => call("GET", "/pets")),
        await tripsFor(await manyOf(() => service.newKey()), (unread) => call("GET", pet, undefined, { key: unread })),
      ]).toEqual([1, 1, 2]);
    });

    test("2 for a creation, 5 or 6 for an update, 7 for a deletion", async () => {
      expect([
        await tripsOf(() => call("POST", "/pets", rex)),
        await tripsFor(await newPets(), (pet) => call("PATCH", pet, { name: "Ida" })),
        await tripsFor(await newPets(), (pet) => call("PATCH", pet, { status: "pending" })),
        await tripsFor(await newPets(), (pet) => call("DELETE", pet)),
      ]).toEqual([2, 5, 6, 7]);
    });

    test("7 to place an order, and 7 to confirm it", async () => {
      const newOrders = await manyOf(async () => order(await created("/pets", rex)));
      expect([
        await tripsFor(await newPets(), order),
        await tripsFor(newOrders, (placed) => call("POST", `${placed}/confirm`)),
      ]).toEqual([7, 7]);
    });

    test("2 more with an Idempotency-Key", async () => {
      expect([
        await tripsOf(() => call("POST", "/pets", rex, once())),
        await tripsFor(await newPets(), (pet) => call("PATCH", pet, { name: "Ida" }, once())),
        await tripsFor(await newPets(), (pet) => call("POST", "/store/orders", orderOf(pet), once())),
      ]).toEqual([2 + 2, 5 + 2, 7 + 2]);
    });
  });
});
