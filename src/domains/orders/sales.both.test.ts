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
  const admin = async (method: string, path: string, body: unknown) => {
    const { key: adminKey } = await service.app.keys.issueKey(account.id, "test", ["admin"], START);
    return service.call(method, path, { key: adminKey, body });
  };
  return { account, first, call, admin, all, sales };
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
    net: sum(sold, currency) - sum(returned, currency),
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
        await service.stop(); // else orders may expire at a time of the run before, which was later
        service = await TestService.start();
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
          const hour = (at: string) => new Date(at).toLocaleTimeString("en-GB", { timeZone: zone, hour: "2-digit" });
          const day = (await sales(today - (today % HOUR_MS), until, zone)).json;
          for (const [index, { start, ...figures }] of (day.hours ?? []).entries()) {
            const end = day.hours[index + 1]?.start ?? day.until;
            expect(figures).toEqual(figuresOf(whole, (at) => at >= start && at < end));
            if (index > 0) expect(hour(start)).not.toBe(hour(time(Date.parse(start) - 1)));
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
      { numRuns: rounds(5, 400) },
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
    hours: [{ start: time(START), sold: 1, returned: 0, amounts: [] }],
    sellers: [{ name: first.name, sold: 1, returned: 0, amounts: [] }],
    categories: [{ categoryId: 1, sold: 1, returned: 0, amounts: [] }],
  });
});

test.each([
  ["since=2026-10-24T00:00:01Z&until=2026-10-24T00:00:00Z", "until", "must not be before since"],
  ["since=2025-07-01T00:00:00Z&until=2026-07-02T01:00:00.001Z", "since", "must be at most 366 days before until"],
  ["since=0001-01-01T00:00:00Z&until=9998-12-31T00:00:00Z", "since", "must be at most 366 days before until"],
  ["until=9999-12-31T23:59:59-05:00", "until", "must be in one of the years 0001 to 9998"],
  ["since=2026-10-24T09:00:00.001Z", "since", "must not be in the future without until"],
  ["since=2026-07-01T00:00:00Z&until=2026-07-02T00:00:00Z&timeZone=Mars/Olympus", "timeZone", "must be a time zone of"],
  ["since=2026-07-01T00:00:00Z&until=2026-07-02T00:00:00Z&timeZone=%2B02:00", "timeZone", "must be a time zone of"],
])("refuses %s", async (query, parameter, message) => {
  const { call } = await newShop();
  const { status, json } = await call("GET", `/store/sales?${query}`);
  expect([status, json.details]).toEqual([
    400,
    [{ path: `/query/${parameter}`, message: expect.stringContaining(message) }],
  ]);
});

test("a span has defaults for each end, in the time zone of the request, or of the shop", async () => {
  const { call, admin } = await newShop();
  const spanOf = async (query: string) => {
    const { since, until } = (await call("GET", `/store/sales?${query}`)).json;
    return [since, until];
  };
  service.clock.setWall(Date.parse("2026-10-24T22:30:00Z"));
  const inUtc = ["2026-10-24T00:00:00.000Z", "2026-10-25T00:00:00.000Z"];
  const inBerlin = ["2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"];
  expect(await spanOf("")).toEqual(inUtc);
  expect(await spanOf("timeZone=Europe/Berlin")).toEqual(inBerlin);
  await admin("PATCH", "/shop", { timeZone: "Europe/Berlin" });
  expect(await spanOf("")).toEqual(inBerlin);
  expect(await spanOf("timeZone=UTC")).toEqual(inUtc);
  const week = "2026-10-18T22:00:00.000Z";
  expect(await spanOf(`since=${week}`)).toEqual([week, "2026-10-24T22:30:00.000Z"]);
  expect(await spanOf("until=2026-11-21T12:00:00Z")).toEqual(["2026-11-20T23:00:00.000Z", "2026-11-21T12:00:00.000Z"]);
  expect(await spanOf("until=2026-11-22T00:00:00%2B01:00")).toEqual([
    "2026-11-20T23:00:00.000Z",
    "2026-11-21T23:00:00.000Z",
  ]);
  const yearOne = "0001-01-01T00:00:00.000Z";
  expect(await spanOf(`timeZone=UTC&until=${yearOne}`)).toEqual(["0000-12-31T00:00:00.000Z", yearOne]);
});

test("takes a leap year in whose zone summer time ends", async () => {
  const { sales } = await newShop();
  const [since, until] = [Date.parse("2027-10-30T22:00:00Z"), Date.parse("2028-10-30T23:00:00Z")];
  const { days, hours } = (await sales(since, until, "Europe/Berlin")).json;
  expect([days.length, days[0].date, days.at(-1).date, hours]).toEqual([366, "2027-10-31", "2028-10-30", undefined]);
});

