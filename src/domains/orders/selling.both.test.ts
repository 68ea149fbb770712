// What an order keeps of a sale: its price, who confirmed it and when, and the animal as it was then.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { nextOf } from "../../../test/harness/next-page.ts";
import { numbers } from "../../../test/harness/numbers.ts";
import { eventually } from "../../../test/harness/program.ts";
import { TestService } from "../../../test/harness/service.ts";
import { rounds } from "../../../test/harness/test-length.ts";

let service: TestService;
/** A key with `read` and `write`, as a till has one. */
let till: string;
let seller: { readonly keyId: string; readonly name: string };
let accountId: string;

beforeAll(async () => {
  service = await TestService.start();
  const { account, key, record } = await service.newAccountWithKey("enterprise");
  till = key;
  seller = { keyId: record.id, name: record.name };
  accountId = account.id;
});
afterAll(() => service.stop());

const call = (method: string, path: string, body?: unknown, key = till) => service.call(method, path, { key, body });
const price = { amount: 24_900, currency: "EUR" };
const NOON = Date.parse("2026-11-21T12:00:00Z");
const addPet = async (): Promise<number> =>
  (await call("POST", "/pets", { name: "Rex", categoryId: 3, status: "available" })).json.id;
const place = async (more: object) => call("POST", "/store/orders", { petId: await addPet(), ...more });
const confirm = (id: number, body?: unknown) => call("POST", `/store/orders/${id}/confirm`, body);
const queryOf = (filters: object) =>
  Object.entries(filters)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`]))
    .join("&");
/** The newest events, oldest first. */
const newest = async (limit: number) => (await call("GET", `/events?sort=-id&limit=${limit}`)).json.toReversed();

describe("placeStoreOrder", () => {
  test("with confirm sells the animal in one transaction with three events", async () => {
    const { status, json: order } = await place({ price, reference: "receipt 7", confirm: true, metadata: { a: "b" } });
    const { placedAt: at, petId } = order;
    const sale = { confirmedAt: at, seller: seller.name, confirmedBy: seller, petName: "Rex", categoryId: 3 };
    const expected = { id: order.id, petId, reference: "receipt 7", status: "confirmed", price, placedAt: at };
    expect([status, order]).toEqual([
      201,
      { ...expected, ...sale, expiresAt: expect.any(String), metadata: { a: "b" } },
    ]);
    expect((await call("GET", `/store/orders/${order.id}`)).json).toEqual(order);
    const [placed, confirmed, changed] = await newest(3);
    expect([placed.type, placed.data.status, placed.data.price]).toEqual(["order.placed", "placed", price]);
    const absent = { seller: null, confirmedAt: null, confirmedBy: null, petName: null, categoryId: null };
    expect([confirmed.type, confirmed.previous]).toEqual(["order.confirmed", { status: "placed", ...absent }]);
    expect([changed.type, changed.previous, changed.data.status]).toEqual([
      "pet.updated",
      { status: "available" },
      "sold",
    ]);
    expect(new Set([placed, confirmed, changed].map(({ actor }) => actor.requestId)).size).toBe(1);
  });

  test("with confirm sells an animal whose reservation has just ended, and no other that is reserved", async () => {
    const { json: first } = await place({});
    const again = { petId: first.petId, confirm: true };
    const refused = await call("POST", "/store/orders", again);
    expect([refused.status, refused.json.code]).toEqual([409, "pet_not_available"]);
    service.clock.advance(15 * 60_000);
    expect((await call("POST", "/store/orders", again)).json).toMatchObject({ status: "confirmed" });
    expect((await call("GET", `/store/orders/${first.id}`)).json.status).toBe("expired");
    expect((await newest(1))[0].previous).toEqual({ status: "available" });
  });

  test.each([
    [
      { amount: -1, currency: "EUR" },
      "/body/price/amount",
      "must be a 64-bit integer from 0 to 1000000000000: in the smallest unit of the currency, such as 1290 for 12.90 EUR; got -1",
    ],
    [{ amount: 1e12 + 1, currency: "EUR" }, "/body/price/amount", expect.stringContaining("from 0 to 1000000000000")],
    [{ amount: 1.5, currency: "EUR" }, "/body/price/amount", expect.stringContaining("must be a 64-bit integer")],
    [
      { amount: 1, currency: "eur" },
      "/body/price/currency",
      expect.stringContaining("must be a currency of ISO 4217, such as EUR; got"),
    ],
    [{ amount: 1, currency: "EURO" }, "/body/price/currency", "must have at most 3 characters; it has 4"],
    [{ amount: 1 }, "/body/price/currency", expect.stringContaining("is required, because the shop has no currency")],
    [
      { amount: 1, currency: "XYZ" },
      "/body/price/currency",
      expect.stringContaining("must be a currency of ISO 4217, such as EUR; got"),
    ],
  ])("refuses the price %j", async (wrong, path, message) => {
    const { status, json } = await place({ price: wrong });
    expect([status, json.details]).toEqual([400, [{ path, message }]]);
  });

  test.each([
    [{ expiresAt: "2026-11-21T11:59:59Z" }],
    [{ expiresAt: "2026-11-21T12:00:00Z" }],
    [{ expiresAt: "2027-02-19T12:00:00.001Z" }],
  ])("refuses the end %j", async (body) => {
    service.clock.setWall(NOON);
    const { status, json } = await place(body);
    const message = "must be in the future, at most 90 days ahead, such as 2026-11-22T12:00:00.000Z";
    expect([status, json.details]).toEqual([400, [{ path: "/body/expiresAt", message }]]);
    const { json: order } = await place({});
    const { json: refused } = await call("PATCH", `/store/orders/${order.id}`, body);
    expect(refused.details).toEqual([{ path: "/body/expiresAt", message }]);
  });

  test("holds the animal until the end that was asked for", async () => {
    service.clock.setWall(NOON);
    const saturday = "2026-11-28T17:00:00+01:00";
    const { json: order } = await place({ expiresAt: saturday });
    expect(order.expiresAt).toBe("2026-11-28T16:00:00.000Z");
    const confirmed = await place({ expiresAt: saturday, confirm: true });
    expect(confirmed.json.details[0].path).toBe("/body/expiresAt");
    const { json: longer } = await call("PATCH", `/store/orders/${order.id}`, { expiresAt: "2026-11-30T12:00:00Z" });
    expect((await newest(1))[0]).toMatchObject({
      type: "order.updated",
      data: longer,
      previous: { expiresAt: order.expiresAt },
    });
    service.clock.setWall(Date.parse("2026-11-30T11:59:59Z"));
    expect((await confirm(order.id)).status).toBe(200);
    const late = await call("PATCH", `/store/orders/${order.id}`, { expiresAt: "2026-12-01T12:00:00Z" });
    expect([late.status, late.json.code]).toEqual([409, "order_not_open"]);
    // Orders of earlier tests end with the jump. Their events must not come between those that later tests look at.
    await eventually(async () => (await call("GET", "/store/orders?status=placed")).json.length === 0);
  });

  test("the price is that of the animal, unless another or none is given", async () => {
    const { id: petId } = (await call("POST", "/pets", { name: "Rex", categoryId: 3, status: "available", price }))
      .json;
    const placed = async (more: object) => {
      const { json } = await call("POST", "/store/orders", { petId, ...more });
      await call("PATCH", `/pets/${petId}`, { price: { amount: 7 } });
      expect((await call("POST", `/store/orders/${json.id}/cancel`)).json.price).toEqual(json.price);
      await call("PATCH", `/pets/${petId}`, { price });
      return json.price;
    };
    expect(await placed({})).toEqual(price);
    expect(await placed({ price: null })).toBeUndefined();
    expect(await placed({ price: { amount: 1, currency: "USD" } })).toEqual({ amount: 1, currency: "USD" });
  });

  test("a price can be corrected after the sale, and who sold is kept", async () => {
    const { json: order } = await place({ price, seller: "Maria", confirm: true });
    expect([order.seller, order.confirmedBy]).toEqual(["Maria", seller]);
    const path = `/store/orders/${order.id}`;
    expect((await call("PATCH", path, { price: { amount: 1 } })).json.price).toEqual({ ...price, amount: 1 });
    expect((await newest(1))[0].previous).toEqual({ price: { amount: price.amount } });
    expect((await call("PATCH", path, { price: null })).json).not.toHaveProperty("price");
    const lacking = await call("PATCH", path, { price: { amount: 1 } });
    expect(lacking.json.details[0].message).toContain("is required, because the shop has no currency");
  });

  test.each([0, 10 ** 12])("keeps the amount %d", async (amount) => {
    const { json } = await place({ price: { amount, currency: "JPY" } });
    expect((await call("GET", `/store/orders/${json.id}`)).json.price).toEqual({ amount, currency: "JPY" });
  });
});

describe("confirmStoreOrder", () => {
  test.each([
    ["nothing", undefined, price],
    ["an empty object", {}, price],
    ["a price", { price: { amount: 1, currency: "USD" } }, { amount: 1, currency: "USD" }],
  ])("takes %s", async (_, body, kept) => {
    const { json: order } = await place({ price });
    const { status, json } = await confirm(order.id, body);
    expect([status, json.price, json.confirmedBy]).toEqual([200, kept, seller]);
    const [confirmed] = await newest(2);
    expect(confirmed.previous.price).toEqual(kept === price ? undefined : price);
  });

  test("refuses another field", async () => {
    const { json: order } = await place({});
    const { status, json } = await confirm(order.id, { amount: 1 });
    expect([status, json.details[0].path]).toEqual([400, "/body/amount"]);
  });

  test("keeps the animal's name and category of that time", async () => {
    const { json: order } = await place({});
    await call("PATCH", `/pets/${order.petId}`, { name: "Rex II", categoryId: 4 });
    await confirm(order.id);
    await call("PATCH", `/pets/${order.petId}`, { name: "Rex III", categoryId: 5 });
    await call("DELETE", `/pets/${order.petId}`);
    const { json } = await call("GET", `/store/orders/${order.id}`);
    expect([json.petName, json.categoryId]).toEqual(["Rex II", 4]);
  });
});

test("updateStoreOrder sets and removes the reference", async () => {
  const { json: order } = await place({ confirm: true, metadata: { a: "b" } });
  const update = (body: unknown) => call("PATCH", `/store/orders/${order.id}`, body);
  expect((await update({ reference: "receipt 8" })).json).toEqual({ ...order, reference: "receipt 8" });
  expect((await newest(1))[0]).toMatchObject({ type: "order.updated", previous: { reference: null } });
  expect((await update({ reference: null })).json).toEqual(order);
  expect((await newest(1))[0].previous).toEqual({ reference: "receipt 8" });
  const [{ id }] = await newest(1);
  expect((await update({ reference: null })).json).toEqual(order);
  expect((await newest(1))[0].id).toBe(id);
  expect((await update({ reference: "" })).json.details[0].path).toBe("/body/reference");
});

test("every key that reads the shop sees who confirmed an order", async () => {
  const { json: order } = await place({ confirm: true });
  const { key: reader } = await service.app.keys.issueKey(accountId, "test", ["read"], service.clock.now());
  const read = async (path: string) => (await call("GET", path, undefined, reader)).json;
  expect((await read(`/store/orders/${order.id}`)).confirmedBy).toEqual(seller);
  expect((await read("/store/orders?sort=-id&limit=1"))[0].confirmedBy).toEqual(seller);
  expect((await read("/events?type=order.confirmed&sort=-id&limit=1"))[0].data.confirmedBy).toEqual(seller);
});

describe("listStoreOrders", () => {
  interface Shown {
    readonly id: number;
    readonly petId: number;
    readonly status: string;
    readonly placedAt: string;
    readonly confirmedAt?: string;
    readonly seller?: string;
    readonly confirmedBy?: { readonly keyId: string };
    readonly categoryId?: number;
  }
  async function pagesFrom(query: string): Promise<Shown[][]> {
    const pages: Shown[][] = [];
    for (let next: string | undefined = `/store/orders?${query}`; next !== undefined; ) {
      const page = await call("GET", next);
      expect([page.status, page.text]).toEqual([200, page.text]);
      pages.push(page.json);
      next = nextOf(page);
    }
    return pages;
  }

  test("filters and sorts sales in any combination", async () => {
    const { key: other, record } = await service.app.keys.issueKey(
      accountId,
      "test",
      ["read", "write"],
      service.clock.now(),
    );
    // Confirmed in another order than they were placed, some at the same time.
    const ids: number[] = [];
    for (let index = 0; index < 12; index++) {
      service.clock.advance(1_000);
      const petId = (await call("POST", "/pets", { name: "Tom", categoryId: index % 2, status: "available" })).json.id;
      ids.push((await call("POST", "/store/orders", { petId })).json.id);
    }
    for (const [index, id] of ids.toReversed().entries()) {
      if (index % 5 === 4) continue;
      await call("POST", `/store/orders/${id}/confirm`, undefined, index % 3 === 0 ? other : till);
      if (index % 4 === 1) await call("POST", `/store/orders/${id}/return`);
      if (index % 2 === 0) service.clock.advance(1_000);
    }
    const whole = (await pagesFrom("limit=100")).flat();
    const times = whole.flatMap(({ confirmedAt }) => confirmedAt ?? []);
    const moment = fc.constantFrom(...times);
    const petId = fc.subarray([...whole.map((order) => order.petId), 99_999], { minLength: 1 });
    const filters = fc.record(
      {
        confirmedSince: moment,
        confirmedUntil: moment,
        since: moment,
        confirmedBy: fc.constantFrom(seller.keyId, record.id, "key_none"),
        seller: fc.constantFrom(seller.name, "nobody"),
        categoryId: fc.constantFrom(0, 1, 3),
        status: fc.constantFrom("confirmed", "returned", "placed"),
        petId,
        sort: fc.constantFrom("id", "-id", "confirmedAt", "-confirmedAt"),
        limit: fc.integer({ min: 1, max: 12 }),
      },
      { requiredKeys: ["limit"] },
    );
    const inOrder = filters.filter(
      ({ confirmedSince: from = "", confirmedUntil: to = "9" }) => from <= to, // others are refused
    );
    await fc.assert(
      fc.asyncProperty(inOrder, async (chosen) => {
        const expected = whole.filter(
          (one) =>
            (!chosen.sort?.endsWith("confirmedAt") || one.confirmedAt !== undefined) &&
            (chosen.confirmedSince === undefined || (one.confirmedAt ?? "") >= chosen.confirmedSince) &&
            (chosen.confirmedUntil === undefined || (one.confirmedAt ?? "9") < chosen.confirmedUntil) &&
            (chosen.since === undefined || one.placedAt >= chosen.since) &&
            (chosen.confirmedBy === undefined || one.confirmedBy?.keyId === chosen.confirmedBy) &&
            (chosen.seller === undefined || one.seller === chosen.seller) &&
            (chosen.categoryId === undefined || one.categoryId === chosen.categoryId) &&
            (chosen.status === undefined || one.status === chosen.status) &&
            (chosen.petId === undefined || chosen.petId.includes(one.petId)),
        );
        if (chosen.sort?.endsWith("confirmedAt"))
          expected.sort((one, two) =>
            one.confirmedAt! < two.confirmedAt! ? -1 : one.confirmedAt! > two.confirmedAt! ? 1 : 0,
          );
        if (chosen.sort?.startsWith("-")) expected.reverse();
        const pages = await pagesFrom(queryOf(chosen));
        expect(pages.flat()).toEqual(expected);
        expect(pages.slice(0, -1).every(({ length }) => length === chosen.limit)).toBe(true);
      }),
      { numRuns: rounds(60, 1_000) },
    );
  });

  test("finds the few matches among many sales, and among many orders of several animals, in pages that may be short", async () => {
    const { account, key } = await service.newAccountWithKey("enterprise");
    await service.store.run(
      `${numbers(25_000)}
       INSERT INTO store_orders (shop, id, pet_id, status, placed_at, expires_at, due_at, confirmed_at, seller, confirmed_by_key, confirmed_by, pet_name, category_id)
       SELECT ${await service.shop(account.id)}, n, n % 3, 'confirmed', n, n, n, n, 'till', 'key_1', 'till', 'Rex', CASE WHEN n IN (3, 12000, 24000) THEN 2 ELSE 1 END
       FROM numbers`,
    );
    const walk = async (query: string) => {
      const found: number[] = [];
      for (let next: string | undefined = `/store/orders?${query}`; next !== undefined; ) {
        const page = await call("GET", next, undefined, key);
        found.push(...page.json.map(({ id }: { id: number }) => id));
        next = nextOf(page);
      }
      return found;
    };
    for (const query of ["categoryId=2", "categoryId=2&petId=0,1,2", "categoryId=2&sort=confirmedAt"]) {
      expect([query, await walk(query)]).toEqual([query, [3, 12_000, 24_000]]);
    }
    expect(await walk("categoryId=2&sort=-confirmedAt&limit=1")).toEqual([24_000, 12_000, 3]);
  });
});
