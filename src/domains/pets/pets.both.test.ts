import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { nextOf } from "../../../test/harness/next-page.ts";
import { type TestResponse, TestService } from "../../../test/harness/service.ts";
import { NewPet } from "./pets.schemas.ts";

/** The fields of an animal, as messages list them. */
const fieldNames = Object.keys(NewPet.properties).join(", ");

let service: TestService;
let key: string;

beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey();
});
afterAll(() => service.stop());

const create = (body: unknown) => service.call("POST", "/pets", { key, body });
const list = (query = "") => service.call("GET", `/pets${query}`, { key });
const faultsOf = ({ json }: TestResponse): Record<string, string> =>
  Object.fromEntries(json.details.map(({ path, message }: { path: string; message: string }) => [path, message]));

/** The ids on this page and all later ones. */
async function walk(path: string): Promise<number[]> {
  const ids: number[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const page = await service.call("GET", next, { key });
    expect(page.status).toBe(200);
    ids.push(...page.json.map(({ id }: { id: number }) => id));
    next = nextOf(page);
  }
  return ids;
}

describe("createPet", () => {
  test("adds an animal and gives it an id", async () => {
    const { status, json, headers } = await create({ name: "Rex", categoryId: 1, status: "available" });
    expect(status).toBe(201);
    expect(json).toEqual({ id: expect.any(Number), name: "Rex", categoryId: 1, status: "available" });
    expect(headers.get("location")).toBe(`${service.app.base}/pets/${json.id}`);
    expect((await service.call("GET", `/pets/${json.id}`, { key })).json).toEqual(json);
  });

  test("adds no status by default", async () => {
    const { json, text } = await create({ name: "Tom", categoryId: 2 });
    expect(json).not.toHaveProperty("status");
    expect((await service.call("GET", `/pets/${json.id}`, { key })).text).toBe(text);
  });

  test.each(["9223372036854775807", "9007199254740993", "-9223372036854775808", "0", "-1"])(
    "keeps the category %s digit for digit",
    async (categoryId) => {
      const { status, text, json } = await create(`{"name":"Big","categoryId":${categoryId}}`);
      expect(status).toBe(201);
      expect(text).toContain(`"categoryId":${categoryId}}`);
      expect((await service.call("GET", `/pets/${json.id}`, { key })).text).toBe(text);
      expect((await list("?limit=100")).text).toContain(text);
    },
  );

  test.each([
    ["1.0", "1"],
    ["1e2", "100"],
    ["-0", "0"],
    ["922337203685477580.70e1", "9223372036854775807"],
    ["12345678901234567e1", "123456789012345670"],
    ["9007199254740993.000", "9007199254740993"],
    ["10e-00001", "1"],
    ["1e+00000000001", "10"],
    ["0e99999", "0"],
  ])("accepts the integer %s, which JSON can write in more than one form", async (written, meant) => {
    const { status, text } = await create(`{"name":"Same","categoryId":${written}}`);
    expect(status).toBe(201);
    expect(text).toContain(`"categoryId":${meant}}`);
  });

  test.each([
    "9223372036854775808",
    "-9223372036854775809",
    "1e19",
    "1.5",
    "1e400",
    "1e-1",
    "9007199254740993.5",
    "0.99999999999999999999",
    "1.00000000000000000001",
    "99999999.9999999999",
    "123456789.99999999999",
    "999999999999999.9999",
    "1e-400",
    "1e9999",
    '"1"',
    "null",
    "true",
  ])("refuses the category id %s", async (categoryId) => {
    const answer = await create(`{"name":"Rex","categoryId":${categoryId}}`);
    expect(answer.status).toBe(400);
    expect(faultsOf(answer)).toEqual({ "/body/categoryId": expect.stringMatching(/^must be a 64-bit integer/) });
  });

  test("reports all faults at once", async () => {
    const answer = await create({ nam: "Rex", status: "lost", colour: "red" });
    expect(answer.status).toBe(400);
    expect(answer.json.code).toBe("invalid_request");
    expect(answer.json.message).toEndWith(" (and 4 more, see details).");
    expect(faultsOf(answer)).toEqual({
      "/body/name": "is required",
      "/body/categoryId": "is required",
      "/body/status": 'must be one of available, pending, sold; got "lost"',
      "/body/nam": "is not a field of this operation; did you mean name?",
      "/body/colour": `is not a field of this operation; it has ${fieldNames}`,
    });
  });

  test("writes no full stop after a question", async () => {
    const answer = await create({ name: "Rex", categoryId: 1, statsu: "sold" });
    expect(answer.json.message).toEndWith("/body/statsu is not a field of this operation; did you mean status?");
  });

  test("reports faults of query and body together", async () => {
    const answer = await service.call("POST", "/pets?dry=1", { key, body: {} });
    expect(Object.keys(faultsOf(answer)).toSorted()).toEqual(["/body/categoryId", "/body/name", "/query/dry"]);
  });

  test.each([
    ["", "must have at least 1 character; it has 0"],
    ["x".repeat(256), "must have at most 255 characters; it has 256"],
    ["a\0b", "must hold no control character; character 2 is U+0000"],
    ["🐕\u2028", "must hold no line separator; character 2 is U+2028"],
    [1, "must be a string; got 1, write it in double quotes"],
    [null, "must be a string; got null"],
  ])("refuses the name %j", async (name, message) => {
    expect(faultsOf(await create({ name, categoryId: 1 }))).toEqual({ "/body/name": message });
  });

  test("refuses an unpaired surrogate in a name", async () => {
    const answer = await create('{"name":"\\ud800","categoryId":1}');
    expect(faultsOf(answer)).toEqual({ "/body/name": "must hold no unpaired surrogate; character 1 is U+D800" });
  });

  test("counts the characters of a name, not its UTF-16 units", async () => {
    expect((await create({ name: "🐕".repeat(255), categoryId: 1 })).status).toBe(201);
    expect((await create({ name: "🐕".repeat(256), categoryId: 1 })).status).toBe(400);
  });

  test.each(["__proto__", "constructor", "toString"])("refuses a field named %s", async (name) => {
    const answer = await create(`{"name":"Rex","categoryId":1,"${name}":{"status":"sold"}}`);
    expect(answer.status).toBe(400);
    expect(Object.keys(faultsOf(answer))).toEqual([`/body/${name}`]);
  });

  test.each([7, 8, 49, 50, 51, 100])("refuses %d unknown fields", async (many) => {
    const fields = Array.from({ length: many }, (_, index) => `"z${index}":1`).join(",");
    const answer = await create(`{"name":"Rex","categoryId":1,${fields}}`);
    expect(answer.status).toBe(400);
    expect(Object.keys(faultsOf(answer))).toEqual(
      Array.from({ length: Math.min(many, 50) }, (_, index) => `/body/z${index}`),
    );
    expect(answer.json.message).toMatch(/^The request is invalid: \/body\/z0 is not a field /);
  });

  test.each([
    ["", "is missing; send a JSON object"],
    ["{", "is not valid JSON: it ends at line 1, column 2, where a name in double quotes is expected"],
    ['{"name":"Rex","categoryId":1}x', 'is not valid JSON: line 1, column 30 has "x" where the end is expected'],
    ["[]", "must be an object; got an array"],
    ["null", "must be an object; got null"],
    ['"text"', 'must be an object; got "text"'],
    [`${"[".repeat(150)}1e5${"]".repeat(150)}`, "must be an object; got an array"],
    [`${"[".repeat(151)}1e5${"]".repeat(151)}`, "has more than 150 values"],
    ["[".repeat(20_000), "has more than 150 values"],
    [`[${"1,".repeat(30_000)}1]`, "has more than 150 values"],
  ])("refuses the body %#", async (body, message) => {
    expect(faultsOf(await create(body))).toEqual({ "/body": message });
  });

  test("refuses a body that is not UTF-8", async () => {
    const answer = await create(Uint8Array.from([0x22, 0xff, 0x22]));
    expect(faultsOf(answer)).toEqual({ "/body": "is not JSON in valid UTF-8" });
  });

  test("stores any valid animal unchanged", async () => {
    const animals = fc.record(
      {
        name: fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }).filter((name) => !name.includes("\0")),
        categoryId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        status: fc.constantFrom("available", "pending", "sold"),
      },
      { requiredKeys: ["name", "categoryId"] },
    );
    await fc.assert(
      fc.asyncProperty(animals, async ({ name, categoryId, status }) => {
        const fields = `"name":${JSON.stringify(name)},"categoryId":${categoryId}${status ? `,"status":"${status}"` : ""}}`;
        const { status: code, text, json } = await create(`{${fields}`);
        expect(code).toBe(201);
        expect(text).toBe(`{"id":${json.id},${fields}`);
        expect((await service.call("GET", `/pets/${json.id}`, { key })).text).toBe(text);
      }),
      { numRuns: 60 },
    );
  });
});

