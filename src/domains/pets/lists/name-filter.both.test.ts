// The filter of `listPets` by part of the name. Its results are compared with a plain search of folded names.

import { afterAll, beforeAll, expect, test } from "bun:test";
import * as fc from "fast-check";
import { folded } from "../../../../csv/name-key.ts";
import { nextOf } from "../../../../test/harness/next-page.ts";
import { numbers } from "../../../../test/harness/numbers.ts";
import { type TestResponse, TestService } from "../../../../test/harness/service.ts";
import { unchecked } from "../../../../test/harness/unchecked-pets.ts";
import { operator } from "../../events/publish.ts";
import { PetStore } from "../pets.store.ts";
import { addPets } from "../several/pet-imports.store.ts";

/** Names in several scripts. Some differ only in case, width or form. */
const names = [
  "Rex",
  "REX II",
  "T-Rex",
  "ＲＥＸ",
  "Bärbel",
  "BA\u0308RBEL",
  "Straße",
  "STRASSE",
  "İzmir",
  "izmir",
  "Ωmega",
  "ΟΔΥΣΣΕΥΣ",
  "Οδυσσεύς",
  "ﬁsh",
  "Fish",
  "100%",
  "under_score",
  "back\\slash",
  "it's",
  'a "quote"',
  "🐕",
  "👩‍🚀",
  "犬",
  "②",
  "2",
  " ",
  "K",
];

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey();
  for (const name of names) await service.call("POST", "/pets", { key, body: { name, categoryId: 1 } });
});
afterAll(() => service.stop());

/** The names on this page and all later ones. */
async function pagesOf(query: string, from = service, bearer = key): Promise<string[][]> {
  const pages: string[][] = [];
  for (let path: string | undefined = `/pets?${query}`; path; ) {
    const page: TestResponse = await from.call("GET", path, { key: bearer });
    expect(page.status).toBe(200);
    pages.push(page.json.map(({ name }: { name: string }) => name));
    path = nextOf(page);
  }
  return pages;
}

const found = async (text: string) => (await pagesOf(`name=${encodeURIComponent(text)}&limit=100`)).flat();

test.each([
  ["rex", ["Rex", "REX II", "T-Rex", "ＲＥＸ"]],
  ["REX", ["Rex", "REX II", "T-Rex", "ＲＥＸ"]],
  ["ex i", ["REX II"]],
  ["bär", ["Bärbel", "BA\u0308RBEL"]],
  ["BA\u0308R", ["Bärbel", "BA\u0308RBEL"]],
  ["ß", ["Straße"]],
  ["σευς", ["ΟΔΥΣΣΕΥΣ"]],
  ["ΣΕΎΣ", ["Οδυσσεύς"]],
  ["ΟΔΥΣ", ["ΟΔΥΣΣΕΥΣ", "Οδυσσεύς"]],
  ["fi", ["ﬁsh", "Fish"]],
  ["\u2460", ["100%"]],
  ["２", ["②", "2"]],
  ["\u212a", ["back\\slash", "K"]],
  ["%", ["100%"]],
  ["_", ["under_score"]],
  ["\\", ["back\\slash"]],
  ["'", ["it's"]],
  ['"', ['a "quote"']],
  ["🐕", ["🐕"]],
  ["犬", ["犬"]],
  ["*", []],
  ["r%x", []],
  ["r_x", []],
  ["nobody", []],
])("%p finds %j", async (text, expected) => expect(await found(text)).toEqual(expected));

test("finds the same animals as a plain search of folded names, for any texts", async () => {
  const part = fc.constantFrom(...names).chain((name) => {
    const characters = Array.from(name);
    return fc
      .tuple(fc.nat(characters.length - 1), fc.integer({ min: 1, max: 4 }), fc.boolean())
      .map(([start, length, isUpper]) => {
        const text = characters.slice(start, start + length).join("");
        return isUpper ? text.toUpperCase() : text;
      });
  });
  const text = fc.oneof(part, fc.string({ unit: "binary", minLength: 1, maxLength: 3 }));
  await fc.assert(
    fc.asyncProperty(text, async (sought) => {
      if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(sought)) return; // refused
      expect(await found(sought)).toEqual(names.filter((name) => folded(name).includes(folded(sought))));
    }),
    { numRuns: 300 },
  );
});

