import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { nextOf } from "../../../test/harness/next-page.ts";
import { type TestResponse, TestService } from "../../../test/harness/service.ts";

let service: TestService;
let key: string;

async function start(settings: Record<string, string> = {}): Promise<void> {
  service = await TestService.start({ settings });
  key = await service.newKey();
}

const create = (body: unknown) => service.call("POST", "/categories", { key, body });
const get = (id: unknown) => service.call("GET", `/categories/${id}`, { key });
const rename = (id: unknown, body: unknown) => service.call("PATCH", `/categories/${id}`, { key, body });
const remove = (id: unknown, query = "") => service.call("DELETE", `/categories/${id}${query}`, { key });
const list = (query = "") => service.call("GET", `/categories${query}`, { key });
const addPet = (categoryId: unknown) =>
  service.call("POST", "/pets", { key, body: `{"name":"Rex","categoryId":${categoryId}}` });
const outcomeOf = ({ status, json }: TestResponse) => [status, json?.code];

/** The rest of the address of the next page, from its question mark on; undefined on the last page. */
const nextPage = (page: TestResponse) => nextOf(page)?.slice("/categories".length);

/** How many animals each category has, by what the animals say. */
async function animalsByCategory(): Promise<Record<string, number>> {
  const { json } = await service.call("GET", "/pets?limit=100", { key });
  return Object.fromEntries(
    [...Map.groupBy(json as { categoryId: number }[], ({ categoryId }) => categoryId)].map(([id, { length }]) => [
      id,
      length,
    ]),
  );
}

beforeAll(() => start());
beforeEach(() => service.store.empty()); // sooner done than starting another one
afterAll(() => service.stop());

/** The categories on a page of animals that is cached at its second request. */
async function categoriesOfPage(): Promise<Set<number>> {
  const { json } = await service.call("GET", "/pets?limit=10", { key });
  return new Set(json.map(({ categoryId }: { categoryId: number }) => categoryId));
}

