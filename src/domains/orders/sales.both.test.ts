// What getSales adds up is what the orders, the events and the shop's figures of today tell.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { array, assert, asyncProperty, constantFrom, integer, oneof, record } from "fast-check";
import { nextOf } from "../../../test/harness/next-page.ts";
import { numbers } from "../../../test/harness/numbers.ts";
import { TestService } from "../../../test/harness/service.ts";
import { rounds } from "../../../test/harness/test-length.ts";
import { DAY_MS, HOUR_MS } from "../../timing/clock.ts";
import { MAX_SALES } from "./sales.operations.ts";

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

/** The day on which summer time ends in Berlin. */
const START = Date.parse("2026-10-24T09:00:00Z");
const zones = ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns"];

interface Order {
  readonly status: string;
  readonly price?: { readonly amount: number; readonly currency: string };
  readonly confirmedAt?: string;
  readonly seller?: string;
  readonly categoryId?: number;
  readonly returnedAt?: string;
}

/** A shop with two keys that sell. */
async function newShop() {
  service.clock.setWall(START);
  const { account, key, record: first } = await service.newAccountWithKey("enterprise");
  const other = await service.app.keys.issueKey(account.id, "test", ["read", "write"], START);
  const keys = [key, other.key] as const;
  const call = async (method: string, path: string, body?: unknown, by = 0) => {
    const response = await service.call(method, path, { key: keys[by] as string, body });
    if (response.status >= 500) throw new Error(response.text);
    return response;
  };
  const all = async (path: string) => {
    const items: unknown[] = [];
    for (let next: string | undefined = path; next !== undefined; ) {
      const page = await call("GET", next);
      items.push(...page.json);
      next = nextOf(page);
    }
    return items;
  };
  const sales = (since: number, until: number, timeZone = "UTC") =>
    call("GET", `/store/sales?since=${time(since)}&until=${time(until)}&timeZone=${timeZone}`);
  return { account, first, call, all, sales };
}

const time = (milliseconds: number) => new Date(milliseconds).toISOString();
const newPet = { name: "Rex", categoryId: 1, status: "available" };

/** The figures of orders, as the interface shows them. */
function figuresOf(orders: readonly Order[], isSold: (at: string) => boolean) {
  const sold = orders.filter(({ confirmedAt }) => confirmedAt !== undefined && isSold(confirmedAt));
  const returned = orders.filter(({ returnedAt }) => returnedAt !== undefined && isSold(returnedAt));
  const currencies = [...new Set([...sold, ...returned].flatMap(({ price }) => price?.currency ?? []))].toSorted();
  const sum = (some: readonly Order[], currency: string) =>
    some.reduce((total, { price }) => total + (price?.currency === currency ? price.amount : 0), 0);
  const amounts = currencies.map((currency) => ({
    currency,
    sold: sum(sold, currency),
    returned: sum(returned, currency),
  }));
  return { sold: sold.length, returned: returned.length, amounts };
}

const act = oneof(
  {
    weight: 4,
    arbitrary: record({
      kind: constantFrom("sell", "place"),
      by: constantFrom(0, 1),
      categoryId: constantFrom(1, 2),
      amount: integer({ min: 0, max: 9 }),
      currency: constantFrom("EUR", "USD", undefined),
    }),
  },
  {
    weight: 2,
    arbitrary: record({ kind: constantFrom("confirm", "return", "cancel"), back: integer({ min: 0, max: 4 }) }),
  },
  { weight: 1, arbitrary: record({ kind: constantFrom("mark sold") }) },
  { weight: 3, arbitrary: record({ kind: constantFrom("wait"), milliseconds: integer({ min: 1, max: 9 * HOUR_MS }) }) },
);

