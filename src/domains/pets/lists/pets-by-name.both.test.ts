// Lists of animals by name, and searches.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { folded } from "../../../../csv/name-key.ts";
import { TestService } from "../../../../test/harness/service.ts";
import type { Pet } from "../pets.schemas.ts";

type Shown = Omit<Pet, "id" | "categoryId"> & { readonly id: number; readonly categoryId: number };

let service: TestService;
let key: string;
let shop: number;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  const made = await service.newAccountWithKey("enterprise");
  key = made.key;
  shop = await service.shop(made.account.id);
});
afterAll(() => service.stop());

const call = (method: string, path: string, body?: unknown) =>
  service.call(method, path, { key, ...(body === undefined ? {} : { body }) });
const importPets = async (animals: readonly object[]) =>
  expect((await call("POST", "/pets/import", { animals })).status).toBe(201);
const named = (...names: string[]) => names.map((name) => ({ name, categoryId: 1 }));
/** All animals of a list, page by page. `between` runs before each page but the first. */
async function walk(query: string, between = async () => {}): Promise<Shown[]> {
  const found: Shown[] = [];
  for (let path: string | undefined = `/pets?${query}`; path !== undefined; ) {
    const { status, json, headers } = await call("GET", path);
    expect([path, status]).toEqual([path, 200]);
    found.push(...json);
    const [, next] = /<[^>]*(\/pets\?[^>]*)>; rel="next"/.exec(headers.get("link") ?? "") ?? [];
    path = next;
    if (next) await between();
  }
  return found;
}
const names = async (query: string) => (await walk(query)).map(({ name }) => name);
const ids = async (query: string) => (await walk(query)).map(({ id }) => id);

const startOf = ({ name }: { readonly name: string }) => Buffer.from(Array.from(folded(name)).slice(0, 64).join(""));
const byName = (one: Shown, other: Shown) => Buffer.compare(startOf(one), startOf(other)) || one.id - other.id;

test("a list by name ignores case, and has equal names by id, in both directions", async () => {
  await importPets(named("rex", "Émile", "Rex", "anna", "REX II", "Zoë", "émile", "Ｒex"));
  const sorted = [4, 1, 3, 8, 5, 6, 2, 7];
  expect(await ids("sort=name&limit=3")).toEqual(sorted);
  expect(await ids("sort=-name&limit=3")).toEqual(sorted.toReversed());
  expect((await call("HEAD", "/pets?sort=name&limit=3")).headers.get("link")).toContain("cursor=");
});

test("names that begin alike for 64 characters are sorted by id", async () => {
  const long = "🐕".repeat(64);
  await importPets(named(`${long}b`, `${long}a`, "🐕"));
  expect(await ids("sort=name&limit=1")).toEqual([3, 1, 2]);
  expect(await ids("sort=-name&limit=1")).toEqual([2, 1, 3]);
});

describe("a search", () => {
  test("finds the animals whose name begins with the text, by name", async () => {
    await importPets(named("Rexona", "Bella", "rex", "T-Rex", "Rebecca", "ΣΟΦΟΣ", "\u{10ffff}x", "REX"));
    expect(await names("search=rE&limit=2")).toEqual(["Rebecca", "rex", "REX", "Rexona"]);
    expect(await names("search=rE&limit=2&sort=-name")).toEqual(["Rexona", "REX", "rex", "Rebecca"]);
    expect(await names("search=%CF%83%CE%BF%CF%86%CE%BF%CF%82")).toEqual(["ΣΟΦΟΣ"]);
    expect(await names(`search=${encodeURIComponent("\u{10ffff}")}`)).toEqual(["\u{10ffff}x"]);
    expect(await names("search=%25")).toEqual([]);
    expect(await names("search=_ex")).toEqual([]);
  });

  test("has the exact id or reference first, once, however small the pages are", async () => {
    await importPets([
      { name: "7 up", categoryId: 1 },
      { name: "B", categoryId: 1, reference: "7" },
      ...named("C", "D", "E", "F", "7"),
      { name: "7b", categoryId: 1, reference: "x7" },
      { name: "G", categoryId: 1, reference: "9" },
    ]);
    for (const limit of [1, 2, 3, 10]) {
      expect([limit, await ids(`search=7&limit=${limit}`)]).toEqual([limit, [7, 2, 1, 8]]);
      expect([limit, await ids(`search=7&sort=-name&limit=${limit}`)]).toEqual([limit, [7, 2, 8, 1]]);
    }
    expect(await ids("search=x7")).toEqual([8]);
    expect(await ids("search=9")).toEqual([9]);
    expect(await ids("search=X7")).toEqual([]); // a reference is compared exactly
    expect(await ids("search=007")).toEqual([]);
    expect(await ids("search=9223372036854775807")).toEqual([]);
  });

  test("gives only animals that match the other filters, too", async () => {
    await importPets([
      { name: "Rex", categoryId: 1, status: "sold", reference: "re" },
      { name: "Rea", categoryId: 2, status: "available" },
      { name: "Reb", categoryId: 1, status: "available" },
    ]);
    expect(await ids("search=re")).toEqual([1, 2, 3]);
    expect(await ids("search=re&status=available")).toEqual([2, 3]);
    expect(await ids("search=re&categoryId=1")).toEqual([1, 3]);
    expect(await ids("search=re&name=EB&categoryId=1&status=available")).toEqual([3]);
    expect(await ids("sort=-name&status=available&categoryId=2")).toEqual([2]);
  });

  test.each([
    ["search=re&sort=-id", "/query/sort", "must be name or -name with search, which sorts by name"],
    ["search=re&ids=1", "/query/ids", "cannot be combined with search, or with a list by name"],
    ["sort=name&ids=1", "/query/ids", "cannot be combined with search, or with a list by name"],
    [`search=${"x".repeat(65)}`, "/query/search", "must have at most 64 characters; it has 65"],
  ])("refuses %s", async (query, path, message) => {
    const { status, json } = await call("GET", `/pets?${query}`);
    expect([status, json.details]).toEqual([400, [{ path, message }]]);
  });

  test("without a text finds all, as a client does whose field is empty", async () => {
    await importPets(named("Rex", "Bella"));
    expect(await ids("search=")).toEqual([1, 2]);
    expect(await ids("search=&sort=-id&ids=1&ids=2")).toEqual([2, 1]);
  });

  test("refuses the cursor of another search", async () => {
    await importPets(named("Rex", "Rea"));
    const { headers } = await call("GET", "/pets?search=re&limit=1");
    const [, cursor] = /cursor=([^>]+)>/.exec(headers.get("link") ?? "") ?? [];
    expect((await call("GET", `/pets?search=r&limit=1&cursor=${cursor}`)).status).toBe(400);
    expect((await call("GET", `/pets?search=re&limit=1&cursor=${cursor}`)).json[0].name).toBe("Rex");
  });
});