describe("createCategory", () => {
  test("adds a category under an id that the service assigns", async () => {
    const { status, json, headers, text } = await create({ name: "Birds" });
    expect([status, json]).toEqual([201, { id: 1, name: "Birds" }]);
    expect(headers.get("location")).toBe(`${service.app.base}/categories/1`);
    expect((await get(1)).text).toBe(text);
    expect((await create({ name: "Fish" })).json.id).toBe(2);
  });

  test.each(["9223372036854775807", "-9223372036854775808", "9007199254740993", "0", "-1"])(
    "takes the id %s, digit for digit, and continues with its own",
    async (id) => {
      const { status, text, headers } = await create(`{"id":${id},"name":"Far"}`);
      expect([status, text]).toEqual([201, `{"id":${id},"name":"Far"}`]);
      expect(headers.get("location")).toBe(`${service.app.base}/categories/${id}`);
      expect([(await get(id)).text, (await list()).text]).toEqual([text, `[${text}]`]);
      expect((await rename(id, { name: "Farther" })).text).toBe(`{"id":${id},"name":"Farther"}`);
      expect((await create({ name: "Near" })).json.id).toBe(1);
      expect((await remove(id, "?moveTo=1")).status).toBe(204);
    },
  );

  test("assigns no id that a category has or an animal uses", async () => {
    for (const id of [1, 3, 5]) await create({ id, name: `Category ${id}` });
    for (const categoryId of [2, 4, 6, 7, 9]) await addPet(categoryId);
    expect((await create({ name: "First" })).json.id).toBe(8);
    expect((await create({ name: "Second" })).json.id).toBe(10);
    await addPet(11);
    expect((await create({ name: "Third" })).json.id).toBe(12);
  });

  test("names the category of animals with this category id", async () => {
    await addPet(7);
    expect((await create({ id: 7, name: "Birds" })).status).toBe(201);
  });

  test("refuses an existing id or name", async () => {
    await create({ id: 5, name: "Birds" });
    expect(outcomeOf(await create({ id: 5, name: "Fish" }))).toEqual([409, "category_exists"]);
    expect(outcomeOf(await create({ id: 6, name: "Birds" }))).toEqual([409, "category_name_taken"]);
    expect(outcomeOf(await create({ name: "Birds" }))).toEqual([409, "category_name_taken"]);
    expect((await list()).json).toEqual([{ id: 5, name: "Birds" }]);
  });

  test.each([
    ["Birds", "birds"],
    ["Birds", "Birds "],
    ["Song birds", " song\u00a0 Birds"],
    ["Birds", "B\u200birds\ufeff"], // zero-width characters
    ["Birds", "\u202eBi\u00adrds"],
    ["Birds", "\uff22irds"], // a wide letter
    ["V\u00f6gel", "Vo\u200b\u0308gel"],
    ["\u200b", " "],
  ])("refuses for a category %j the name %j, which looks the same", async (name, twin) => {
    expect((await create({ name })).json).toEqual({ id: 1, name });
    expect(outcomeOf(await create({ name: twin }))).toEqual([409, "category_name_taken"]);
    await create({ name: "Fish" });
    expect(outcomeOf(await rename(2, { name: twin }))).toEqual([409, "category_name_taken"]);
    const renamed = await rename(1, { name: twin });
    expect([renamed.status, renamed.json.name]).toEqual([200, twin]);
    expect(outcomeOf(await create({ name }))).toEqual([409, "category_name_taken"]);
  });

  test("accepts names that look different, and the longest ones", async () => {
    for (const name of ["Birds", "Birds!", "Vogel", "V\u00f6gel", "🐕".repeat(255), "\ufdfa".repeat(255)]) {
      expect([name, (await create({ name })).status]).toEqual([name, 201]);
    }
  });

  test.each([
    [{}, "/body/name", "is required"],
    [{ name: "" }, "/body/name", "must have at least 1 character; it has 0"],
    [{ name: "x".repeat(256) }, "/body/name", "must have at most 255 characters; it has 256"],
    [{ name: "a\0b" }, "/body/name", "must hold no control character; character 2 is U+0000"],
    [{ name: "Birds", id: "1" }, "/body/id", 'must be a 64-bit integer; got "1", write it without quotes'],
    [{ name: "Birds", id: null }, "/body/id", "must be a 64-bit integer; got null"],
    [{ name: "Birds", colour: "red" }, "/body/colour", "is not a field of this operation; it has id, name, metadata"],
  ])("refuses %j", async (body, path, message) => {
    const { status, json } = await create(body);
    expect([status, json.code, json.details]).toEqual([400, "invalid_request", [{ path, message }]]);
  });

  test("gives a name to exactly one of many concurrent requests, and an id to each", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `Name ${index % 10}`);
    const answers = await Promise.all(names.map((name) => create({ name })));
    const made = answers.filter(({ status }) => status === 201).map(({ json }) => json);
    expect(made.map(({ name }) => name as string).toSorted()).toEqual([...new Set(names)].toSorted());
    expect(new Set(made.map(({ id }) => id)).size).toBe(10);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(new Set(refused.map(({ json }) => json.code))).toEqual(new Set(["category_name_taken"]));
  });

  test("gives a requested id to exactly one of many concurrent requests", async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => create({ id: 9, name: `Name ${index}` })),
    );
    const outcomes = answers.map((answer) => String(outcomeOf(answer))).toSorted();
    expect(outcomes).toEqual(["201,", ...Array.from({ length: 9 }, () => "409,category_exists")]);
  });
});

