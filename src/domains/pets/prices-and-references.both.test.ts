// The price of an animal, and the shop's own number for it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { logViolations } from "../../../test/conformance/replay.ts";
import { readExactly } from "../../../test/harness/ledger.ts";
import { type TestResponse, TestService } from "../../../test/harness/service.ts";
import { scopes } from "../../contract/caller.ts";

let service: TestService;
let key: string;
let shop: number;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  const made = await service.newAccountWithKey("enterprise", undefined, scopes);
  key = made.key;
  shop = await service.shop(made.account.id);
});
afterAll(() => service.stop());

const send = (method: string, path: string, body?: unknown) =>
  service.call(method, path, { key, ...(body === undefined ? {} : { body }) });
const rex = { name: "Rex", categoryId: 1, status: "available" };
const price = { amount: 24_900, currency: "EUR" };
const add = (more: object = {}) => send("POST", "/pets", { ...rex, ...more });
const patch = (id: number, body: object) => send("PATCH", `/pets/${id}`, body);
const importPets = (animals: readonly object[], more: object = {}) =>
  send("POST", "/pets/import", { animals, ...more });
const lastEvent = async () => (await send("GET", "/events?sort=-id&limit=1")).json[0];
const faultOf = ({ status, json }: TestResponse) => [status, json.details?.[0]?.path, json.details?.[0]?.message];
const expectSoundLog = async () =>
  expect(await logViolations(shop, (sql) => service.store.rows(sql), readExactly)).toEqual([]);
const list = (some: readonly [name: string, reference?: string, more?: object][]) =>
  some.map(([name, reference, more]) => Object.assign({ name, categoryId: 1 }, reference && { reference }, more));
const names = async () => (await send("GET", "/pets")).json.map(({ name }: { name: string }) => name);

test("an animal without both is as the interface says", async () => {
  expect((await add()).text).toBe('{"id":1,"name":"Rex","categoryId":1,"status":"available"}');
});

test("both are returned, listed, changed, removed, and in events", async () => {
  const added = await add({ price, reference: "chip 7" });
  expect([added.status, added.json]).toEqual([201, { id: 1, ...rex, price, reference: "chip 7" }]);
  expect((await send("GET", "/pets")).json).toEqual([added.json]);
  expect((await lastEvent()).data).toEqual(added.json);
  const cheaper = await patch(1, { price: { amount: 19_900 } });
  expect([cheaper.status, cheaper.json.price]).toEqual([200, { amount: 19_900, currency: "EUR" }]);
  expect((await lastEvent()).previous).toEqual({ price: { amount: 24_900 } });
  expect((await patch(1, { price: { amount: 19_900 } })).json).toEqual(cheaper.json);
  expect((await lastEvent()).previous).toEqual({ price: { amount: 24_900 } });
  const bare = await patch(1, { price: null, reference: null });
  expect(bare.json).toEqual({ id: 1, ...rex });
  expect((await lastEvent()).previous).toEqual({ price: { amount: 19_900, currency: "EUR" }, reference: "chip 7" });
  expect((await patch(1, { price, reference: "chip 8" })).json).toMatchObject({ price, reference: "chip 8" });
  expect((await lastEvent()).previous).toEqual({ price: null, reference: null });
  await expectSoundLog();
});

test("a price without a currency has that of the shop", async () => {
  const missing = expect.stringMatching(/^is required, because the shop has no currency: send one, such as EUR,/);
  expect(faultOf(await add({ price: { amount: 1 } }))).toEqual([400, "/body/price/currency", missing]);
  expect((await add()).status).toBe(201);
  expect(faultOf(await patch(1, { price: { amount: 1 } }))).toEqual([400, "/body/price/currency", missing]);
  expect(faultOf(await importPets([rex, { ...rex, price: { amount: 1 } }]))).toEqual([
    400,
    "/body/animals/1/price/currency",
    missing,
  ]);
  expect((await send("PATCH", "/shop", { currency: "JPY" })).status).toBe(200);
  expect((await add({ price: { amount: 1 } })).json.price).toEqual({ amount: 1, currency: "JPY" });
  expect((await patch(1, { price: { amount: 2 } })).json.price).toEqual({ amount: 2, currency: "JPY" });
  expect((await patch(1, { price })).json.price).toEqual(price);
  expect((await patch(1, { price: { amount: 3 } })).json.price).toEqual({ amount: 3, currency: "EUR" });
  const sale = await send("POST", "/store/orders", { petId: 1, price: { amount: 5 }, confirm: true });
  expect(sale.json.price).toEqual({ amount: 5, currency: "JPY" });
});

