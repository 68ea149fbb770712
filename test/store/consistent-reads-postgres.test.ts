// Reads of more than one table or range, on PostgreSQL. Other clients can write between two statements, so each read is
// one statement: its result is of one moment, and it takes one round trip. Changes lock and write, which takes more.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openStorage } from "../../src/app/store/open-storage.ts";
import { readConfig } from "../../src/config.ts";
import { operator } from "../../src/domains/events/author.ts";
import { decidingOrder } from "../../src/domains/orders/orders.store.ts";
import { PetStore } from "../../src/domains/pets/pets.store.ts";
import { lockShop } from "../../src/domains/shops/shops.store.ts";
import { UsageStore } from "../../src/domains/usage/usage.store.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Transaction } from "../../src/storage/transaction.ts";
import { systemClock } from "../../src/timing/clock.ts";
import { DatabaseProxy } from "../harness/database-proxy.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";

const shop = 1;
const nothing = () => [];
const always = () => true;

describe.skipIf(postgresMissing !== undefined)("round trips to PostgreSQL", () => {
  let server: PostgresServer;
  let proxy: DatabaseProxy;
  let storage: Storage;
  let pets: PetStore;
  let usage: UsageStore;
  beforeAll(async () => {
    server = await PostgresServer.start();
    proxy = await DatabaseProxy.start(server.port);
    const url = server.url().replace(String(server.port), String(proxy.port));
    storage = await openStorage(readConfig({ PETSTORE_DATABASE_URL: url }));
    pets = new PetStore(storage);
    usage = new UsageStore(storage);
    await server.run(`
      INSERT INTO shops (shop, account_id, mode, last_pet_id) VALUES (${shop}, 'acc_1', 'test', 25000);
      INSERT INTO pets (shop, id, name, category_id, status, added_at)
      SELECT ${shop}, n, 'Rex', n % 2, 'available', 1 FROM generate_series(1, 25000) AS n
    `);
    await storage.write(function* () {
      yield* pets.changeStatus(yield* lockShop(shop, 1), 1n, "pending", "updated");
    });
  });
  afterAll(async () => {
    await storage.close();
    proxy.stop();
    await server.remove();
  });

  /** As many round trips as some work takes once its connections are made and its statements prepared. */
  async function tripsOf(act: () => unknown): Promise<number> {
    for (let round = 0; round < 4; round++) await act();
    return proxy.tripsOf(act);
  }

  describe("one for", () => {
    test.each([
      ["full", { categoryId: 0n }, 20],
      ["without an animal", { categoryId: 7n }, 0],
      ["of a status, without an animal", { categoryId: 7n, status: "available" }, 0],
    ] as const)("a page of a category that is %s, and that another page follows", async (_what, filters, animals) => {
      const page = () => pets.page(shop, undefined, 20, filters);
      const { items, next } = await page();
      expect([items.length, next !== undefined]).toEqual([animals, true]);
      expect(await tripsOf(page)).toBe(1);
    });

    test.each(["minute", "hour", "day"] as const)("the usage by the %s", async (granularity) => {
      const now = systemClock.now();
      const page = () =>
        usage.page({ accountId: "acc_1", mode: "live" }, granularity, {
          before: undefined,
          limit: 100,
          now,
          unsaved: nothing,
        });
      expect(await tripsOf(page)).toBe(1);
    });
  });

  test("4 or 5 for an update, 6 for a deletion", async () => {
    const service = new PetStore(storage, { decidingOrder, clock: systemClock });
    let id = 100n;
    const trips = (change: (petId: bigint) => () => Transaction<unknown>) => tripsOf(() => storage.write(change(++id)));
    expect([
      await trips((petId) => () => service.update(operator(shop), petId, { name: `Ida ${petId}` }, always)),
      await trips((petId) => () => service.update(operator(shop), petId, { status: "pending" }, always)),
      await trips((petId) => () => service.delete(operator(shop), petId, always)),
    ]).toEqual([4, 5, 6]);
  });
});