describe("listCategories", () => {
  test("returns all categories by ascending id, page by page, for any page size", async () => {
    const ids = ["-9223372036854775808", "-3", "0", "4", "9007199254740993", "9223372036854775807"];
    for (const id of ids.toReversed()) await create(`{"id":${id},"name":"No. ${id}"}`);
    const whole = (await list()).text;
    expect([...whole.matchAll(/"id":(-?[0-9]+)/g)].map(([, id]) => id)).toEqual(ids);
    for (const limit of [1, 2, 3, 5, 6]) {
      const pages: string[] = [];
      for (let query: string | undefined = `?limit=${limit}`; query !== undefined; ) {
        const page = await list(query);
        pages.push(page.text.slice(1, -1));
        query = nextPage(page);
      }
      expect([limit, pages.length, `[${pages.join(",")}]`]).toEqual([limit, Math.ceil(6 / limit), whole]);
    }
  });

  test("returns 20 by default, and an empty list without categories", async () => {
    expect((await list()).json).toEqual([]);
    for (let index = 0; index < 21; index++) await create({ name: `Category ${index}` });
    const first = await list();
    expect(first.json).toHaveLength(20);
    expect((await list(nextPage(first))).json).toEqual([{ id: 21, name: "Category 20" }]);
  });

  test.each(["?limit=0", "?limit=101", "?status=sold", "?cursor=x"])("refuses %s", async (query) => {
    expect(outcomeOf(await list(query))).toEqual([400, "invalid_request"]);
  });

  test("has another entity tag once a name has changed", async () => {
    const { id } = (await create({ name: "Birds" })).json;
    const sent = { "If-None-Match": (await list()).headers.get("etag") ?? "" };
    const again = () => service.call("GET", "/categories", { key, headers: sent });
    expect((await again()).status).toBe(304);
    await rename(id, { name: "Fish" });
    expect((await again()).json).toEqual([{ id, name: "Fish" }]);
  });
});

describe("getCategory, updateCategory and deleteCategory", () => {
  test.each(["7", "-1", "abc", "01", "9223372036854775808", "%20", "1.0"])(
    "return 404 for the category %s",
    async (id) => {
      const answers = [
        await get(id),
        await rename(id, { name: "Birds" }),
        await remove(id),
        await remove(id, "?moveTo=1"),
      ];
      expect(answers.map(outcomeOf)).toEqual(answers.map(() => [404, "category_not_found"]));
    },
  );
});

describe("updateCategory", () => {
  test.each(["application/merge-patch+json", "application/json"])("accepts %s", async (type) => {
    const { json: category } = await create({ name: `Sent as ${type}` });
    const renamed = { id: category.id, name: `Renamed as ${type}` };
    const path = `/categories/${category.id}`;
    const reply = await service.call("PATCH", path, {
      key,
      body: { name: renamed.name },
      headers: { "Content-Type": type },
    });
    expect([reply.status, reply.json]).toEqual([200, renamed]);
  });

  test("renames the category, so that the old name is free", async () => {
    await create({ name: "Birds" });
    const { status, json } = await rename(1, { name: "Fish" });
    expect([status, json]).toEqual([200, { id: 1, name: "Fish" }]);
    expect((await create({ name: "Birds" })).status).toBe(201);
  });

  test("refuses the name of another category, and accepts its own", async () => {
    await create({ name: "Birds" });
    await create({ name: "Fish" });
    expect(outcomeOf(await rename(2, { name: "Birds" }))).toEqual([409, "category_name_taken"]);
    expect((await rename(2, { name: "Fish" })).status).toBe(200);
    expect((await get(2)).json.name).toBe("Fish");
  });

  test("changes nothing without a field", async () => {
    const { json: category } = await create({ name: "Birds" });
    expect((await rename(1, {})).json).toEqual(category);
  });

  test.each([[{ name: null }], [{ name: "" }], [{ id: 2, name: "Fish" }]])("refuses %j", async (body) => {
    await create({ name: "Birds" });
    expect(outcomeOf(await rename(1, body))).toEqual([400, "invalid_request"]);
  });
});

