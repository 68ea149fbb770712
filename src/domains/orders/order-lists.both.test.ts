import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { NOON } from "../../../test/harness/manual-clock.ts";
import { nextOf } from "../../../test/harness/next-page.ts";
import { numbers } from "../../../test/harness/numbers.ts";
import { type TestResponse, TestService } from "../../../test/harness/service.ts";

interface ShownOrder {
  readonly id: number;
  readonly petId: number;
  readonly reference?: string;
  readonly status: string;
  readonly placedAt: string;
}

let service: TestService;
let key: string;
/** Animals that were ordered by turns. */
const animals: [number, number] = [0, 0];
/** When the service's clock shows this many seconds past noon. */
const at = (second: number) => new Date(NOON + second * 1000).toISOString();

const list = (query = "") => service.call("GET", `/store/orders${query}`, { key });
const idsOf = ({ json }: TestResponse) => json.map(({ id }: { id: number }) => id);
/** A reference that a pattern or a sloppy comparison would take for others. */
const ODD = "%_'\"\\ \u00e9e\u0301";
/** All pages from one on. */
async function pagesFrom(query: string): Promise<ShownOrder[][]> {
  const pages: ShownOrder[][] = [];
  for (let next: string | undefined = query; next !== undefined; ) {
    const page = await list(next);
    expect(page.status).toBe(200);
    pages.push(page.json);
    next = nextPage(page);
  }
  return pages;
}
/** The query of the next page's address; undefined on the last page. */
const nextPage = (page: TestResponse) => nextOf(page)?.replace(/^[^?]*/, "");

beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey();
  const post = (path: string, body?: unknown) => service.call("POST", path, { key, body });
  for (const index of [0, 1] as const) {
    animals[index] = (await post("/pets", { name: "Rex", categoryId: 1, status: "available" })).json.id;
  }
  // Six orders, one a second: three cancelled, one returned, two open.
  for (let id = 1; id <= 6; id++) {
    const reference = id === 6 ? ODD : id === 2 ? undefined : `receipt ${id % 3}`;
    await post("/store/orders", { petId: animals[(id - 1) % 2], ...(reference && { reference }) });
    for (const act of id <= 3 ? ["cancel"] : id === 4 ? ["confirm", "return"] : []) {
      await post(`/store/orders/${id}/${act}`);
    }
    service.clock.advance(1000);
  }
});
afterAll(() => service.stop());

test("returns all orders by ascending id, page by page, for any page size", async () => {
  const whole = (await list()).json;
  expect(whole.map(({ id }: { id: number }) => id)).toEqual([1, 2, 3, 4, 5, 6]);
  for (const limit of [1, 2, 3, 5, 6]) {
    const shown: unknown[] = [];
    for (let query: string | undefined = `?limit=${limit}`; query !== undefined; ) {
      const page = await list(query);
      expect(page.json.length).toBeLessThanOrEqual(limit);
      shown.push(...page.json);
      query = nextPage(page);
    }
    expect(shown).toEqual(whole);
  }
});

test("filters by several animals, each named once or more often", async () => {
  const [first, second] = animals;
  for (const query of [`${first},${second}`, `${first},999,${second},${first}`, `${second}&petId=${first}`]) {
    expect((await pagesFrom(`?petId=${query}&limit=2`)).map((page) => page.map(({ id }) => id))).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
  }
  const many = Array.from({ length: 97 }, (_, index) => 1000 + index);
  expect(idsOf(await list(`?petId=${[first, second, ...many]}&status=placed&sort=-id`))).toEqual([6, 5]);
  expect((await list(`?petId=${[...many, 1, 2, 3, 4]}`)).json.details[0].path).toBe("/query/petId");
});

test("finds known orders by id, whatever their status, and combines that with other filters", async () => {
  expect(idsOf(await list("?ids=4,1,999,4"))).toEqual([1, 4]);
  expect(idsOf(await list("?ids=1&ids=6&sort=-id"))).toEqual([6, 1]);
  expect((await pagesFrom("?ids=2,4,6&limit=2")).map((page) => page.map(({ id }) => id))).toEqual([[2, 4], [6]]);
  expect(idsOf(await list("?ids=3,4,5&status=cancelled"))).toEqual([3]);
  expect(idsOf(await list(`?ids=3,4,5&petId=${animals[1]}`))).toEqual([4]);
  expect(idsOf(await list("?ids=3,4,5&reference=receipt%201"))).toEqual([4]);
  expect(idsOf(await list(`?ids=3,4,5&since=${at(3)}`))).toEqual([4, 5]);
  expect(idsOf(await list("?ids=3,4,5&sort=confirmedAt"))).toEqual([4]);
  const many = Array.from({ length: 101 }, (_, index) => index + 1);
  expect((await list(`?ids=${many}`)).json.details[0].path).toBe("/query/ids");
});

