// The ids in the data of events about many animals, which the contract does not describe.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runJsonInProcess } from "../../test/harness/commands.ts";
import { newDataDir } from "../../test/harness/program.ts";
import { TestService } from "../../test/harness/service.ts";
import { type Event, type IdKind, Petstore } from "../src/index.ts";

/** From this number on, an import adds one event for all animals. */
const ANIMALS = 10_001;

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start();
  const { account, key: own } = await service.newAccountWithKey("enterprise");
  key = own;
  const file = join(newDataDir(), "animals.jsonl");
  writeFileSync(file, '{"name":"Rex","categoryId":9}\n'.repeat(ANIMALS));
  const { folder, settings } = service.store;
  await runJsonInProcess(folder, ["import", file, "--account", account.id], settings);
  await new Petstore({ key, baseUrl: service.app.base }).createCategory({ id: 9, name: "Cats" });
  await new Petstore({ key, baseUrl: service.app.base }).createCategory({ id: 10, name: "Dogs" });
  await new Petstore({ key, baseUrl: service.app.base }).deleteCategory(9, { moveTo: 10 });
});
afterAll(() => service.stop());

/** The data of the events of these types. */
async function dataOf(ids: IdKind): Promise<Event["data"][]> {
  const petstore = new Petstore({ key, baseUrl: service.app.base, ids });
  const events = await petstore.listEvents({ type: ["import.completed", "pets.reassigned"] }).page();
  return events.map(({ data }) => data);
}

test("are bigints like all other ids", async () => {
  expect(await dataOf("bigint")).toEqual([
    { animals: ANIMALS, firstId: 1n, lastId: BigInt(ANIMALS) },
    { animals: ANIMALS, from: 9n, to: 10n },
  ]);
});

test("are numbers in a client that asks for them", async () => {
  expect(await dataOf("number")).toEqual([
    { animals: ANIMALS, firstId: 1, lastId: ANIMALS },
    { animals: ANIMALS, from: 9, to: 10 },
  ]);
});