describe("deleteCategory", () => {
  beforeEach(async () => {
    for (const name of ["Birds", "Fish"]) await create({ name });
  });

  test("deletes a category without animals, and its id is not assigned again", async () => {
    await addPet(2);
    const { status, text } = await remove(1);
    expect([status, text]).toEqual([204, ""]);
    expect([(await get(1)).status, (await list()).json]).toEqual([404, [{ id: 2, name: "Fish" }]]);
    await create({ id: 3, name: "Brought" });
    await remove(3);
    expect((await create({ name: "Birds" })).json.id).toBe(4);
  });

  test("lets a client request the id again", async () => {
    await remove(1);
    expect((await create({ id: 1, name: "Birds again" })).status).toBe(201);
    expect([(await remove(1)).status, (await get(1)).status]).toEqual([204, 404]);
  });

  test.each([
    [1, "1 animal belongs to the category 1. Set moveTo to the category that they move to."],
    [3, "3 animals belong to the category 1. Set moveTo to the category that they move to."],
  ])("refuses a category that has animals: %d", async (count, message) => {
    for (let index = 0; index < count; index++) await addPet(1);
    const { status, json } = await remove(1);
    expect([status, json.code, json.message]).toEqual([409, "category_in_use", message]);
    expect((await get(1)).status).toBe(200);
  });

  test("moves the animals to the given category, and no others", async () => {
    for (const id of [1, 2, 1, 8, 1]) await addPet(id);
    expect((await remove(1, "?moveTo=2")).status).toBe(204);
    expect(await animalsByCategory()).toEqual({ 2: 4, 8: 1 });
    expect((await service.call("GET", "/pets/1", { key })).json).toEqual({ id: 1, name: "Rex", categoryId: 2 });
  });

  test("moves many animals in parts, each with an event for a range of ids", async () => {
    const animals = Array.from({ length: 500 }, (_, index) => ({ name: "Rex", categoryId: index % 5 ? 1 : 8 }));
    for (let part = 0; part < 6; part++) await service.call("POST", "/pets/import", { key, body: { animals } });
    expect((await remove(1, "?moveTo=2")).status).toBe(204);
    expect((await service.call("GET", "/pets?categoryId=1", { key })).json).toEqual([]);
    const { json } = await service.call("GET", "/events?type=pets.reassigned,category.deleted", { key });
    expect(json.map(({ type, data = type }: { readonly type: string; readonly data?: unknown }) => data)).toEqual([
      { from: 1, to: 2, animals: 1_000, firstPetId: 2, lastPetId: 1_250 },
      { from: 1, to: 2, animals: 1_000, firstPetId: 1_252, lastPetId: 2_500 },
      { from: 1, to: 2, animals: 400, firstPetId: 2_502, lastPetId: 3_000 },
      "category.deleted",
    ]);
  });

  test("accepts moveTo without animals", async () => {
    expect((await remove(1, "?moveTo=2")).status).toBe(204);
  });

  test.each([
    ["1", "moveTo names the category that is being deleted. Choose another one."],
    ["8", "There is no category with the id 8 to move the animals to."],
    ["9223372036854775807", "There is no category with the id 9223372036854775807 to move the animals to."],
  ])("refuses to move animals to %s, and changes nothing", async (moveTo, message) => {
    await addPet(1);
    const { status, json } = await remove(1, `?moveTo=${moveTo}`);
    expect([status, json.code, json.message]).toEqual([409, "move_target_not_found", message]);
    expect([(await get(1)).status, await animalsByCategory()]).toEqual([200, { 1: 1 }]);
  });

  test.each(["?moveTo=", "?moveTo=x", "?moveTo=02", "?moveTo=9223372036854775808", "?moveTo=1&moveTo=2", "?moveto=2"])(
    "refuses %s",
    async (query) => expect(outcomeOf(await remove(1, query))).toEqual([400, "invalid_request"]),
  );

  test("is visible at once on cached pages of animals", async () => {
    for (let index = 0; index < 30; index++) await addPet(1);
    for (const from of [1, 2, 3]) {
      const to = from + 1;
      await create({ id: to, name: `To ${to}` });
      for (let round = 0; round < 3; round++) expect(await categoriesOfPage()).toEqual(new Set([from])); // remembered from now on
      expect((await remove(from, `?moveTo=${to}`)).status).toBe(204);
      expect(await categoriesOfPage()).toEqual(new Set([to]));
    }
  });

  test("leaves no concurrently added animal in a category that it has emptied", async () => {
    for (let round = 0; round < 10; round++) {
      const id = 100 + round;
      await create({ id, name: `Round ${round}` });
      const adding = [1, 2, 3, 4, 5].map(() => addPet(id));
      const deletion = remove(id, "?moveTo=2");
      const more = [1, 2, 3, 4, 5].map(() => addPet(id));
      const [{ status }, ...pets] = await Promise.all([deletion, ...adding, ...more]);
      expect([status, ...pets.map((pet) => pet.status)]).toEqual([204, ...pets.map(() => 201)]);
    }
    // What was added before a deletion has moved; what came after it names a category without a record.
    const all = Object.entries(await animalsByCategory());
    expect(all.reduce((sum, [, count]) => sum + count, 0)).toBe(100);
  });

  test("without moveTo, is refused unless all concurrent animals are added later", async () => {
    for (let round = 0; round < 10; round++) {
      const id = 100 + round;
      await create({ id, name: `Round ${round}` });
      const [deletion, pet] = await Promise.all([remove(id), addPet(id)]);
      expect(pet.status).toBe(201);
      if (deletion.status === 409) expect((await get(id)).status).toBe(200);
      else expect([deletion.status, (await get(id)).status]).toEqual([204, 404]);
    }
  });

  test("does one of two requests that move their animals to each other", async () => {
    for (const id of [1, 2, 2]) await addPet(id);
    const answers = await Promise.all([remove(1, "?moveTo=2"), remove(2, "?moveTo=1")]);
    expect(answers.map(outcomeOf).map(String).toSorted()).toEqual(["204,", "409,move_target_not_found"]);
    const [rest] = (await list()).json;
    expect(await animalsByCategory()).toEqual({ [rest.id]: 3 });
  });

  test("deletes once for many concurrent requests", async () => {
    await addPet(1);
    const answers = await Promise.all(Array.from({ length: 8 }, () => remove(1, "?moveTo=2")));
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual([
      "204",
      ...Array.from({ length: 7 }, () => "404"),
    ]);
    expect(await animalsByCategory()).toEqual({ 2: 1 });
  });
});