test("filters by status and by animal", async () => {
  const [first, second] = animals;
  expect(idsOf(await list("?status=placed"))).toEqual([5, 6]);
  expect(idsOf(await list("?status=cancelled"))).toEqual([1, 2, 3]);
  expect(idsOf(await list("?status=returned"))).toEqual([4]);
  expect(idsOf(await list("?status=expired"))).toEqual([]);
  expect(idsOf(await list(`?petId=${first}`))).toEqual([1, 3, 5]);
  expect(idsOf(await list(`?petId=${second}&status=cancelled`))).toEqual([2]);
  expect(idsOf(await list(`?petId=${first}&status=returned`))).toEqual([]);
  expect(idsOf(await list("?petId=9223372036854775807"))).toEqual([]);
});

test("keeps the filters across pages, and refuses a cursor with other filters", async () => {
  const page = await list(`?petId=${animals[0]}&status=cancelled&limit=1`);
  const next = nextPage(page) ?? "";
  expect([idsOf(page), idsOf(await list(next))]).toEqual([[1], [3]]);
  const { status, json } = await list(next.replace("cancelled", "placed"));
  expect([status, json.details[0].path]).toEqual([400, "/query/cursor"]);
});

test("refuses an invalid status or id as a filter", async () => {
  for (const [query, path] of [
    ["?status=open", "/query/status"],
    ["?petId=x", "/query/petId/0"],
    ["?sort=placedAt", "/query/sort"],
    ["?confirmedBy=", "/query/confirmedBy"],
    ["?confirmedSince=today", "/query/confirmedSince"],
    ["?limit=101", "/query/limit"],
  ]) {
    const { status, json } = await list(query);
    expect([status, json.details[0].path]).toEqual([400, path]);
  }
});

