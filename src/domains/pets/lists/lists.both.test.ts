// The filters and sort orders that `listPets` has in addition to the specification that this service was built from.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { nextOf } from "../../../../test/harness/next-page.ts";
import { numbers } from "../../../../test/harness/numbers.ts";
import { type TestResponse, TestService } from "../../../../test/harness/service.ts";

interface Shown {
  readonly id: number;
  readonly categoryId: number;
  readonly status?: string;
}

let service: TestService;
let key: string;
const animals: Shown[] = [];

beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey();
  const statuses = ["available", "pending", "sold", undefined];
  for (let index = 0; index < 120; index++) {
    animals.push(await add(index % 7, statuses[index % 4]));
  }
});
afterAll(() => service.stop());

async function add(categoryId: number, status?: string): Promise<Shown> {
  const body = { name: "Rex", categoryId, ...(status && { status }) };
  return (await service.call("POST", "/pets", { key, body })).json;
}

const list = (query: string) => service.call("GET", `/pets?${query}`, { key });
const idsOf = (shown: readonly Shown[]) => shown.map(({ id }) => id);
const faultsOf = ({ json }: TestResponse): Record<string, string> =>
  Object.fromEntries(json.details.map(({ path, message }: { path: string; message: string }) => [path, message]));

/** This page and all later ones. */
async function pagesFrom(query: string): Promise<Shown[][]> {
  const pages: Shown[][] = [];
  for (let path: string | undefined = `/pets?${query}`; path; ) {
    const page: TestResponse = await service.call("GET", path, { key });
    expect(page.status).toBe(200);
    pages.push(page.json);
    path = nextOf(page);
  }
  return pages;
}

describe("ids", () => {
  test.each([
    "ids=3,1,2",
    "ids=1&ids=2&ids=3",
    "ids=2,3&ids=1",
    "ids=3%2C1&ids=2",
    "ids=1,1,2,3,3",
    "ids=1,2,3,999999,-5",
  ])("returns the existing animals for %s", async (query) => {
    const { status, json } = await list(query);
    expect([status, json]).toEqual([200, animals.slice(0, 3)]);
  });

  test("returns the same animals as getPet, also if none exists", async () => {
    expect((await list("ids=42")).text).toBe(`[${(await service.call("GET", "/pets/42", { key })).text}]`);
    expect((await list("ids=999999")).json).toEqual([]);
  });

  test("accepts 100 ids, on several pages", async () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 120 - index);
    const pages = await pagesFrom(`ids=${hundred.join(",")}&limit=30`);
    expect(pages.map(({ length }) => length)).toEqual([30, 30, 30, 10]);
    expect(idsOf(pages.flat())).toEqual(hundred.toReversed());
  });

  test.each([
    ["ids=", { "/query/ids/0": 'must be a 64-bit integer; got ""' }],
    ["ids=1,,2", { "/query/ids/1": 'must be a 64-bit integer; got ""' }],
    [
      "ids=1, 2&ids=01",
      { "/query/ids/1": 'must be a 64-bit integer; got " 2"', "/query/ids/2": 'must be a 64-bit integer; got "01"' },
    ],
    ["ids=9223372036854775808", { "/query/ids/0": 'must be a 64-bit integer; got "9223372036854775808"' }],
    [
      `ids=${Array.from({ length: 101 }, (_, index) => index)}`,
      { "/query/ids": "must have at most 100 items; it has 101" },
    ],
    ["ids=1&id=2", { "/query/id": "is not a query parameter of this operation; did you mean ids?" }],
  ])("refuses %s", async (query, faults) => {
    expect(faultsOf(await list(query))).toEqual(faults);
  });
});