test("a page scans a bounded number of animals for a status or a category, and the walk goes on after them", async () => {
  await service.store.run(
    `INSERT INTO pets (shop, id, name, category_id, status, added_at)
     WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 12000)
     SELECT ${shop}, n, 'Pet', CASE WHEN n % 5000 = 0 THEN 2 ELSE 1 END, CASE WHEN n = 11000 THEN 'sold' ELSE 'available' END, 0
     FROM numbers`,
  );
  const { json, headers } = await call("GET", "/pets?sort=name&status=sold");
  expect([json, headers.get("link")]).toEqual([[], expect.stringContaining("cursor=")]);
  expect(await ids("sort=name&status=sold")).toEqual([11_000]);
  expect((await ids("sort=-name&status=sold")).length).toBe(1);
  expect(await ids("sort=name&categoryId=2&limit=1")).toEqual([5_000, 10_000]);
});

const name = fc.oneof(
  fc.constantFrom("Rex", "rex", "REX", "Re", "Zoë", "zoe\u0308", "ς", "Σ", "🐕", "ﷺ", "ẞ", "İ", "\u{10ffff}"),
  fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 5 })
    .filter((text) => !/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(text)),
);

test("a walk gives each animal once and in order, while others are added, renamed and deleted", async () => {
  const step = fc.record({ kind: fc.constantFrom("add", "delete", "rename"), place: fc.nat(), name });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(name, fc.constantFrom("available", "sold", undefined)), { minLength: 1, maxLength: 25 }),
      fc.array(step, { maxLength: 12 }),
      fc.constantFrom("sort=name", "sort=-name", "search=re", "sort=name&status=sold", "search=z&sort=-name"),
      fc.integer({ min: 1, max: 6 }),
      async (animals, steps, query, limit) => {
        ({ key } = await service.newAccountWithKey("enterprise"));
        await importPets(
          animals.map(([one, status]) => Object.assign({ name: one, categoryId: 1 }, status && { status })),
        );
        const before = (await call("GET", "/pets?limit=100")).json as Shown[];
        const touched = new Set<number>();
        const queue = [...steps];
        const found = await walk(`${query}&limit=${limit}`, async () => {
          const { kind, place, name: other } = queue.shift() ?? {};
          const { id } = before[(place ?? 0) % before.length] as Shown;
          if (kind === "add") await call("POST", "/pets", { name: other, categoryId: 1 });
          else if (kind) touched.add(id);
          if (kind === "rename") await call("PATCH", `/pets/${id}`, { name: other });
          if (kind === "delete") await call("DELETE", `/pets/${id}`);
        });
        const stable = new Set(before.map(({ id }) => id).filter((id) => !touched.has(id)));
        const search = new URLSearchParams(query).get("search") ?? "";
        const expected = before
          .filter(({ id }) => stable.has(id))
          .filter((pet) => folded(pet.name).startsWith(search) && (!query.includes("sold") || pet.status === "sold"))
          .toSorted((one, other) => byName(one, other) * (query.includes("-name") ? -1 : 1));
        expect(found.filter(({ id }) => stable.has(id)).map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      },
    ),
    { numRuns: 60 },
  );
});