test.each([
  ["the clocks go back", "Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-24T22:00:00.000Z"],
  ["there is no midnight", "Asia/Beirut", "2026-03-29T12:00:00Z", "2026-03-28T22:00:00.000Z"],
])("a day on which %s begins when it does in %s", async (_, zone, until, since) => {
  const { call } = await newShop();
  const { json } = await call("GET", `/store/sales?until=${until}&timeZone=${zone}`);
  expect([json.since, json.days.length]).toEqual([since, 1]);
});

test("a day that a zone has left out is not listed", async () => {
  const { sales } = await newShop();
  const [since, until] = [Date.parse("2011-12-30T09:00:00Z"), Date.parse("2011-12-30T11:00:00Z")];
  const { days } = (await sales(since, until, "Pacific/Apia")).json;
  expect(days.map(({ date }: { date: string }) => date)).toEqual(["2011-12-29", "2011-12-31"]);
});

test("names a category that was merged into another one as it was called", async () => {
  const { call, sales } = await newShop();
  for (const name of ["Dogs", "Hounds"]) await call("POST", "/categories", { name });
  const { json } = await call("POST", "/pets", newPet);
  await call("POST", "/store/orders", { petId: json.id, confirm: true });
  await call("DELETE", "/categories/1?moveTo=2");
  const categories = async () => (await sales(START, START + DAY_MS)).json.categories;
  expect(await categories()).toMatchObject([{ categoryId: 1, name: "Dogs" }]);
  await call("POST", "/categories", { id: 1, name: "Puppies" });
  expect(await categories()).toMatchObject([{ categoryId: 1, name: "Puppies" }]);
});

test("shows sellers and categories up to a number and a size, and the sum of all others", async () => {
  const { account, sales, call } = await newShop();
  const shop = await service.shop(account.id);
  const sell = (count: number, seller: string, currency: string) =>
    service.store.run(
      `${numbers(count)}
       INSERT INTO store_orders (shop, id, pet_id, status, placed_at, expires_at, due_at, amount, currency, confirmed_at,
         seller, confirmed_by, pet_name, category_id)
       SELECT ${shop}, (SELECT coalesce(max(id), 0) FROM store_orders WHERE shop = ${shop}) + n, n, 'confirmed', 0, 0, 0, 1,
         ${currency}, ${START}, ${seller}, 'till', 'Rex', n FROM numbers`,
    );
  await sell(700, "CAST(n AS TEXT)", "'EUR'");
  await sell(3, "'Maria'", "'EUR'");
  const { json } = await sales(START, START + 1);
  for (const list of [json.sellers, json.categories]) {
    expect(list).toHaveLength(501);
    const sold = list.map((one: { sold: number }) => one.sold);
    expect(sold.reduce((sum: number, one: number) => sum + one, 0)).toBe(703);
  }
  expect(json.sellers[0]).toEqual({ name: "Maria", ...json.sellers[0], sold: 3 });
  const amounts = [{ currency: "EUR", sold: 201, returned: 0, net: 201 }];
  expect(json.sellers.at(-1)).toEqual({ other: 201, sold: 201, returned: 0, amounts });

  await sell(400, `CAST(n AS TEXT) || '${"ü".repeat(95)}'`, "'EUR'");
  await sell(600, "'Maria'", "substr('EURUSDCHFGBPJPYSEKNOKDKKPLNCZK', (n % 10) * 3 + 1, 3)");
  const whole = await sales(START, START + 1);
  expect(Buffer.byteLength(whole.text)).toBeLessThanOrEqual(256 * 1024);
  expect(whole.json.sellers.at(-1).other).toBeGreaterThan(201);
  expect(whole.json.sellers.length).toBeGreaterThan(100);

  const year = await call("GET", `/store/sales?since=${time(START)}&until=${time(START + 300 * DAY_MS)}`);
  expect(year.json.days).toHaveLength(301);
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
  const key = await service.newKey();
  const answered: string[] = [];
  const [{ json: refusal }] = await Promise.all([
    upTo(MAX_SALES + 1).finally(() => answered.push("sales")),
    service.call("GET", "/pets", { key }).finally(() => answered.push("pets")),
  ]);
  expect(answered).toEqual(["pets", "sales"]); // which are added up in pieces
  expect(refusal.details).toEqual([{ path: "/query/since", message: "must be later: there are too many sales" }]);
});

test("refuses amounts whose sum is not exact", async () => {
  const upTo = await shopWith(9_100, 10 ** 12);
  expect((await upTo(9_007)).json.total.amounts[0].sold).toBe(9_007 * 10 ** 12);
  const { json } = await upTo(9_008);
  expect(json.details).toEqual([
    { path: "/query/since", message: "must be later: the amounts are too large to be added" },
  ]);
});