describe("sort", () => {
  test("by -id returns the newest animals first, also a new one at once", async () => {
    for (let count = 0; count < 4; count++) {
      const added = await add(1, "sold");
      animals.push(added);
      expect((await list("sort=-id&limit=1")).json).toEqual([added]);
      expect((await list("sort=-id&limit=2&status=sold")).json[0]).toEqual(added);
    }
  });

  test("by -id returns each animal once, although animals are added", async () => {
    const first = await list("sort=-id&limit=5");
    const before = idsOf(animals).toReversed();
    animals.push(await add(1), await add(2));
    const rest = await pagesFrom(nextOf(first)?.split("?")[1] ?? "");
    expect([...idsOf(first.json), ...idsOf(rest.flat())]).toEqual(before);
  });

  test("by id is the default", async () => {
    expect((await list("sort=id")).text).toBe((await list("")).text);
    expect(faultsOf(await list("sort=status"))).toEqual({
      "/query/sort": 'must be one of id, -id, name, -name; got "status"',
    });
  });
});

test("all filters, orders and page sizes together return each matching animal once", async () => {
  const query = fc.record(
    {
      status: fc.constantFrom("available", "pending", "sold"),
      categoryId: fc.integer({ min: 0, max: 8 }),
      ids: fc.uniqueArray(fc.integer({ min: 1, max: 140 }), { minLength: 1, maxLength: 100 }),
      sort: fc.constantFrom("id", "-id"),
      limit: fc.integer({ min: 1, max: 100 }),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(query, async ({ status, categoryId, ids, sort, limit }) => {
      const given = Object.entries({ status, categoryId, ids: ids?.join(","), sort, limit });
      const text = given.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])).join("&");
      const expected = animals.filter(
        (one) =>
          (status === undefined || one.status === status) &&
          (categoryId === undefined || one.categoryId === categoryId) &&
          (ids === undefined || ids.includes(one.id)),
      );
      const pages = await pagesFrom(text);
      expect(pages.flat()).toEqual(sort === "-id" ? expected.toReversed() : expected);
      expect(pages.slice(0, -1).every((page) => page.length === (limit ?? 20))).toBe(true);
    }),
    { numRuns: 150 },
  );
});

test("a cursor is valid for its filters and its order only", async () => {
  const cursor = new URLSearchParams(nextOf(await list("limit=1&categoryId=1&sort=-id"))?.split("?")[1]).get("cursor");
  for (const other of ["", "categoryId=1", "sort=-id", "categoryId=2&sort=-id", "categoryId=1&sort=id", "ids=1"]) {
    expect(faultsOf(await list(`${other}&cursor=${cursor}`))).toEqual({
      "/query/cursor": expect.stringContaining("is not a cursor of this list; send it with"),
    });
  }
});

test("all animals of a rare category are found in a large store, in pages that may be short", async () => {
  const large = await TestService.start();
  const bearer = await large.newKey();
  await large.store.run(
    `${numbers(45_000)}
     INSERT INTO pets (shop, id, name, category_id, status, added_at)
     SELECT ${await large.shop()}, n, 'Rex', CASE WHEN n IN (1, 2, 25000, 25001, 30000, 45000) THEN 5 ELSE 1 END,
       CASE WHEN n % 3 = 0 THEN 'sold' ELSE 'available' END, 0 FROM numbers`,
  );
  const walk = async (query: string) => {
    const pages: number[][] = [];
    for (let path: string | undefined = `/pets?${query}`; path; ) {
      const page: TestResponse = await large.call("GET", path, { key: bearer });
      pages.push(idsOf(page.json));
      path = nextOf(page);
    }
    return pages;
  };
  // Each page scans at most 10,000 animals, of one status or of all.
  expect(await walk("categoryId=5")).toEqual([[1, 2], [], [25000, 25001, 30000], [], [45000]]);
  expect(await walk("categoryId=5&sort=-id")).toEqual([[45000], [30000, 25001], [25000], [], [2, 1]]);
  expect(await walk("categoryId=5&status=sold")).toEqual([[30000], [45000]]);
  expect(await walk("categoryId=5&limit=1")).toEqual([[1], [2], [], [25000], [25001], [30000], [45000]]);
  expect((await walk("categoryId=9")).flat()).toEqual([]);
  await large.stop();
});