test(
  "today, orders, events and sales agree after any acts, in every zone",
  async () => {
    await assert(
      asyncProperty(array(act, { minLength: 10, maxLength: 40, size: "max" }), async (acts) => {
        const { call, all, sales } = await newShop();
        await call("POST", "/categories", { name: "Dogs" });
        let orders = 0;
        let marked = 0;
        let today = START;
        for (const one of acts) {
          if (one.kind === "wait") service.clock.advance(one.milliseconds);
          else if (one.kind === "mark sold") {
            const { json } = await call("POST", "/pets", newPet);
            await call("PATCH", `/pets/${json.id}`, { status: "sold" });
          } else if ("back" in one) await call("POST", `/store/orders/${orders - one.back}/${one.kind}`);
          else {
            const { by, kind, categoryId, amount, currency } = one;
            const { json } = await call("POST", "/pets", { ...newPet, categoryId });
            const price = currency && { amount, currency };
            await call("POST", "/store/orders", { petId: json.id, price, confirm: kind === "sell" }, by);
            orders++;
          }
          const day = Math.floor(service.clock.now() / DAY_MS);
          if (day !== Math.floor(today / DAY_MS)) marked = 0;
          if (one.kind === "mark sold") marked++;
          today = service.clock.now();
        }
        const whole = (await all("/store/orders?limit=100")) as Order[];
        const events = (await all("/events?limit=100")) as { readonly type: string; readonly at: string }[];
        const until = today + 1;
        for (const zone of zones) {
          const { status, json } = await sales(START, until, zone);
          expect([status, json.timeZone, json.since, json.until]).toEqual([200, zone, time(START), time(until)]);
          expect(json.total).toEqual(figuresOf(whole, () => true));
          const dateOf = (at: string) => new Date(at).toLocaleDateString("en-CA", { timeZone: zone });
          for (const { date, ...figures } of json.days) {
            expect([date, figures]).toEqual([date, figuresOf(whole, (at) => dateOf(at) === date)]);
            const counted = (type: string) =>
              events.filter((one) => one.type === type && dateOf(one.at) === date).length;
            expect([counted("order.confirmed"), counted("order.returned")]).toEqual([figures.sold, figures.returned]);
          }
          expect([json.days[0].date, json.days.at(-1).date]).toEqual([dateOf(time(START)), dateOf(time(today))]);
          for (const { name, ...figures } of json.sellers) {
            const own = whole.filter(({ seller }) => seller === name);
            expect([name, figures]).toEqual([name, figuresOf(own, () => true)]);
          }
          for (const { categoryId, name, ...figures } of json.categories) {
            const own = whole.filter((order) => order.categoryId === categoryId);
            expect([name, figures]).toEqual([categoryId === 1 ? "Dogs" : undefined, figuresOf(own, () => true)]);
          }
          for (const parts of [json.sellers, json.categories])
            expect(parts.reduce((sum: number, { sold }: { sold: number }) => sum + sold, 0)).toBe(json.total.sold);
        }
        const midnight = Math.floor(today / DAY_MS) * DAY_MS;
        const { total } = (await sales(midnight, midnight + DAY_MS)).json;
        const shown = (await call("GET", "/shop")).json.today;
        const { sold, returned, markedSold } = shown;
        expect([sold, returned, markedSold]).toEqual([total.sold, total.returned, marked]);
      }),
      { numRuns: rounds(5, 100) },
    );
  },
  rounds(120_000, 3_600_000),
);

test("counts a sale from its moment on, until before the end of the span", async () => {
  const { call, sales, first } = await newShop();
  const { json } = await call("POST", "/pets", newPet);
  const { status } = await call("POST", "/store/orders", { petId: json.id, confirm: true });
  expect(status).toBe(201);
  const soldIn = async (since: number, until: number) => (await sales(since, until)).json.total.sold;
  expect([await soldIn(START, START + 1), await soldIn(START - 1, START), await soldIn(START + 1, START + 2)]).toEqual([
    1, 0, 0,
  ]);
  expect((await sales(START, START + 1)).json).toEqual({
    since: time(START),
    until: time(START + 1),
    timeZone: "UTC",
    total: { sold: 1, returned: 0, amounts: [] },
    days: [{ date: "2026-10-24", sold: 1, returned: 0, amounts: [] }],
    sellers: [{ name: first.name, sold: 1, returned: 0, amounts: [] }],
    categories: [{ categoryId: 1, sold: 1, returned: 0, amounts: [] }],
  });
});