test.each<[string, object, string, string]>([
  [
    "a number as price",
    { price: 12.9 },
    "/price",
    'must be an object: {"amount":1290,"currency":"EUR"} for 12.90 EUR; got 12.9',
  ],
  [
    "an amount in units",
    { price: { amount: 12.9, currency: "EUR" } },
    "/price/amount",
    "must be a 64-bit integer from 0 to 1000000000000: in the smallest unit of the currency, such as 1290 for 12.90 EUR; got 12.9",
  ],
  [
    "a negative amount",
    { price: { amount: -1, currency: "EUR" } },
    "/price/amount",
    "must be a 64-bit integer from 0 to 1000000000000: in the smallest unit of the currency, such as 1290 for 12.90 EUR; got -1",
  ],
  [
    "a sign of a currency",
    { price: { amount: 1, currency: "€" } },
    "/price/currency",
    expect.stringContaining("must be a currency of ISO 4217, such as EUR; got"),
  ],
  [
    "a currency that there is not",
    { price: { amount: 1, currency: "XYZ" } },
    "/price/currency",
    expect.stringContaining("must be a currency of ISO 4217, such as EUR; got"),
  ],
  ["a reference of blanks", { reference: "  " }, "/reference", "must hold more than blanks"],
  ["an empty reference", { reference: "" }, "/reference", "must have at least 1 character; it has 0"],
  ["a long reference", { reference: "x".repeat(65) }, "/reference", "must have at most 64 characters; it has 65"],
])("%s is refused with an example", async (_, fields, path, message) => {
  expect(faultOf(await add(fields))).toEqual([400, `/body${path}`, message]);
  await add();
  const [status, at, said] = faultOf(await patch(1, fields));
  expect([status, at, String(said).replace("an object or null", "an object")]).toEqual([400, `/body${path}`, message]);
  expect(faultOf(await importPets([{ ...rex, ...fields }]))).toEqual([400, `/body/animals/0${path}`, message]);
});

test("a reference belongs to one animal of the shop, until it is removed or the animal deleted", async () => {
  const reference = "Ünïque 1";
  expect((await add({ reference })).status).toBe(201);
  const again = await add({ reference });
  expect([again.status, again.json.code, again.json.message]).toEqual([
    409,
    "reference_taken",
    "The reference is that of the animal 1.",
  ]);
  expect((await add({ reference: "ünïque 1" })).json.id).toBe(2); // another one: ids have no gap either
  const changed = await patch(2, { reference });
  expect([changed.status, changed.json.code]).toEqual([409, "reference_taken"]);
  expect((await patch(1, { reference })).status).toBe(200);
  const { key: other } = await service.newAccountWithKey("enterprise");
  const body = { ...rex, reference };
  expect((await service.call("POST", "/pets", { key: other, body })).status).toBe(201);
  await patch(1, { reference: null });
  expect((await patch(2, { reference })).status).toBe(200);
  await send("DELETE", "/pets/2");
  expect((await add({ reference })).json.id).toBe(3);
  await expectSoundLog();
});

test("exactly one of several clients gets a reference", async () => {
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => add({ reference: "chip 7" })));
  const added = outcomes.filter(({ status }) => status === 201);
  const refused = outcomes.filter(({ json }) => json.code === "reference_taken");
  expect([added.length, refused.length]).toEqual([1, 19]);
  expect((await send("GET", "/pets")).json).toHaveLength(1);
  await expectSoundLog();
});

