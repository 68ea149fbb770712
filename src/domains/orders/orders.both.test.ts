import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { NOON } from "../../../test/harness/manual-clock.ts";
import { eventually } from "../../../test/harness/program.ts";
import { type TestResponse, TestService } from "../../../test/harness/service.ts";
import { MINUTE_MS } from "../../timing/clock.ts";

/** How long an order reserves its animal where the settings say nothing. */
const RESERVATION = 15 * MINUTE_MS;

let service: TestService;
let key: string;

beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey();
});
afterAll(() => service.stop());

beforeEach(async () => {
  service.clock.setWall(NOON);
  await service.store.empty();
});

const place = (body: unknown) => service.call("POST", "/store/orders", { key, body });
const get = (id: unknown) => service.call("GET", `/store/orders/${id}`, { key });
const confirm = (id: unknown) => service.call("POST", `/store/orders/${id}/confirm`, { key });
const cancel = (id: unknown) => service.call("POST", `/store/orders/${id}/cancel`, { key });
const giveBack = (id: unknown) => service.call("POST", `/store/orders/${id}/return`, { key });
const list = (query = "") => service.call("GET", `/store/orders${query}`, { key });
const update = (id: number, body: unknown) => service.call("PATCH", `/pets/${id}`, { key, body });
const remove = (id: number) => service.call("DELETE", `/pets/${id}`, { key });
const outcomeOf = ({ status, json }: TestResponse) => [status, json?.code];
const refusalOf = ({ status, json }: TestResponse) => [status, json.code, json.message];

const notOpen = (state: string) => [409, "order_not_open", `The order N is ${state}, so it is no longer open.`];
const notConfirmed = (state: string) => [
  409,
  "order_not_confirmed",
  `The order N is ${state}; only a confirmed one can be returned.`,
];
const done = (state: string) => [200, undefined, state];

/** Adds an animal and returns its id. */
async function addPet(status?: string): Promise<number> {
  const { json } = await service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1, status } });
  return json.id;
}
/** An order of a new animal. */
const placeForNewPet = async () => (await place({ petId: await addPet("available") })).json;
const statusOfPet = async (id: number) => (await service.call("GET", `/pets/${id}`, { key })).json.status;

describe("placeStoreOrder", () => {
  test("reserves an available animal", async () => {
    const petId = await addPet("available");
    const { status, json, text, headers } = await place({ petId, reference: "receipt 7" });
    expect([status, json]).toEqual([
      201,
      {
        id: 1,
        petId,
        reference: "receipt 7",
        status: "placed",
        placedAt: "2026-11-21T12:00:00.000Z",
        expiresAt: "2026-11-21T12:15:00.000Z",
      },
    ]);
    expect(headers.get("location")).toBe(`${service.app.base}/store/orders/1`);
    expect((await get(1)).text).toBe(text);
    expect(await statusOfPet(petId)).toBe("pending");
  });

  test("returns the entity tag that a read returns, like the other operations on orders", async () => {
    const tags = new Set<string | null>();
    const expectTag = async ({ status, json, headers }: TestResponse) => {
      expect([status, headers.get("etag")]).toEqual([status, (await get(json.id)).headers.get("etag")]);
      tags.add(headers.get("etag"));
    };
    const first = await place({ petId: await addPet("available") });
    await expectTag(first);
    await expectTag(await confirm(first.json.id));
    await expectTag(await giveBack(first.json.id));
    const second = await place({ petId: first.json.petId });
    await expectTag(await cancel(second.json.id));
    expect([tags.size, tags.has(null)]).toEqual([4, false]);
  });

  test("needs no reference, and stores one unchanged", async () => {
    expect(await placeForNewPet()).not.toHaveProperty("reference");
    for (const reference of ["x", " 7 ", "🐕".repeat(255), "Vo\u0308gel"]) {
      const { json } = await place({ petId: await addPet("available"), reference });
      expect((await get(json.id)).json.reference).toBe(reference);
    }
  });

  test.each([
    ["pending", "is pending"],
    ["sold", "is sold"],
    [undefined, "has no status"],
  ])("refuses an animal whose status is %s", async (status, state) => {
    const petId = await addPet(status);
    expect(refusalOf(await place({ petId }))).toEqual([
      409,
      "pet_not_available",
      `The animal ${petId} ${state}; only an available one can be ordered.`,
    ]);
    expect(await statusOfPet(petId)).toBe(status);
    expect((await list()).json).toEqual([]);
  });

  test.each(["999", "0", "-1", "9007199254740993", "9223372036854775807"])(
    "refuses the animal %s, which does not exist",
    async (petId) => {
      expect(refusalOf(await place(`{"petId":${petId}}`))).toEqual([
        422,
        "ordered_pet_not_found",
        `No animal has the id ${petId}.`,
      ]);
    },
  );

  test.each([
    [{}, "/body/petId", "is required"],
    [{ petId: "1" }, "/body/petId", 'must be a 64-bit integer; got "1", write it without quotes'],
    [{ petId: 1.5 }, "/body/petId", "must be a 64-bit integer; got 1.5"],
    [{ petId: 1, reference: "" }, "/body/reference", "must have at least 1 character; it has 0"],
    [{ petId: 1, reference: "x".repeat(256) }, "/body/reference", "must have at most 255 characters; it has 256"],
    [{ petId: 1, reference: "a\0b" }, "/body/reference", "must hold no control character; character 2 is U+0000"],
    [{ petId: 1, refrence: "7" }, "/body/refrence", "is not a field of this operation; did you mean reference?"],
  ])("refuses %j", async (body, path, message) => {
    const { status, json } = await place(body);
    expect([status, json.code, json.details]).toEqual([400, "invalid_request", [{ path, message }]]);
  });

  test("succeeds for exactly one of hundreds of concurrent orders for each of a few animals", async () => {
    const animals = await Promise.all(Array.from({ length: 6 }, () => addPet("available")));
    const ordered = Array.from({ length: 600 }, (_, index) => animals[index % animals.length] as number);
    const answers = await Promise.all(ordered.map((petId) => place({ petId })));
    const placed = answers.filter(({ status }) => status === 201).map(({ json }) => json.petId as number);
    expect(placed.toSorted((a, b) => a - b)).toEqual(animals.toSorted((a, b) => a - b));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(new Set(refused.map((answer) => String(outcomeOf(answer))))).toEqual(new Set(["409,pet_not_available"]));
    const listed = (await list("?limit=100")).json.map(({ petId }: { petId: number }) => petId);
    expect(new Set(listed)).toEqual(new Set(placed));
  });

  test("never creates two open orders for an animal: a database constraint prevents it", async () => {
    const { petId } = await placeForNewPet();
    const again = `INSERT INTO store_orders (shop, id, pet_id, status, placed_at, expires_at, due_at)
      VALUES (${await service.shop()}, 999999, ${petId}, 'placed', 0, 0, 0)`;
    expect(await service.store.run(again).catch(String)).toMatch(/unique/i);
  });
});

