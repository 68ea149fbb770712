// The search of orders: by the start of the reference, and by the id.
import { afterAll, beforeAll, expect, test } from "bun:test";
import * as fc from "fast-check";
import { nextOf } from "../../../test/harness/next-page.ts";
import { TestService } from "../../../test/harness/service.ts";
import { rounds } from "../../../test/harness/test-length.ts";

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start();
  key = (await service.newAccountWithKey("enterprise")).key;
});
afterAll(() => service.stop());

const call = (method: string, path: string, body?: unknown) => service.call(method, path, { key, body });
const idsFound = async (query: string, limit: number) => {
  const found: number[] = [];
  for (let next: string | undefined = `/store/orders?${query}&limit=${limit}`; next !== undefined; ) {
    const page = await call("GET", next);
    expect(page.status).toBe(200);
    found.push(...page.json.map(({ id }: { id: number }) => id));
    next = nextOf(page);
  }
  return found;
};

const references = [
  "1",
  "12",
  "Receipt 7",
  "receipt 12",
  "RECEIPT",
  "Ünal 3",
  "ünal",
  "ﬁsh",
  "x".repeat(70),
  undefined,
];
const status = (index: number) => (index % 3 === 0 ? "cancelled" : "placed");
let orders: { readonly id: number; readonly reference?: string; readonly status: string }[];
beforeAll(async () => {
  for (const [index, reference] of [...references, ...references].entries()) {
    const { json: pet } = await call("POST", "/pets", { name: "Rex", categoryId: 1, status: "available" });
    const { json: order } = await call("POST", "/store/orders", { petId: pet.id, reference });
    if (status(index) === "cancelled") await call("POST", `/store/orders/${order.id}/cancel`);
  }
  orders = (await call("GET", "/store/orders?limit=100")).json;
});

const fold = (text: string) => text.normalize("NFKC").toLowerCase();
/** What an order is sorted by. */
const start = ({ reference = "" }: { readonly reference?: string }) => fold(reference).slice(0, 64);

test("finds the same orders as a look at each, however long the pages are", async () => {
  const texts = [
    "1",
    "2",
    "12",
    "0",
    "-1",
    "receipt",
    "RECEIPT 1",
    "ü",
    "U\u0308NAL",
    "fi",
    " ",
    "x".repeat(64),
    "9223372036854775807",
  ];
  const asked = fc.record({
    search: fc.constantFrom(...texts),
    status: fc.constantFrom(undefined, "placed", "cancelled"),
    ids: fc.constantFrom(undefined, "1,2,3,12"),
    limit: fc.integer({ min: 1, max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ search, limit, ...others }) => {
      const isLeft = (order: (typeof orders)[number]) =>
        (others.status ?? order.status) === order.status && (others.ids?.split(",").includes(String(order.id)) ?? true);
      const hits = orders.filter(({ id }) => String(id) === search);
      const starting = orders
        .filter(({ id, reference }) => String(id) !== search && reference && fold(reference).startsWith(fold(search)))
        .toSorted((one, other) =>
          start(one) === start(other) ? one.id - other.id : start(one) < start(other) ? -1 : 1,
        );
      const expected = [...hits, ...starting].filter(isLeft).map(({ id }) => id);
      const query = Object.entries({ search, ...others }).flatMap(([name, value]) =>
        value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
      );
      expect(await idsFound(query.join("&"), limit)).toEqual(expected);
    }),
    { numRuns: rounds(60, 1_000) },
  );
});

test("goes on behind an order whose reference has changed", async () => {
  const before = await call("GET", "/store/orders?search=receipt&limit=2");
  const last = before.json[1].id;
  await call("PATCH", `/store/orders/${last}`, { reference: "zzz" });
  const after = await call("GET", nextOf(before) as string);
  await call("PATCH", `/store/orders/${last}`, { reference: before.json[1].reference });
  const whole = await idsFound("search=receipt", 100);
  expect([...before.json, ...after.json].map(({ id }: { id: number }) => id)).toEqual(whole.slice(0, 4));
});

test("refuses a sort order", async () => {
  const { status: refused, json } = await call("GET", "/store/orders?search=1&sort=-id");
  expect([refused, json.details[0].path]).toEqual([400, "/query/sort"]);
});