describe("an import with references that exist", () => {
  test("is refused by default, with a fault for each", async () => {
    await add({ reference: "a" });
    const animals = list([["New"], ["Rex", "a"], ["Tom", "b"], ["Tim", "b"]]);
    const { status, json } = await importPets(animals);
    expect([status, json.details]).toEqual([
      400,
      [
        { path: "/body/animals/1/reference", message: "is that of the animal 1" },
        { path: "/body/animals/3/reference", message: "is also that of an animal before it" },
      ],
    ]);
    const some = await importPets(animals, { onError: "skip" });
    expect(some.json.animals.map(({ index, id }: { index: number; id: number }) => [index, id])).toEqual([
      [0, 2],
      [2, 3],
    ]);
    expect(await names()).toEqual(["Rex", "New", "Tom"]);
    await expectSoundLog();
  });

  test("leaves these animals out if it is asked to", async () => {
    await add({ reference: "a" });
    const { json } = await importPets(
      list([
        ["Other", "a"],
        ["Tom", "b"],
        ["Tim", "b"],
      ]),
      { onExisting: "skip" },
    );
    expect(json).toEqual({
      animals: [
        { index: 0, id: 1, outcome: "skipped" },
        { index: 1, id: 2, outcome: "created" },
        { index: 2, id: 2, outcome: "skipped" },
      ],
      faults: [],
    });
    expect(await names()).toEqual(["Rex", "Tom"]);
    await expectSoundLog();
  });

  test("changes the fields that are given if it is asked to, with one event for each animal", async () => {
    await add({ reference: "a", price, metadata: { shelf: "B", bin: "1" } });
    await add({ name: "Same", reference: "s" });
    const animals = list([
      ["Max", "a", { categoryId: 2, metadata: { shelf: "C" } }],
      ["Same", "s"],
      ["Tom", "b"],
      ["Max", "a", { price: { amount: 100 } }],
      ["Tim", "b", { status: "available" }],
    ]);
    const { json } = await importPets(animals, { onExisting: "update" });
    expect(json.animals.map(({ id, outcome }: { id: number; outcome: string }) => [id, outcome])).toEqual([
      [1, "updated"],
      [2, "updated"],
      [3, "created"],
      [1, "updated"],
      [3, "updated"],
    ]);
    const metadata = { shelf: "C", bin: "1" };
    const max = { id: 1, name: "Max", categoryId: 1, status: "available", price: { amount: 100, currency: "EUR" } };
    expect((await send("GET", "/pets")).json).toEqual([
      { ...max, reference: "a", metadata },
      { id: 2, name: "Same", categoryId: 1, status: "available", reference: "s" },
      { id: 3, name: "Tim", categoryId: 1, status: "available", reference: "b" },
    ]);
    const events = (await send("GET", "/events?after=3")).json as { type: string; previous?: object }[];
    expect(events.map(({ type, previous }) => [type, previous])).toEqual([
      ["pet.created", undefined],
      ["pet.updated", { name: "Rex", price: { amount: 24_900 }, metadata: { shelf: "B" } }],
    ]);
    expect((await send("GET", "/shop")).json.animals).toMatchObject({ total: 3, available: 3 });
    await expectSoundLog();
  });

  test("does not change a status that an order decides", async () => {
    for (const reference of ["reserved", "sold", "free"]) await add({ reference });
    await send("POST", "/store/orders", { petId: 1 });
    await send("POST", "/store/orders", { petId: 2, confirm: true });
    const animals = list(["reserved", "sold", "free"].map((reference) => ["Max", reference, { status: "available" }]));
    const { status, json } = await importPets(animals, { onExisting: "update" });
    expect([status, json.details]).toEqual([
      400,
      [
        { path: "/body/animals/0/status", message: "cannot be changed: the order 1 reserves the animal" },
        { path: "/body/animals/1/status", message: "cannot be changed: the order 2 has sold the animal" },
      ],
    ]);
    const rest = await importPets(animals, { onExisting: "update", onError: "skip" });
    expect(rest.json.animals).toEqual([{ index: 2, id: 3, outcome: "updated" }]);
    const held = list(["reserved", "sold"].map((reference) => ["Max", reference]));
    expect((await importPets(held, { onExisting: "update" })).status).toBe(201);
    expect(await names()).toEqual(["Max", "Max", "Max"]);
    await expectSoundLog();
  });
});