describe("confirmStoreOrder, cancelStoreOrder and returnStoreOrder", () => {
  test("sell an animal, and take it back", async () => {
    const order = await placeForNewPet();
    service.clock.advance(1_001);
    const confirmed = await confirm(order.id);
    const sale = {
      confirmedAt: "2026-11-21T12:00:01.001Z",
      seller: "test",
      confirmedBy: expect.any(Object),
      petName: "Rex",
      categoryId: 1,
    };
    const expected = { ...order, status: "confirmed", ...sale };
    expect([confirmed.status, confirmed.json]).toEqual([200, expected]);
    expect(await statusOfPet(order.petId)).toBe("sold");
    service.clock.advance(RESERVATION);
    const returned = await giveBack(order.id);
    const whole = { ...expected, status: "returned", returnedAt: "2026-11-21T12:15:01.001Z" };
    expect([returned.status, returned.json]).toEqual([200, whole]);
    expect(await statusOfPet(order.petId)).toBe("available");
    expect((await get(order.id)).json).toEqual(whole);
  });

  test("release an animal, which then can be ordered again", async () => {
    const order = await placeForNewPet();
    service.clock.advance(1);
    const { status, json } = await cancel(order.id);
    expect([status, json]).toEqual([200, { ...order, status: "cancelled", cancelledAt: "2026-11-21T12:00:00.001Z" }]);
    expect(await statusOfPet(order.petId)).toBe("available");
    expect((await place({ petId: order.petId })).json).toMatchObject({ id: 2, petId: order.petId, status: "placed" });
  });

  test("refuse an order in another state, and name its state", async () => {
    const states: Record<string, () => Promise<number>> = {
      placed: async () => (await placeForNewPet()).id,
      confirmed: async () => (await confirm(await states["placed"]!())).json.id,
      cancelled: async () => (await cancel(await states["placed"]!())).json.id,
      returned: async () => (await giveBack(await states["confirmed"]!())).json.id,
    };
    const answers = async (state: string) => {
      const outcomes: unknown[] = [];
      for (const act of [confirm, cancel, giveBack]) {
        const id = await states[state]!();
        const answer = await act(id);
        const text = answer.status === 200 ? answer.json.status : answer.json.message.replace(String(id), "N");
        outcomes.push([...outcomeOf(answer), text]);
      }
      return outcomes;
    };
    expect(await answers("placed")).toEqual([done("confirmed"), done("cancelled"), notConfirmed("placed")]);
    expect(await answers("confirmed")).toEqual([notOpen("confirmed"), notOpen("confirmed"), done("returned")]);
    expect(await answers("cancelled")).toEqual([notOpen("cancelled"), notOpen("cancelled"), notConfirmed("cancelled")]);
    expect(await answers("returned")).toEqual([notOpen("returned"), notOpen("returned"), notConfirmed("returned")]);
  });

  test("return 404 for an order that does not exist", async () => {
    for (const act of [get, confirm, cancel, giveBack]) {
      for (const id of [1, 0, "-1", "9223372036854775807", "9223372036854775808", "01", "abc", "%00"]) {
        expect([id, ...outcomeOf(await act(id))]).toEqual([id, 404, "order_not_found"]);
      }
    }
  });

  test("do only one of many concurrent changes of an order", async () => {
    for (let round = 0; round < 5; round++) {
      const order = await placeForNewPet();
      const acts = Array.from({ length: 60 }, (_, index) => (index % 2 === round % 2 ? confirm : cancel));
      const answers = await Promise.all(acts.map((act) => act(order.id)));
      const [won, ...others] = answers.filter(({ status }) => status === 200);
      expect(others).toEqual([]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
      expect((await get(order.id)).json).toEqual(won?.json);
      expect(await statusOfPet(order.petId)).toBe(won?.json.status === "confirmed" ? "sold" : "available");
    }
  });
});

test("an animal that was made pending manually cannot be ordered", async () => {
  const petId = await addPet("available");
  await update(petId, { status: "pending" });
  expect(outcomeOf(await place({ petId }))).toEqual([409, "pet_not_available"]);
  await update(petId, { status: "available" });
  expect((await place({ petId })).status).toBe(201);
});

describe("an animal under an open order", () => {
  test("keeps its status and cannot be deleted, but can change otherwise", async () => {
    const { id, petId } = await placeForNewPet();
    for (const status of ["available", "sold"]) {
      expect(outcomeOf(await update(petId, { status, name: "Max" }))).toEqual([409, "pet_has_open_order"]);
    }
    expect(outcomeOf(await remove(petId))).toEqual([409, "pet_has_open_order"]);
    expect((await update(petId, { name: "Max", status: "pending" })).json).toMatchObject({ name: "Max" });
    expect((await confirm(id)).status).toBe(200);
    expect((await remove(petId)).status).toBe(204);
  });

  test("cannot be made available manually to be ordered a second time", async () => {
    const { id, petId } = await placeForNewPet();
    const acts = Array.from({ length: 150 }, (_, index) =>
      index % 3 === 0 ? update(petId, { status: "available" }) : index % 3 === 1 ? place({ petId }) : remove(petId),
    );
    expect(new Set((await Promise.all(acts)).map(({ status }) => status))).toEqual(new Set([409]));
    expect((await list(`?petId=${petId}&status=placed`)).json).toEqual([(await get(id)).json]);
  });

  test("has events that name the order", async () => {
    const { id, petId } = await placeForNewPet();
    await cancel(id);
    await giveBack((await confirm((await place({ petId })).json.id)).json.id);
    await place({ petId });
    service.clock.advance(RESERVATION);
    await eventually(async () => (await statusOfPet(petId)) === "available");
    const { json } = await service.call("GET", `/events?petId=${petId}`, { key });
    expect(json.map(({ type, data }: { type: string; data: { status: string } }) => [type, data.status])).toEqual([
      ["pet.created", "available"],
      ["order.placed", "placed"],
      ["pet.updated", "pending"],
      ["order.cancelled", "cancelled"],
      ["pet.updated", "available"],
      ["order.placed", "placed"],
      ["pet.updated", "pending"],
      ["order.confirmed", "confirmed"],
      ["pet.updated", "sold"],
      ["order.returned", "returned"],
      ["pet.updated", "available"],
      ["order.placed", "placed"],
      ["pet.updated", "pending"],
      ["order.expired", "expired"],
      ["pet.updated", "available"],
    ]);
  });
});

describe("an animal that an order sold", () => {
  test("changes its status only by the return of that order, but can change otherwise", async () => {
    const { id, petId } = await placeForNewPet();
    await confirm(id);
    for (const status of ["available", "pending"]) {
      expect(refusalOf(await update(petId, { status, name: "Max" }))).toEqual([
        409,
        "invalid_transition",
        `The order ${id} sold the animal ${petId}; its status changes when that order is returned.`,
      ]);
    }
    expect((await update(petId, { name: "Max", status: "sold" })).json).toMatchObject({ name: "Max", status: "sold" });
    await giveBack(id);
    expect((await update(petId, { status: "sold" })).status).toBe(200);
    expect((await update(petId, { status: "available" })).status).toBe(200);
  });

  test("has any status again once its order is finished, despite earlier orders", async () => {
    const first = await placeForNewPet();
    const { petId } = first;
    await giveBack((await confirm(first.id)).json.id);
    const second = (await place({ petId })).json;
    await cancel(second.id);
    for (const status of ["sold", "pending", "available"]) expect((await update(petId, { status })).status).toBe(200);
    const third = (await place({ petId })).json;
    await confirm(third.id);
    expect(outcomeOf(await update(petId, { status: "available" }))).toEqual([409, "invalid_transition"]);
  });

  test("differs from an animal that was sold manually", async () => {
    const { id } = await placeForNewPet();
    await confirm(id);
    const petId = await addPet("sold");
    expect((await update(petId, { status: "available" })).status).toBe(200);
  });

  test("cannot be ordered or returned after its deletion", async () => {
    const { id, petId } = await placeForNewPet();
    await confirm(id);
    await remove(petId);
    expect(outcomeOf(await place({ petId }))).toEqual([422, "ordered_pet_not_found"]);
    expect(refusalOf(await giveBack(id))).toEqual([
      409,
      "pet_deleted",
      `The animal that the order ${id} sold was deleted.`,
    ]);
    expect((await get(id)).json.status).toBe("confirmed");
  });

  test.each(["available", "pending", null])(
    "stays deleted even if the store has another animal with its id, with the status %p: its order cannot be returned",
    async (status) => {
      const { id, petId } = await placeForNewPet();
      await confirm(id);
      await remove(petId);
      const written = status === null ? "NULL" : `'${status}'`;
      await service.store.run(
        `INSERT INTO pets (shop, id, name, category_id, status, added_at)
         VALUES (${await service.shop()}, ${petId}, 'Tom', 1, ${written}, 0)`,
      );
      expect(outcomeOf(await giveBack(id))).toEqual([409, "pet_deleted"]);
      expect(await statusOfPet(petId)).toBe(status ?? undefined);
      expect((await get(id)).json.status).toBe("confirmed");
    },
  );
});

describe("a reservation", () => {
  test("lasts until the millisecond in the order", async () => {
    const [early, late] = [await placeForNewPet(), await placeForNewPet()];
    service.clock.advance(RESERVATION - 1);
    expect((await confirm(early.id)).status).toBe(200);
    service.clock.advance(1);
    for (const act of [confirm, cancel, confirm]) {
      expect(refusalOf(await act(late.id))).toEqual([
        409,
        "order_not_open",
        `The order ${late.id} is expired, so it is no longer open.`,
      ]);
    }
    expect((await get(late.id)).json).toEqual({ ...late, status: "expired" });
    expect(await statusOfPet(late.petId)).toBe("available");
    expect(outcomeOf(await giveBack(late.id))).toEqual([409, "order_not_confirmed"]);
  });

  test("does not hold an animal after its end, not even a moment", async () => {
    const order = await placeForNewPet();
    service.clock.advance(RESERVATION - 1);
    expect(outcomeOf(await place({ petId: order.petId }))).toEqual([409, "pet_not_available"]);
    service.clock.advance(1);
    const answers = await Promise.all(Array.from({ length: 50 }, () => place({ petId: order.petId })));
    expect(answers.filter(({ status }) => status === 201).length).toBe(1);
    expect((await get(order.id)).json.status).toBe("expired");
    expect(await statusOfPet(order.petId)).toBe("pending");
  });

  test("expires in the background", async () => {
    const order = await placeForNewPet();
    const sold = await placeForNewPet();
    await confirm(sold.id);
    service.clock.advance(RESERVATION);
    await eventually(async () => (await get(order.id)).json.status === "expired");
    expect(await statusOfPet(order.petId)).toBe("available");
    expect([(await get(sold.id)).json.status, await statusOfPet(sold.petId)]).toEqual(["confirmed", "sold"]);
  });

  test("expires while the service does not run", async () => {
    const order = await placeForNewPet();
    const { clock } = service;
    await service.app.stop();
    clock.advance(RESERVATION);
    service = await TestService.start({ store: service.store, clock });
    await eventually(async () => (await get(order.id)).json.status === "expired");
    expect(await statusOfPet(order.petId)).toBe("available");
  });

  test("lasts as long as was configured when the order was placed", async () => {
    const old = await placeForNewPet();
    const { clock, store } = service;
    await service.app.stop();
    service = await TestService.start({ store, clock, settings: { PETSTORE_RESERVATION_MINUTES: "1440" } });
    expect((await get(old.id)).json.expiresAt).toBe("2026-11-21T12:15:00.000Z");
    expect((await placeForNewPet()).expiresAt).toBe("2026-11-22T12:00:00.000Z");
    await service.app.stop();
    service = await TestService.start({ store, clock });
  });
});