describe("listPets", () => {
  const statuses = ["available", "pending", "sold", undefined] as const;
  let ids: Record<string, number[]>;

  beforeAll(async () => {
    ids = {};
    for (let index = 0; index < 130; index++) {
      const status = statuses[index % 4];
      const { json } = await create({ name: `Animal ${index}`, categoryId: index, ...(status ? { status } : {}) });
      (ids[status ?? "none"] ??= []).push(json.id);
    }
  });

  test("returns 20 animals by default", async () => {
    expect((await list()).json).toHaveLength(20);
  });

  test.each([1, 2, 99, 100])("returns %d animals with that limit", async (limit) => {
    expect((await list(`?limit=${limit}`)).json).toHaveLength(limit);
  });

  test.each([
    ["?limit=0", "/query/limit", "must be an integer from 1 to 100; got 0"],
    ["?limit=101", "/query/limit", "must be an integer from 1 to 100; got 101"],
    ["?limit=-1", "/query/limit", "must be an integer from 1 to 100; got -1"],
    ["?limit=%2B5", "/query/limit", 'must be an integer from 1 to 100; got "+5"'],
    ["?limit=+5", "/query/limit", 'must be an integer from 1 to 100; got " 5"'],
    ["?limit=1e2", "/query/limit", 'must be an integer from 1 to 100; got "1e2"'],
    ["?limit=5.0", "/query/limit", 'must be an integer from 1 to 100; got "5.0"'],
    ["?limit=05", "/query/limit", 'must be an integer from 1 to 100; got "05"'],
    ["?limit=", "/query/limit", 'must be an integer from 1 to 100; got ""'],
    ["?limit", "/query/limit", 'must be an integer from 1 to 100; got ""'],
    ["?limit=0x10", "/query/limit", 'must be an integer from 1 to 100; got "0x10"'],
    ["?limit=5&limit=5", "/query/limit", "is given more than once"],
    ["?limit=99999999999999999999", "/query/limit", 'must be an integer from 1 to 100; got "99999999999999999999"'],
    ["?limit=%ff", "/query/limit", "is not valid percent-encoded UTF-8"],
    ["?limit=%zz", "/query/limit", "is not valid percent-encoded UTF-8"],
    ["?status=lost", "/query/status", 'must be one of available, pending, sold; got "lost"'],
    [
      "?status=Available",
      "/query/status",
      'must be one of available, pending, sold; got "Available", did you mean available?',
    ],
    ["?status=", "/query/status", 'must be one of available, pending, sold; got ""'],
    ["?status=sold&status=pending", "/query/status", "is given more than once"],
    ["?statsu=sold", "/query/statsu", "is not a query parameter of this operation; did you mean status?"],
    [
      "?colour=red",
      "/query/colour",
      "is not a query parameter of this operation; it has limit, cursor, status, categoryId, name, ids, search, sort",
    ],
    ["?cursor=x", "/query/cursor", expect.stringContaining("is not a cursor of this list; send it with")],
  ])("refuses %s", async (query, path, message) => {
    const answer = await list(query);
    expect(answer.status).toBe(400);
    expect(faultsOf(answer)).toEqual({ [path]: message });
  });

  test("does not count the faults beyond those that it lists", async () => {
    const { status, json } = await list(`?${"limit=1&".repeat(61)}`);
    expect([status, json.details.length]).toEqual([400, 50]);
    expect(json.message).toEndWith("is given more than once (and at least 49 more, see details).");
  });

  test.each(["available", "pending", "sold"])("returns only animals with the status %s", async (status) => {
    const shown = await walk(`/pets?status=${status}&limit=7`);
    expect(shown).toEqual(expect.arrayContaining(ids[status] as number[]));
    expect(shown).not.toEqual(expect.arrayContaining([ids["none"]?.[0]]));
    const { json } = await list(`?status=${status}&limit=100`);
    expect(new Set(json.map((pet: { status: string }) => pet.status))).toEqual(new Set([status]));
  });

  test("returns all animals once by ascending id, for any page size", async () => {
    const all = await walk("/pets?limit=100");
    expect(all).toEqual([...new Set(all)].toSorted((one, two) => one - two));
    expect(all).toEqual(expect.arrayContaining(Object.values(ids).flat()));
    for (const limit of [1, 3, 20]) expect(await walk(`/pets?limit=${limit}`)).toEqual(all);
  });

  test("has no next page if this one has the last animal, even if it is full", async () => {
    const all = await walk("/pets?status=sold&limit=100");
    const full = await list(`?status=sold&limit=${all.length}`);
    expect(full.json).toHaveLength(all.length);
    expect(full.headers.has("link")).toBe(false);
    expect(nextOf(await list(`?status=sold&limit=${all.length - 1}`))).toBeString();
  });

  test("returns at the end animals that are added while a client reads the pages", async () => {
    const first = await list("?status=pending&limit=5");
    const added = (await create({ name: "Late", categoryId: 1, status: "pending" })).json.id;
    const rest = await walk(nextOf(first) as string);
    expect(rest.at(-1)).toBe(added);
    expect(rest).not.toEqual(expect.arrayContaining(first.json.map(({ id }: { id: number }) => id)));
  });

  test("refuses a cursor of another filter, and a forged one", async () => {
    const next = nextOf(await list("?status=sold&limit=5")) as string;
    const cursor = new URLSearchParams(next.split("?")[1]).get("cursor") as string;
    const forged = Buffer.from(`${Buffer.from(cursor, "base64url")}x`).toString("base64url");
    for (const query of [`cursor=${cursor}`, `status=pending&cursor=${cursor}`, `status=sold&cursor=${forged}`]) {
      expect(faultsOf(await list(`?${query}`))).toEqual({
        "/query/cursor": expect.stringContaining("is not a cursor of this list; send it with"),
      });
    }
    expect((await list(`?status=sold&limit=50&cursor=${cursor}`)).status).toBe(200); // another page size is fine
  });

  test("returns an empty array if nothing matches", async () => {
    const empty = await TestService.start();
    const { status, json, headers } = await empty.call("GET", "/pets", { key: await empty.newKey() });
    expect([status, json, headers.has("link")]).toEqual([200, [], false]);
    await empty.stop();
  });
});

