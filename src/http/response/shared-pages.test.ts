import { beforeEach, expect, test } from "bun:test";
import { shopNumber } from "../../contract/caller.ts";
import { SHOP_CAPACITY, SharedPages } from "./shared-pages.ts";

let version: number | undefined;
let pages: SharedPages;
let reads: number;
beforeEach(() => {
  version = 1;
  pages = new SharedPages({ versionOf: () => version });
  reads = 0;
});

const page = (text: string, lasts = true) => ({
  text,
  link: "",
  tag: "",
  created: "",
  location: "",
  lasts: (lasts || undefined) as never,
});
/** Gets a page. Returns the number of the read that produced it. */
const get = (shop: number, request: string, length = 10, lasts = true) => {
  const got = pages.get(shopNumber(shop), `${shop} ${request}`, () => page(`${++reads}`.padStart(length, "0"), lasts));
  return Number((got as { text: string }).text);
};
/** True if a page is cached. */
const isKept = (shop: number, request: string) => {
  const before = reads;
  get(shop, request);
  return reads === before;
};

test("a page is cached when it is read twice, until the version of the shop is another one", () => {
  expect([get(1, "a"), get(1, "a"), get(1, "a")]).toEqual([1, 2, 2]);
  version = 2;
  expect([get(1, "a"), get(1, "a")]).toEqual([3, 3]);
});

test("a page that does not last is not cached", () => {
  for (let round = 1; round <= 3; round++) expect(get(1, "a", 10, false)).toBe(round);
});

test("a page belongs to the version that the shop had before its read", async () => {
  const late = Promise.withResolvers<ReturnType<typeof page>>();
  get(1, "a");
  const early = pages.get(shopNumber(1), "1 a", () => late.promise);
  version = 2;
  for (const _ of [1, 2]) get(1, "b");
  late.resolve(page("old"));
  expect(await early).toEqual(page("old"));
  expect([get(1, "b"), get(1, "a")]).toEqual([3, 4]); // and evicts no newer one
});

test("a shop that reads very much evicts its own pages only", () => {
  for (const _ of [1, 2]) get(1, "a");
  for (let request = 0; request < 100; request++) for (const _ of [1, 2]) get(2, `${request}`, SHOP_CAPACITY / 10);
  expect([isKept(1, "a"), isKept(2, "99"), isKept(2, "0")]).toEqual([true, true, false]);
});

test("when the memory is full, the shops whose pages were cached first lose them", () => {
  for (let shop = 1; shop <= 20; shop++) for (const _ of [1, 2]) get(shop, "a", SHOP_CAPACITY * 0.9);
  expect([isKept(20, "a"), isKept(8, "a"), isKept(2, "a")]).toEqual([true, true, false]);
});

test("without versions, equal requests of one turn share a page that is read after the turn", async () => {
  version = undefined;
  let written = "old";
  const ask = async (request: string) => pages.get(shopNumber(1), request, () => page(`${++reads} ${written}`));
  const asked = [ask("a"), ask("b"), ask("a")];
  written = "new";
  asked.push(ask("a"));
  expect(await Promise.all(asked)).toMatchObject(["1 new", "2 new", "1 new", "1 new"].map((text) => ({ text })));
  expect(await ask("a")).toMatchObject({ text: "3 new" });
});