test.each([
  ["since=2026-10-24T00:00:01Z&until=2026-10-24T00:00:00Z", "until", "must not be before since"],
  ["since=2026-07-01T00:00:00Z&until=2026-10-01T01:00:00.001Z", "since", "must be at most 92 days before until"],
  ["since=0001-01-01T00:00:00Z&until=9999-12-31T00:00:00Z", "since", "must be at most 92 days before until"],
  ["since=2026-07-01T00:00:00Z&until=2026-07-02T00:00:00Z&timeZone=Mars/Olympus", "timeZone", "must be a time zone of"],
  ["since=2026-07-01T00:00:00Z&until=2026-07-02T00:00:00Z&timeZone=%2B02:00", "timeZone", "must match"],
  // The current day is the default.
  ["until=2026-10-23T00:00:00Z", "until", "must not be before since"],
])("refuses %s", async (query, parameter, message) => {
  const { call } = await newShop();
  const { status, json } = await call("GET", `/store/sales?${query}`);
  expect([status, json.details]).toEqual([
    400,
    [{ path: `/query/${parameter}`, message: expect.stringContaining(message) }],
  ]);
});

test("shows the current day of the zone if the request names no time", async () => {
  const { call } = await newShop();
  const spanOf = async (query: string) => {
    const { since, until } = (await call("GET", `/store/sales?${query}`)).json;
    return [since, until];
  };
  service.clock.setWall(Date.parse("2026-10-24T22:30:00Z"));
  expect(await spanOf("")).toEqual(["2026-10-24T00:00:00.000Z", "2026-10-25T00:00:00.000Z"]);
  const inBerlin = ["2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"];
  expect(await spanOf("timeZone=Europe/Berlin")).toEqual(inBerlin);
  const week = "2026-10-18T22:00:00.000Z";
  expect(await spanOf(`timeZone=Europe/Berlin&since=${week}`)).toEqual([week, inBerlin[1]]);
});

test("takes a quarter in whose zone summer time ends", async () => {
  const { sales } = await newShop();
  const [since, until] = [Date.parse("2026-09-30T22:00:00Z"), Date.parse("2026-12-31T23:00:00Z")];
  expect((await sales(since, until, "Europe/Berlin")).json.days).toHaveLength(92);
});

/** Fills a shop with sales of the same price, a minute apart. */
async function shopWith(count: number, amount: number) {
  const shop = await newShop();
  await service.store.run(
    `${numbers(count)}
     INSERT INTO store_orders (shop, id, pet_id, status, placed_at, expires_at, due_at, amount, currency, confirmed_at,
       seller, confirmed_by_key, confirmed_by, pet_name, category_id)
     SELECT ${await service.shop(shop.account.id)}, n, n, 'confirmed', 0, 0, 0, ${amount}, 'EUR', ${START} + n * CAST(60000 AS BIGINT), 'till', 'key_1', 'till', 'Rex', 1
     FROM numbers`,
  );
  return (minutes: number) => shop.sales(START, START + (minutes + 1) * 60_000);
}

test("adds up as many sales as it says, and refuses one more", async () => {
  const upTo = await shopWith(MAX_SALES + 1, 1);
  const { status, json } = await upTo(MAX_SALES);
  expect([status, json.total.sold, json.total.amounts[0].sold]).toEqual([200, MAX_SALES, MAX_SALES]);
  const { json: refusal } = await upTo(MAX_SALES + 1);
  expect(refusal.details).toEqual([{ path: "/query/since", message: "must be later: there are too many sales" }]);
}, 60_000);

test("refuses amounts whose sum is not exact", async () => {
  const upTo = await shopWith(9_100, 10 ** 12);
  expect((await upTo(9_007)).json.total.amounts[0].sold).toBe(9_007 * 10 ** 12);
  const { json } = await upTo(9_008);
  expect(json.details).toEqual([
    { path: "/query/since", message: "must be later: the amounts are too large to be added" },
  ]);
}, 60_000);