test("can be combined with the other filters and the order, page by page", async () => {
  const reversed = ["ＲＥＸ", "T-Rex", "REX II", "Rex"];
  expect(await pagesOf("name=rex&sort=-id&limit=3")).toEqual([reversed.slice(0, 3), reversed.slice(3)]);
  expect(await pagesOf("name=rex&ids=1,4,5")).toEqual([["Rex", "ＲＥＸ"]]);
  expect(await pagesOf("name=rex&categoryId=2")).toEqual([[]]);
  expect(await pagesOf("name=rex&status=sold")).toEqual([[]]);
  await service.call("PATCH", "/pets/2", { key, body: { status: "sold" } });
  expect(await pagesOf("name=rex&status=sold&categoryId=1")).toEqual([["REX II"]]);
});

test("finds an animal by its new name after a change", async () => {
  const { json } = await service.call("POST", "/pets", { key, body: { name: "Æsop", categoryId: 1 } });
  const rename = (name: string) => service.call("PATCH", `/pets/${json.id}`, { key, body: { name } });
  expect(await found("æso")).toEqual(["Æsop"]);
  await rename("Aesop");
  expect([await found("æso"), await found("AESO")]).toEqual([[], ["Aesop"]]);
  await rename("ÆSOP");
  expect([await found("æso"), await found("aeso")]).toEqual([["ÆSOP"], []]);
  await service.call("DELETE", `/pets/${json.id}`, { key });
});

test.each([
  ["", "must have at least 1 character; it has 0"],
  ["x".repeat(256), "must have at most 255 characters; it has 256"],
  ["a\0", "must hold no control character; character 2 is U+0000"],
])("refuses %j", async (text, message) => {
  const { status, json } = await service.call("GET", `/pets?name=${encodeURIComponent(text)}`, { key });
  expect([status, json.details]).toEqual([400, [{ path: "/query/name", message }]]);
});

test("finds animals that were imported", async () => {
  const fresh = await TestService.start();
  const bearer = await fresh.newKey();
  const storage = await fresh.store.open();
  const author = operator(await fresh.shop());
  const animals = ["Rex", "Æsop", "ÆON"].map((name) => ({ name, categoryId: 1n }));
  await storage.write(() => addPets(new PetStore(storage, unchecked).checks, author, animals));
  await storage.close();
  expect(await pagesOf("name=%C3%A6", fresh, bearer)).toEqual([["Æsop", "ÆON"]]);
  expect(await pagesOf("name=REX", fresh, bearer)).toEqual([["Rex"]]);
  await fresh.stop();
});

test("a page searches at most 10,000 animals, and may be short although more follow", async () => {
  const large = await TestService.start();
  const bearer = await large.newKey();
  await large.store.run(
    `${numbers(35_000)}
     INSERT INTO pets (shop, id, name, category_id, status, added_at)
     SELECT ${await large.shop()}, n, CASE WHEN n IN (7, 25000, 25001, 35000) THEN 'Tom ' || n ELSE 'Rex' END, 1,
       CASE WHEN n % 2 = 0 THEN 'sold' ELSE 'available' END, 0 FROM numbers`,
  );
  const walk = (query: string) => pagesOf(query, large, bearer);
  expect(await walk("name=TOM")).toEqual([["Tom 7"], [], ["Tom 25000", "Tom 25001"], ["Tom 35000"]]);
  expect(await walk("name=tom&status=sold")).toEqual([[], [], ["Tom 25000"], ["Tom 35000"]]);
  expect(await walk("name=tom&sort=-id&limit=1")).toEqual([["Tom 35000"], ["Tom 25001"], ["Tom 25000"], [], ["Tom 7"]]);
  await large.stop();
});
