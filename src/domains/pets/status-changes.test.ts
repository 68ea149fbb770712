// How the status of an animal came about, whatever changed it.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Reply, TestService } from "../../../test/harness/service.ts";
import { SqliteStorage } from "../../storage/sqlite/sqlite-storage.ts";
import { createShops, lockShop, shopOf } from "../shops/shops.store.ts";
import type { PetStatus, StatusCause, StatusChange } from "./pets.operations.ts";
import { PetStore } from "./pets.store.ts";
import { transitions } from "./transitions.ts";

const statuses: readonly PetStatus[] = ["available", "pending", "sold"];

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey();
});
afterAll(() => service.stop());

const create = async (body: object = { name: "Rex", categoryId: 1, status: "available" }) =>
  service.call("POST", "/pets", { key, body });
const patch = (id: number, body: unknown) => service.call("PATCH", `/pets/${id}`, { key, body });
const history = (id: number, query = "") => service.call("GET", `/pets/${id}/history${query}`, { key });
const at = () => new Date(service.clock.now()).toISOString();

/** All changes of an animal, read in pages of so many. */
async function walk(id: number, limit: number, onPage = () => {}) {
  const walked: StatusChange[] = [];
  for (let path: string | undefined = `/pets/${id}/history?limit=${limit}`; path; ) {
    const page: Reply = await service.call("GET", path, { key });
    onPage();
    walked.push(...page.json);
    path = /<([^>]*)>; rel="next"/.exec(page.headers.get("link") ?? "")?.[1]?.slice(service.app.base.length);
  }
  return walked;
}

describe("listPetStatusChanges", () => {
  test("tells each change with its time and cause, the oldest first", async () => {
    const { json: pet } = await create();
    const expected: object[] = [{ at: at(), cause: "added", to: "available" }];
    expect((await history(pet.id)).json).toEqual(expected);
    for (const [from, to] of [
      ["available", "pending"],
      ["pending", "available"],
      ["available", "sold"],
    ]) {
      service.clock.advance(61_001);
      await patch(pet.id, { status: to });
      await patch(pet.id, { name: "Max" }); // is no change of status
      await patch(pet.id, { status: to });
      expected.push({ at: at(), cause: "updated", from, to });
    }
    expect((await history(pet.id)).json).toEqual(expected);
  });

  test("leaves out the status where there was none", async () => {
    const { json: pet } = await create({ name: "Tom", categoryId: 1 });
    expect((await history(pet.id)).json).toEqual([{ at: at(), cause: "added" }]);
    await patch(pet.id, { status: "sold" });
    expect((await history(pet.id)).json).toEqual([
      { at: at(), cause: "added" },
      { at: at(), cause: "updated", to: "sold" },
    ]);
  });

  test("is read page by page", async () => {
    const { json: pet } = await create();
    for (let count = 0; count < 9; count++) {
      await patch(pet.id, { status: count % 2 === 0 ? "pending" : "available" });
    }
    const all = (await history(pet.id, "?limit=100")).json;
    expect(all).toHaveLength(10);
    for (const limit of [1, 2, 3, 5, 9, 10]) {
      let pages = 0;
      expect([limit, await walk(pet.id, limit, () => pages++)]).toEqual([limit, all]);
      expect(pages).toBe(Math.ceil(10 / limit));
    }
  });

  test("is bounded: the first change and the newest thousand stay, and are walked through", async () => {
    const { json: pet } = await create();
    const storage = await service.store.open();
    const shop = await service.shop();
    const pets = new PetStore(storage, { clock: service.clock });
    const change = function* (count: number) {
      service.clock.advance(1);
      const to = count % 2 === 0 ? "available" : "pending";
      yield* pets.changeStatus(yield* lockShop(shop, service.clock.now()), BigInt(pet.id), to, "updated");
    };
    await storage.write(function* () {
      for (let count = 1; count <= 2_345; count++) yield* change(count);
    });
    await storage.close();
    const walked = await walk(pet.id, 100);
    expect(walked.slice(0, 2)).toEqual([
      { at: expect.any(String), cause: "added", to: "available" },
      { at: expect.any(String), cause: "updated", from: "available", to: "pending" },
    ]);
    expect(walked.slice(2).map(({ at: time }) => Date.parse(time as string) - service.clock.now())).toEqual(
      Array.from({ length: 1_045 }, (_, index) => index - 1_044),
    );
    expect(await service.store.rows(`SELECT 1 FROM pet_status_changes WHERE pet_id = ${pet.id}`)).toHaveLength(1_046);
  });
});

test("a change of status by another cause follows the table, and is noted with it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-test-"));
  const storage = new SqliteStorage(join(folder, "petstore.db"));
  const pets = new PetStore(storage);
  await storage.write(() => createShops("acc_1"));
  const shop = (await shopOf(storage, "acc_1", "test")) as number;
  const change = (id: bigint, to: PetStatus, cause: StatusCause) =>
    storage.write(function* () {
      return yield* pets.changeStatus(yield* lockShop(shop, 0), id, to, cause);
    });
  const causes: readonly StatusCause[] = [
    "added",
    "imported",
    "updated",
    "order_placed",
    "order_confirmed",
    "order_cancelled",
    "order_expired",
    "order_returned",
  ];
  for (const cause of causes) {
    for (const from of statuses) {
      for (const to of statuses) {
        const pet = await storage.write(() => pets.add(shop, { name: "Rex", categoryId: 1n, status: from }));
        if (pet === "unknown category") throw new Error("The animal was not added.");
        const outcome = await change(pet.id, to, cause);
        const ways = transitions.filter((one) => one.from === from && one.causes.includes(cause)).map((one) => one.to);
        const isAllowed = ways.includes(to);
        const refusal = { refused: "transition", from, allowed: ways } as const;
        expect([cause, from, to, outcome]).toEqual([cause, from, to, isAllowed ? "changed" : refusal]);
        expect((await pets.get(shop, pet.id))?.status).toBe(isAllowed ? to : from);
        const caused = (await pets.statusChanges(shop, pet.id, undefined, 10))?.items.map((noted) => noted.cause);
        expect(caused).toEqual(isAllowed ? ["added", cause] : ["added"]);
      }
    }
  }
  expect(await change(999n, "sold", "updated")).toBe("not found");
  await storage.close();
  rmSync(folder, { recursive: true });
});