describe("sort, reference, since and until", () => {
  test("by -id shows the latest orders first, page by page", async () => {
    expect(idsOf(await list("?sort=-id"))).toEqual([6, 5, 4, 3, 2, 1]);
    const first = await list("?sort=-id&limit=4");
    expect([idsOf(first), idsOf(await list(nextPage(first)))]).toEqual([
      [6, 5, 4, 3],
      [2, 1],
    ]);
    expect((await list("?sort=id")).text).toBe((await list()).text);
  });

  test("finds a complete reference only, as it was sent", async () => {
    expect(idsOf(await list("?reference=receipt%201"))).toEqual([1, 4]);
    for (const other of ["receipt", "Receipt 1", "receipt 1 ", "receipt_1", "receipt%25"]) {
      expect(idsOf(await list(`?reference=${encodeURIComponent(other)}`))).toEqual([]);
    }
    expect(idsOf(await list(`?reference=${encodeURIComponent(ODD)}`))).toEqual([6]);
  });

  test.each([
    ["since", at(3), [4, 5, 6]],
    ["until", at(3), [1, 2, 3]],
    ["since", at(3).replace("Z", "001Z"), [5, 6]],
    ["until", at(3).replace("Z", "001Z"), [1, 2, 3, 4]],
    ["since", "2026-11-21T13:00:03+01:00", [4, 5, 6]],
    ["since", "2026-11-21t12:00:02.999z", [4, 5, 6]],
    ["since", at(100), []],
    ["until", at(0), []],
    ["since", "0001-01-01T00:00:00Z", [1, 2, 3, 4, 5, 6]],
    ["until", "9998-12-30T23:59:60Z", [1, 2, 3, 4, 5, 6]],
  ])("%s %s finds %p", async (name, moment, ids) => {
    expect(idsOf(await list(`?${name}=${encodeURIComponent(moment)}`))).toEqual(ids);
  });

  test("since and until together return the orders between them", async () => {
    expect(idsOf(await list(`?since=${at(1)}&until=${at(4)}`))).toEqual([2, 3, 4]);
    expect(idsOf(await list(`?since=${at(4)}&until=${at(4)}`))).toEqual([]);
  });

  test.each([
    ["since", "until"],
    ["confirmedSince", "confirmedUntil"],
  ])("refuses %s after %s", async (since, until) => {
    const { status, json } = await list(`?${since}=${at(4)}&${until}=${at(1)}`);
    expect([status, json.details]).toEqual([
      400,
      [{ path: `/query/${until}`, message: `must not be before ${since}` }],
    ]);
  });

  test.each(["0001-01-01T00:00:00Z", "9999-01-01T00:59:59.999%2B01:00"])("accepts the time %s", async (moment) => {
    expect((await list(`?since=${moment}`)).status).toBe(200);
  });

  test.each([
    "0001-01-01T00:00:00%2B00:01",
    "0000-06-01T00:00:00Z",
    "9999-01-01T00:00:00Z",
    "9998-12-31T23:59:59-05:00",
  ])("refuses the time %s, which has another year in UTC than 0001 to 9998", async (moment) => {
    const { status, json } = await list(`?until=${moment}`);
    expect([status, json.details[0].message]).toEqual([
      400,
      `must be in one of the years 0001 to 9998 in UTC; got "${decodeURIComponent(moment)}"`,
    ]);
  });

  test.each(["", "2026-11-21", "2026-11-21T12:00:00", "1795262400", "2026-11-21T12:00:00Z[Europe/Paris]", "now"])(
    "refuses %p as a time",
    async (moment) => {
      for (const name of ["since", "until"]) {
        const { status, json } = await list(`?${name}=${encodeURIComponent(moment)}`);
        expect([status, json.details[0].path]).toEqual([400, `/query/${name}`]);
      }
      const { json } = await list("?since=yesterday");
      expect(json.details[0].message).toStartWith(
        "must be a date and time with an offset, such as 2026-11-21T12:00:00Z",
      );
    },
  );

  test("says how to write a plus sign in a time", async () => {
    const { status, json } = await list("?since=2026-11-21T14:00:00+02:00");
    expect([status, json.details]).toEqual([
      400,
      [
        {
          path: "/query/since",
          message: expect.stringMatching(/^must be a date and time with an offset, .*; write \+ as %2B$/),
        },
      ],
    ]);
  });

  test("all filters, orders and page sizes together return each matching order once", async () => {
    const whole: ShownOrder[] = (await list()).json;
    const moment = fc.integer({ min: -1, max: 7 }).map(at);
    const query = fc.record(
      {
        status: fc.constantFrom("placed", "cancelled", "returned"),
        ids: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 12 }),
        petId: fc.constantFrom(...animals),
        reference: fc.constantFrom("receipt 0", "receipt 1", ODD, "none"),
        since: moment,
        until: moment,
        sort: fc.constantFrom("id", "-id"),
        limit: fc.integer({ min: 1, max: 7 }),
      },
      { requiredKeys: ["limit"] },
    );
    await fc.assert(
      fc.asyncProperty(
        query.filter(({ since = "0", until = "9" }) => since <= until),
        async ({ status, ids, petId, reference, since = "0", until = "9", sort, ...rest }) => {
          const expected = whole.filter(
            (one) =>
              (status === undefined || one.status === status) &&
              (ids === undefined || ids.includes(one.id)) &&
              (petId === undefined || one.petId === petId) &&
              (reference === undefined || one.reference === reference) &&
              since <= one.placedAt &&
              one.placedAt < until,
          );
          const given = { status, ids, petId, reference, since: since === "0" ? undefined : since, sort, ...rest };
          const text = Object.entries({ ...given, until: until === "9" ? undefined : until })
            .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`]))
            .join("&");
          const pages = await pagesFrom(`?${text}`);
          expect(pages.flat()).toEqual(sort === "-id" ? expected.toReversed() : expected);
          expect(pages.slice(0, -1).every(({ length }) => length === rest.limit)).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("a cursor is valid for its filters and its order only", async () => {
    const filters = `reference=receipt%201&since=${at(0)}&until=${at(9)}&sort=-id`;
    const next = nextPage(await list(`?${filters}&limit=1`)) ?? "";
    expect((await list(next)).status).toBe(200);
    for (const [from, to] of [
      ["sort=-id", "sort=id"],
      ["receipt%201", "receipt%200"],
      [encodeURIComponent(at(0)), encodeURIComponent(at(1))],
      [encodeURIComponent(at(9)), encodeURIComponent(at(8))],
    ] as const) {
      expect(next).toContain(from);
      const { status, json } = await list(next.replace(from, to));
      expect([status, json.details[0].path]).toEqual([400, "/query/cursor"]);
    }
  });
});

test("the few matching orders among many of an animal are all found, in pages that may be short", async () => {
  const large = await TestService.start();
  const bearer = await large.newKey();
  await large.store.run(
    `${numbers(25_000)}
     INSERT INTO store_orders (shop, id, pet_id, status, placed_at, expires_at, due_at)
     SELECT ${await large.shop()}, n, 1, CASE WHEN n IN (3, 12000, 24000) THEN 'returned' ELSE 'expired' END, n, n, n
     FROM numbers`,
  );
  const walk = async (query: string) => {
    const pages: number[][] = [];
    for (let next: string | undefined = query; next !== undefined; ) {
      const page: TestResponse = await large.call("GET", `/store/orders${next}`, { key: bearer });
      pages.push(idsOf(page));
      next = nextPage(page);
    }
    return pages;
  };
  expect(await walk("?petId=1&status=returned")).toEqual([[3], [], [12000], [], [24000], []]);
  expect((await walk("?petId=1&status=returned&sort=-id&limit=1")).flat()).toEqual([24000, 12000, 3]);
  expect((await walk("?petId=1&status=placed&since=1970-01-01T00:00:20Z")).flat()).toEqual([]);
  await large.stop();
});
