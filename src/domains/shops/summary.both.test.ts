// The figures of a shop. After random walks they are compared with a full count in `shop-model.both.test.ts`.

import { expect, test } from "bun:test";
import { numbers } from "../../../test/harness/numbers.ts";
import { TestService } from "../../../test/harness/service.ts";
import { unchecked } from "../../../test/harness/unchecked-pets.ts";
import { DAY_MS } from "../../timing/clock.ts";
import { operator } from "../events/publish.ts";
import { PetStore } from "../pets/pets.store.ts";
import { addPets } from "../pets/several/pet-imports.store.ts";

const nothing = { added: 0, sold: 0, markedSold: 0, expired: 0, returned: 0 };

async function started() {
  const service = await TestService.start();
  const key = await service.newKey();
  const call = async (method: string, path: string, body?: object) =>
    (await service.call(method, path, { key, body })).json;
  return { service, call, figures: () => call("GET", "/shop") };
}

test("an empty shop has no figures", async () => {
  const { service, figures } = await started();
  const since = new Date(service.clock.now() - (service.clock.now() % DAY_MS)).toISOString();
  expect(await figures()).toEqual({
    timeZone: "UTC",
    animals: { total: 0, available: 0, pending: 0, sold: 0, withoutStatus: 0 },
    animalsAllowed: 10_000,
    categories: [],
    openOrders: 0,
    today: { since, ...nothing },
  });
  await service.stop();
});

test("today's figures end at midnight (UTC), even without a change at that time", async () => {
  const { service, call, figures } = await started();
  await call("POST", "/pets", { name: "Rex", categoryId: 1, status: "available" });
  const toMidnight = DAY_MS - (service.clock.now() % DAY_MS);
  service.clock.advance(toMidnight - 1);
  expect((await figures()).today).toMatchObject({ ...nothing, added: 1 });
  service.clock.advance(1);
  expect((await figures()).today).toMatchObject(nothing);
  await call("PATCH", "/pets/1", { status: "sold" });
  expect((await figures()).today).toMatchObject({ ...nothing, markedSold: 1 });
  await call("POST", "/pets", { name: "Max", categoryId: 1 });
  await call("POST", "/pets", { name: "Tom", categoryId: 1 });
  expect((await figures()).today).toMatchObject({ ...nothing, added: 2, markedSold: 1 });
  await service.stop();
});

test("today is the day of the clock, also after it was far ahead", async () => {
  const { service, call, figures } = await started();
  const add = () => call("POST", "/pets", { name: "Rex", categoryId: 1 });
  service.clock.advance(40 * DAY_MS);
  await add();
  service.clock.setWall(service.clock.now() - 40 * DAY_MS);
  expect((await figures()).today).toMatchObject(nothing);
  await add();
  expect((await figures()).today).toMatchObject({ ...nothing, added: 1 });
  service.clock.advance(DAY_MS);
  expect((await figures()).today).toMatchObject(nothing);
  await service.stop();
});

test("a day that has ended for another process is no longer counted", async () => {
  const { service, call, figures } = await started();
  const add = () => call("POST", "/pets", { name: "Rex", categoryId: 1 });
  service.clock.advance(DAY_MS - (service.clock.now() % DAY_MS));
  await add();
  service.clock.setWall(service.clock.now() - 1); // a process whose clock is a millisecond behind
  await add();
  await call("PATCH", "/pets/1", { status: "sold" });
  service.clock.advance(1);
  expect((await figures()).today).toMatchObject({ ...nothing, added: 1 });
  await service.stop();
});

test("animals that are added concurrently, moved, imported and deleted are counted", async () => {
  const { service, call, figures } = await started();
  const statuses = ["available", "pending", "sold", undefined];
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      call("POST", "/pets", { name: "Rex", categoryId: 1 + (index % 3), status: statuses[index % 4] }),
    ),
  );
  const storage = await service.store.open();
  const tom = { name: "Tom", categoryId: 9n };
  const animals = [
    { ...tom, status: "sold" },
    { ...tom, status: "sold" },
    { ...tom, status: "available" },
    tom,
  ] as const;
  const [pets, author] = [
    new PetStore(storage, { ...unchecked, clock: service.clock }),
    operator(await service.shop()),
  ];
  await storage.write(() => addPets(pets.checks, author, animals));
  await storage.close();
  for (const id of [1, 2, 3, 4, 5]) await call("DELETE", `/pets/${id}`);
  const shown = await figures();
  const all: { status?: string }[] = await call("GET", "/pets?limit=100");
  const count = (status?: string) => all.filter((one) => one.status === status).length;
  expect(shown.animals).toEqual({
    total: 39,
    available: count("available"),
    pending: count("pending"),
    sold: count("sold"),
    withoutStatus: count(),
  });
  expect(shown.today).toMatchObject({ ...nothing, added: 44 });
  expect(shown.categories.at(-1)).toEqual({ categoryId: 9, animals: 4 });
  await service.stop();
});

test("shows the 100 largest categories, largest first, and no empty one", async () => {
  const { service, call, figures } = await started();
  const shop = await service.shop();
  await service.store.run(
    `${numbers(150)}
     INSERT INTO category_animals (shop, category_id, animals) SELECT ${shop}, n, CASE WHEN n > 120 THEN 7 ELSE n END FROM numbers`,
  );
  const { categories } = await figures();
  expect(categories).toHaveLength(100);
  expect(categories.slice(0, 2)).toEqual([
    { categoryId: 120, animals: 120 },
    { categoryId: 119, animals: 119 },
  ]);
  await service.store.run(`UPDATE category_animals SET animals = 0 WHERE shop = ${shop} AND category_id <> 5`);
  expect((await call("GET", "/shop")).categories).toEqual([{ categoryId: 5, animals: 5 }]);
  await service.stop();
});
