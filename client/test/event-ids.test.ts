// The ids in the data of an event about many animals.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestService } from "../../test/harness/service.ts";
import { type IdKind, Petstore } from "../src/index.ts";

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey();
  const petstore = new Petstore({ key, baseUrl: service.app.base });
  await petstore.createCategory({ id: 9, name: "Cats" });
  await petstore.createCategory({ id: 10, name: "Dogs" });
  await petstore.createPet({ name: "Rex", categoryId: 9 });
  await petstore.deleteCategory(9, { moveTo: 10 });
});
afterAll(() => service.stop());

/** The data of the events of these types. */
async function dataOf<Ids extends IdKind>(ids: Ids) {
  const petstore = new Petstore({ key, baseUrl: service.app.base, ids });
  const events = await petstore.listEvents({ type: ["pets.reassigned"] }).page();
  return events.map(({ data }) => data);
}

test("are bigints like all other ids", async () => {
  expect(await dataOf("bigint")).toEqual([{ animals: 1, firstPetId: 1n, from: 9n, lastPetId: 1n, to: 10n }]);
});

test("are numbers in a client that asks for them", async () => {
  expect(await dataOf("number")).toEqual([{ animals: 1, firstPetId: 1, from: 9, lastPetId: 1, to: 10 }]);
});
