import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Reply, TestService } from "../../../test/harness/service.ts";

let service: TestService;
let key: string;
/** Animals that were ordered by turns. */
const animals: [number, number] = [0, 0];

const list = (query = "") => service.call("GET", `/store/orders${query}`, { key });
const idsOf = ({ json }: Reply) => json.map(({ id }: { id: number }) => id);
/** The query of the next page's address; undefined on the last page. */
const nextPage = ({ headers }: Reply) => /<[^>?]*(\?[^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];

beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey();
  const post = (path: string, body?: unknown) => service.call("POST", path, { key, body });
  for (const index of [0, 1] as const) {
    animals[index] = (await post("/pets", { name: "Rex", categoryId: 1, status: "available" })).json.id;
  }
  // Six orders: three cancelled, one returned, two open.
  for (let id = 1; id <= 6; id++) {
    await post("/store/orders", { petId: animals[(id - 1) % 2] });
    for (const act of id <= 3 ? ["cancel"] : id === 4 ? ["confirm", "return"] : []) {
      await post(`/store/orders/${id}/${act}`);
    }
  }
});
afterAll(() => service.stop());

test("shows all by ascending id, page by page, whatever the size of a page", async () => {
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

test("keeps the filters from page to page, and refuses a cursor with others", async () => {
  const page = await list(`?petId=${animals[0]}&status=cancelled&limit=1`);
  const next = nextPage(page) ?? "";
  expect([idsOf(page), idsOf(await list(next))]).toEqual([[1], [3]]);
  const { status, json } = await list(next.replace("cancelled", "placed"));
  expect([status, json.details[0].path]).toEqual([400, "/query/cursor"]);
});

test("refuses a filter that is no status and no identifier", async () => {
  for (const [query, path] of [
    ["?status=open", "/query/status"],
    ["?petId=x", "/query/petId"],
    ["?limit=101", "/query/limit"],
  ]) {
    const { status, json } = await list(query);
    expect([status, json.details[0].path]).toEqual([400, path]);
  }
});