test("a restart keeps categories, and does not assign their ids again", async () => {
  for (const name of ["Birds", "Fish", "Dogs"]) await create({ name });
  await create({ id: 4, name: "Brought" });
  await rename(2, { name: "Cats" });
  for (const id of [3, 4]) await remove(id);
  service = await service.restart();
  expect((await list()).json).toEqual([
    { id: 1, name: "Birds" },
    { id: 2, name: "Cats" },
  ]);
  expect((await create({ name: "Later" })).json.id).toBe(5);
});

test("a change by another process is in the next response", async () => {
  await create({ name: "Birds" });
  for (const name of ["One", "Two"]) {
    await service.store.run(`UPDATE categories SET name = '${name}' WHERE id = 1`);
    expect([(await get(1)).json.name, (await list()).json[0].name]).toEqual([name, name]);
  }
});

describe("animals may have a category id without a category", () => {
  test("by default", async () => {
    expect((await addPet(77)).status).toBe(201);
  });

  describe("unless categories are strict", () => {
    beforeAll(async () => {
      await service.stop();
      await start({ PETSTORE_STRICT_CATEGORIES: "true" });
    });

    test("then an unknown one is refused with its path, and nothing is added", async () => {
      const { status, json } = await addPet("9223372036854775807");
      expect([status, json]).toEqual([
        400,
        {
          code: "invalid_request",
          message: "The request is invalid: /body/categoryId is not the id of a category.",
          status: 400,
          details: [{ path: "/body/categoryId", message: "is not the id of a category" }],
        },
      ]);
      expect(await animalsByCategory()).toEqual({});
      await create('{"id":9223372036854775807,"name":"Known"}');
      expect((await addPet("9223372036854775807")).status).toBe(201);
    });

    test("then no animal is left without a category, despite concurrent changes", async () => {
      await create({ id: 50, name: "The rest" });
      for (let round = 0; round < 10; round++) {
        const id = 100 + round;
        await create({ id, name: `Round ${round}` });
        const adding = [1, 2, 3].map(() => addPet(id));
        const deletion = remove(id, round % 2 === 0 ? "?moveTo=50" : "");
        const more = [1, 2, 3].map(() => addPet(id));
        await Promise.all([...adding, deletion, ...more]);
      }
      const known = new Set((await list("?limit=100")).json.map(({ id }: { id: number }) => String(id)));
      expect(Object.keys(await animalsByCategory()).filter((id) => !known.has(id))).toEqual([]);
    });
  });
});
