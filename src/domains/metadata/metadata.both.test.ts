// Metadata of animals, categories and orders: the same rules for all three.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../../test/harness/program.ts";
import { TestService } from "../../../test/harness/service.ts";

let service: TestService;
let key: string;

/** The shop of the key, a new one for each test. */
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

const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  service.call(method, path, { key, headers, ...(body === undefined ? {} : { body }) });
const addPet = (more: object = {}) =>
  send("POST", "/pets", { name: "Rex", categoryId: 1, status: "available", ...more });
const lastEvent = async () => (await send("GET", "/events?sort=-id&limit=1")).json[0];
/** The rows of the store that hold pairs. */
const rows = () => service.store.rows(`SELECT kind, id, pairs FROM metadata WHERE shop = ${shop} ORDER BY kind`);

/** This number of pairs, each of `bytes` bytes. */
const pairs = (count: number, bytes: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}`.padStart(4, "k"), "v".repeat(bytes - 4)]));

interface Kind {
  readonly name: string;
  readonly list: string;
  readonly one: string;
  /** Adds one, with these pairs if they are given. */
  readonly add: (metadata?: unknown) => ReturnType<typeof send>;
}

const withPairs = (body: object, metadata: unknown) => (metadata === undefined ? body : { ...body, metadata });
const kinds: readonly Kind[] = [
  {
    name: "pet",
    list: "/pets",
    one: "/pets/1",
    add: (metadata) => send("POST", "/pets", withPairs({ name: "Rex", categoryId: 1 }, metadata)),
  },
  {
    name: "category",
    list: "/categories",
    one: "/categories/1",
    add: (metadata) => send("POST", "/categories", withPairs({ name: "Dogs" }, metadata)),
  },
  {
    name: "order",
    list: "/store/orders",
    one: "/store/orders/1",
    add: async (metadata) => {
      await addPet();
      return send("POST", "/store/orders", withPairs({ petId: 1 }, metadata));
    },
  },
];

describe.each(kinds)("the metadata of a $name", ({ name, list, one, add }) => {
  test("is returned as it was sent, in every representation of the resource", async () => {
    const metadata = { supplier: "Tiny Paws", shelf: "", constructor: "x", toString: "y", "naïve 🐕/~": "ü" };
    const added = await add(metadata);
    expect([added.status, added.json.metadata]).toEqual([201, metadata]);
    const read = await send("GET", one);
    expect([read.text, (await send("GET", list)).text]).toEqual([added.text, `[${added.text}]`]);
    expect(read.headers.get("etag")).toBe(added.headers.get("etag"));
    const logged = (await send("GET", "/events")).json.find(
      ({ subject }: { subject: { type: string } }) => subject.type === name,
    );
    expect(logged.data).toEqual(added.json);
  });

  test("is absent by default, and then needs no row", async () => {
    for (const metadata of [undefined, {}]) expect((await add(metadata)).text).not.toContain("metadata");
    expect([(await send("GET", one)).text, await rows()]).toEqual([expect.not.stringContaining("metadata"), []]);
  });

  test("is changed pair by pair", async () => {
    await add({ a: "1", b: "2" });
    const patch = async (metadata: unknown) => (await send("PATCH", one, { metadata })).json.metadata;
    expect(await patch({ b: null, c: "3", unknown: null })).toEqual({ a: "1", c: "3" });
    expect((await lastEvent()).previous).toEqual({ metadata: { b: "2", c: null } });
    expect(await patch({ hasOwnProperty: "4", constructor: "5", a: null })).toEqual({
      c: "3",
      hasOwnProperty: "4",
      constructor: "5",
    });
    // Every object has these two as functions, which are no pairs.
    expect((await lastEvent()).previous).toEqual({ metadata: { a: "1", hasOwnProperty: null, constructor: null } });
    expect(await patch({ c: null, hasOwnProperty: null, constructor: null })).toBeUndefined();
    expect([(await lastEvent()).previous, await rows()]).toEqual([
      { metadata: { c: "3", hasOwnProperty: "4", constructor: "5" } },
      [],
    ]);
    expect(await patch({ d: "6" })).toEqual({ d: "6" });
    expect((await lastEvent()).previous).toEqual({ metadata: null });
    expect(await patch(null)).toBeUndefined();
    expect((await send("GET", one)).text).not.toContain("metadata");
  });

  test("is removed once by a repeated request with an Idempotency-Key", async () => {
    await add({ a: "1" });
    const remove = () => send("PATCH", one, { metadata: null }, { "Idempotency-Key": "remove" });
    const removed = await remove();
    expect([removed.status, removed.json.metadata]).toEqual([200, undefined]);
    await send("PATCH", one, { metadata: { b: "2" } });
    expect((await remove()).text).toBe(removed.text);
    expect((await send("GET", one)).json.metadata).toEqual({ b: "2" });
    const other = await send("PATCH", one, { metadata: { b: null } }, { "Idempotency-Key": "remove" });
    expect([other.status, other.json.code]).toEqual([422, "idempotency_key_reused"]);
  });

  test("does not change if the pairs are the same, or if If-Match is not the current entity tag", async () => {
    const { headers } = await add({ a: "1", b: "2" });
    const { id } = await lastEvent();
    const before = (await send("GET", one)).text;
    expect((await send("PATCH", one, { metadata: { b: "2", none: null } })).text).toBe(before);
    const tag = headers.get("etag") as string;
    expect((await send("PATCH", one, { metadata: { a: "9" } }, { "If-Match": '"other"' })).status).toBe(412);
    expect([(await lastEvent()).id, (await send("GET", one)).text]).toEqual([id, before]);
    expect((await send("PATCH", one, { metadata: { a: "9" } }, { "If-Match": tag })).status).toBe(200);
    expect((await send("PATCH", one, { metadata: { a: "8" } }, { "If-Match": tag })).status).toBe(412);
  });

  test.each([
    ["no object", "text", "/metadata", 'must be an object; got "text"'],
    ["a list", ["a"], "/metadata", "must be an object; got an array"],
    ["a number", { a: 1 }, "/metadata/a", "must be a string; got 1, write it in double quotes"],
    ["an object in it", { a: { b: "c" } }, "/metadata/a", "must be a string; got an object"],
    ["an empty key", { "": "a" }, "/metadata/", "is a key that must have at least 1 character; it has 0"],
    [
      "a long key",
      { ["k".repeat(41)]: "a" },
      `/metadata/${"k".repeat(41)}`,
      "is a key that must have at most 40 characters; it has 41",
    ],
    [
      "a huge key",
      { ["k".repeat(9_000)]: "a" },
      `/metadata/${"k".repeat(64)}`,
      "is a key that must have at most 40 characters; it has 9000",
    ],
    [
      "NUL in a key",
      { "a\0": "b" },
      "/metadata/a\0",
      "is a key that must hold no control character; character 2 is U+0000",
    ],
    ["half a character", { a: "\ud800" }, "/metadata/a", "must hold no unpaired surrogate; character 1 is U+D800"],
    [
      "half a character in a key",
      { "\ud800": "a" },
      "/metadata/\ufffd",
      "is a key that must hold no unpaired surrogate; character 1 is U+D800",
    ],
    ["a long value", { a: "🐕".repeat(501) }, "/metadata/a", "must have at most 500 characters; it has 501"],
  ])("refuses %s", async (_, metadata, path, message) => {
    const body =
      name === "pet" ? { name: "Rex", categoryId: 1 } : name === "category" ? { name: "Dogs" } : { petId: 1 };
    const { status, json } = await send("POST", list, { ...body, metadata });
    expect([status, json.details]).toEqual([400, [{ path: `/body${path}`, message }]]);
  });

  test("refuses half a character and more than 100 pairs in a patch, too", async () => {
    await add({ a: "1" });
    const { status, json } = await send("PATCH", one, { metadata: { a: "\ud800" } });
    expect([status, json.details]).toEqual([
      400,
      [{ path: "/body/metadata/a", message: "must hold no unpaired surrogate; character 1 is U+D800" }],
    ]);
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`k${index}`, null]));
    const { json: refused } = await send("PATCH", one, { metadata: many });
    expect(refused.details).toEqual([{ path: "/body/metadata", message: "must have at most 100 pairs; it has 101" }]);
  });

  test("refuses the key __proto__, which many programs cannot represent", async () => {
    await add({ a: "1" });
    const metadata = JSON.parse('{"__proto__":"x"}');
    const body = JSON.stringify({ metadata });
    expect(body).toContain("__proto__");
    for (const text of [body, body.replace('"x"', "null")]) {
      const { status, json } = await send("PATCH", one, text);
      expect([status, json.details[0].path]).toEqual([400, "/body/metadata"]);
      expect(json.details[0].message).toStartWith("must not have the key __proto__");
    }
    const { status, text } = await send(
      "POST",
      list,
      JSON.stringify({ name: "Ida", categoryId: 1, petId: 1, metadata }),
    );
    expect([status, text]).toEqual([400, expect.stringContaining("must not have the key __proto__")]);
    expect((await send("GET", one)).json.metadata).toEqual({ a: "1" });
  });

  test("can have 50 pairs with 4,096 bytes", async () => {
    await add({ ...pairs(49, 80), k: "ü".repeat(87) + "v" }); // 49 × 80 + 1 + 174 + 1
    const shown = (await send("GET", one)).json.metadata;
    expect([Object.keys(shown).length, new TextEncoder().encode(Object.entries(shown).flat().join("")).length]).toEqual(
      [50, 4_096],
    );
    const more = await send("PATCH", one, { metadata: { k: `${"ü".repeat(87)}vv` } });
    expect([more.status, more.json.details]).toEqual([
      400,
      [{ path: "/body/metadata", message: "would then hold 4097 bytes; at most 4096 are allowed" }],
    ]);
    const another = await send("PATCH", one, { metadata: { another: "" } });
    expect(another.json.details).toEqual([
      { path: "/body/metadata", message: "would then have 51 pairs; at most 50 are allowed" },
    ]);
    expect((await send("GET", one)).json.metadata).toEqual(shown);
    expect((await send("PATCH", one, { metadata: { another: "", k: null } })).status).toBe(200);
    for (const [metadata, message] of [
      [pairs(51, 5), "must have at most 50 pairs; it has 51"],
      [pairs(9, 456), "must not hold more than 4,096 bytes in keys and values together"],
    ]) {
      const { status, json } = await send("POST", list, { name: "Ida", categoryId: 1, petId: 1, metadata });
      expect([status, json.details.map((fault: { message: string }) => fault.message)]).toEqual([
        400,
        expect.arrayContaining([message]),
      ]);
    }
  });
});

test("every list of animals and orders returns existing metadata", async () => {
  await addPet({ metadata: { a: "1" } });
  await addPet({ name: "Ünal" });
  for (const query of [
    "",
    "?status=available",
    "?categoryId=1",
    "?ids=1,2",
    "?sort=-id",
    "?name=e",
    "?name=e&categoryId=1",
  ]) {
    const { json } = await send("GET", `/pets${query}`);
    const shown = json.map(({ id, metadata }: { id: number; metadata?: unknown }) => [id, metadata]);
    const expected = [[1, { a: "1" }], ...(query.includes("name") ? [] : [[2, undefined]])];
    expect([query, shown]).toEqual([query, query === "?sort=-id" ? expected.toReversed() : expected]);
  }
  await send("POST", "/store/orders", { petId: 1, reference: "r", metadata: { till: "3" } });
  await send("POST", "/store/orders", { petId: 2 });
  for (const query of ["", "?status=placed", "?petId=1", "?reference=r&status=placed", "?sort=-id"]) {
    const { json } = await send("GET", `/store/orders${query}`);
    const shown = json.find(({ id }: { id: number }) => id === 1);
    expect([query, shown.metadata]).toEqual([query, { till: "3" }]);
    for (const { id, ...order } of json) if (id === 2) expect(order).not.toHaveProperty("metadata");
  }
});

test("metadata stays with an animal and its order through all their changes, and is deleted with them", async () => {
  await addPet({ metadata: { a: "1" } });
  await send("POST", "/store/orders", { petId: 1, metadata: { till: "3" } });
  for (const verb of ["confirm", "return"]) {
    const { json } = await send("POST", `/store/orders/1/${verb}`);
    expect([json.metadata, (await send("GET", "/pets/1")).json.metadata]).toEqual([{ till: "3" }, { a: "1" }]);
    expect((await lastEvent()).data.metadata).toEqual({ a: "1" });
  }
  await send("POST", "/store/orders", { petId: 1, metadata: { till: "4" } });
  service.clock.advance(16 * 60_000);
  await eventually(async () => (await send("GET", "/store/orders/2")).json.status === "expired");
  expect((await send("GET", "/store/orders/2")).json.metadata).toEqual({ till: "4" });
  const renamed = await send("PATCH", "/pets/1", { name: "Ida", categoryId: 2 });
  expect([renamed.json.name, renamed.json.metadata]).toEqual(["Ida", { a: "1" }]);
  expect((await send("DELETE", "/pets/1")).status).toBe(204);
  expect((await lastEvent()).previous.metadata).toEqual({ a: "1" });
  await send("POST", "/categories", { name: "Dogs", metadata: { b: "2" } });
  expect((await send("DELETE", "/categories/3")).status + (await send("DELETE", "/categories/1")).status).toBe(
    404 + 204,
  );
  expect(((await rows()) as { kind: string }[]).map(({ kind }) => kind)).toEqual(["order", "order"]);
});

test("a cached page returns the current metadata", async () => {
  for (let count = 0; count < 3; count++) await addPet({ metadata: { count: `${count}` } });
  const first = async () => (await send("GET", "/pets?limit=2")).json[0].metadata;
  for (let times = 0; times < 3; times++) expect(await first()).toEqual({ count: "0" });
  await send("PATCH", "/pets/1", { metadata: { count: "9" } });
  expect(await first()).toEqual({ count: "9" });
});
