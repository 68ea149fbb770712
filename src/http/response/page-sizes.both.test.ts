// A page ends early before it has too many bytes, and the next one continues after its last item.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Type } from "typebox";
import { nextOf } from "../../../test/harness/next-page.ts";
import { TestService } from "../../../test/harness/service.ts";
import { PAGE_BYTES } from "../../contract/paging.ts";
import { compilePageText } from "./page-text.ts";

let service: TestService;
let key: string;
const ids = Array.from({ length: 100 }, (_, index) => index + 1);

function metadataOf(value: string) {
  return Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`k${index}`, value]));
}

beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey();
  // Escapes double the first values, the others have 3 bytes for each character.
  const animals = ids.map((id) => ({
    name: `fat ${id}`,
    categoryId: 1,
    metadata: id % 2 ? metadataOf('"'.repeat(500)) : metadataOf("猫".repeat(165)),
  }));
  for (const start of [0, 25, 50, 75]) {
    const part = animals.slice(start, start + 25); // a body has at most 64,000 escapes
    expect((await service.call("POST", "/pets/import", { key, body: { animals: part } })).status).toBe(201);
  }
});
afterAll(() => service.stop());

/** The ids of the animals on each page of a list. */
async function pagesOf(list: string): Promise<number[][]> {
  const pages: number[][] = [];
  for (let path: string | undefined = list; path; ) {
    const page = await service.call("GET", path, { key });
    expect(page.status).toBe(200);
    expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(PAGE_BYTES);
    pages.push(
      page.json.map(({ id, data = { id } }: { readonly id: number; readonly data?: { id: number } }) => data.id),
    );
    path = nextOf(page);
  }
  return pages;
}

test.each([
  ["/pets?limit=100", ids],
  ["/pets?limit=100&sort=-id", ids.toReversed()],
  ["/pets?limit=100&name=fat", ids],
  ["/pets?limit=100&categoryId=1", ids],
  [`/pets?limit=100&ids=${ids.join()}`, ids],
  ["/events?limit=100&type=pet.created", ids],
  ["/events?limit=100&type=pet.created&sort=-id", ids.toReversed()],
])("the pages of %s are small, and have each item once", async (list, expected) => {
  const pages = await pagesOf(list);
  expect(pages.flat()).toEqual(expected);
  expect(pages.length).toBeGreaterThan(1);
  expect(pages.slice(0, -1).every(({ length }) => length > 20)).toBe(true);
});

test("a page that fits has as many items as it was asked for", async () => {
  expect((await pagesOf("/pets?limit=20")).map(({ length }) => length)).toEqual([20, 20, 20, 20, 20]);
});

test("animals are deleted together, however large they are", async () => {
  const copy = ids.slice(0, 60).map((id) => ({ name: `copy ${id}`, categoryId: 2, metadata: { k: '"'.repeat(500) } }));
  const { json } = await service.call("POST", "/pets/import", { key, body: { animals: copy } });
  const copies = json.animals.map(({ id }: { readonly id: number }) => id);
  const deleted = await service.call("POST", "/pets/delete", { key, body: { ids: [...ids.slice(40), ...copies] } });
  expect(deleted.json.deleted).toEqual([...ids.slice(40), ...copies]);
  expect((await pagesOf("/pets?limit=100")).flat()).toEqual(ids.slice(0, 40));
});

test("the first item is on its page, however small the bound is; the bound counts bytes", () => {
  const textOf = compilePageText(Type.Array(Type.String()));
  expect(textOf(["abc", "d"], 1)).toEqual({ text: '["abc"]', count: 1 });
  expect(textOf(["猫", "d"], 11)).toEqual({ text: '["猫","d"]', count: 2 });
  expect(textOf(["猫", "d"], 10)).toEqual({ text: '["猫"]', count: 1 });
  expect(textOf([], 1)).toEqual({ text: "[]", count: 0 });
});