describe("getPet", () => {
  test.each([
    "abc",
    "01",
    "-0",
    "+1",
    "1.0",
    "1e2",
    "%20",
    "9223372036854775808",
    "999999999",
    "-5",
    "a%2Fb",
    "%00",
    "1%20",
  ])("returns 404 for the animal %s", async (petId) => {
    const { status, json } = await service.call("GET", `/pets/${petId}`, { key });
    expect([status, json.code]).toEqual([404, "pet_not_found"]);
  });

  test.each(["9223372036854775807", "9007199254740993"])("returns the animal with the exact id %s", async (id) => {
    // No operation assigns this id, so the test writes the animal to the store while the service runs.
    await service.store.run(
      `INSERT INTO pets (shop, id, name, category_id, added_at) VALUES (${await service.shop()}, ${id}, 'Far', 1, 0)`,
    );
    const { status, text } = await service.call("GET", `/pets/${id}`, { key });
    expect(status).toBe(200);
    expect(text).toBe(`{"id":${id},"name":"Far","categoryId":1}`);
    await service.store.run(`DELETE FROM pets WHERE id = ${id}`);
  });
});

describe("a cached page", () => {
  test("shows a change by another process in the next response", async () => {
    const fresh = await TestService.start();
    const bearer = await fresh.newKey();
    for (let count = 0; count < 30; count++) {
      await fresh.call("POST", "/pets", { key: bearer, body: { name: "Before", categoryId: 1 } });
    }
    const names = async () => [
      (await fresh.call("GET", "/pets/1", { key: bearer })).json.name,
      (await fresh.call("GET", "/pets", { key: bearer })).json[0].name,
    ];
    for (const name of ["First", "Second", "Third"]) {
      await names(); // from now on both responses are cached
      await fresh.store.run(`UPDATE pets SET name = '${name}' WHERE id = 1`);
      expect(await names()).toEqual([name, name]);
    }
    await fresh.stop();
  });

  test("shows a new animal on the last page as soon as it is acknowledged", async () => {
    const fresh = await TestService.start();
    const bearer = await fresh.newKey();
    for (let count = 1; count <= 45; count++) {
      const { id } = (
        await fresh.call("POST", "/pets", { key: bearer, body: { name: "Rex", categoryId: 1, status: "sold" } })
      ).json;
      let page = await fresh.call("GET", "/pets?status=sold", { key: bearer });
      const seen = [...page.json];
      for (let next = nextOf(page); next; next = nextOf(page)) {
        page = await fresh.call("GET", next, { key: bearer });
        seen.push(...page.json);
      }
      expect(seen).toHaveLength(count);
      expect(seen.at(-1).id).toBe(id);
    }
    await fresh.stop();
  });
});
