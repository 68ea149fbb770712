// Changing and deleting animals.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { petsDomain } from "../../../test/harness/pets-domain.ts";
import { type TestResponse, TestService } from "../../../test/harness/service.ts";
import type { Query } from "../../storage/transaction.ts";
import type { LockedShop } from "../shops/locked-shop.ts";
import type { DecidingOrder } from "./pet-change.ts";
import { NewPet, type PetStatus } from "./pets.schemas.ts";

/** The fields of an animal, as messages list them. */
const fieldNames = Object.keys(NewPet.properties).join(", ");

const statuses: readonly PetStatus[] = ["available", "pending", "sold"];

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey();
});
afterAll(() => service.stop());

const create = async (body: object = { name: "Rex", categoryId: 1, status: "available" }) =>
  service.call("POST", "/pets", { key, body });
const get = (id: number) => service.call("GET", `/pets/${id}`, { key });
const list = (query: string, headers = {}) => service.call("GET", `/pets?${query}`, { key, headers });
const patch = (id: number | string, body: unknown, headers: Record<string, string> = {}) =>
  service.call("PATCH", `/pets/${id}`, { key, body, headers });
const remove = (id: number | string, headers: Record<string, string> = {}) =>
  service.call("DELETE", `/pets/${id}`, { key, headers });
const events = async (id: number) => (await service.call("GET", `/events?petId=${id}`, { key })).json;
const tagOf = ({ headers }: TestResponse) => headers.get("etag") ?? "";
const faultsOf = ({ json }: TestResponse): Record<string, string> =>
  Object.fromEntries(json.details.map(({ path, message }: { path: string; message: string }) => [path, message]));

describe("updatePet", () => {
  test.each(["application/merge-patch+json", "application/json", "Application/Merge-Patch+JSON; charset=utf-8"])(
    "changes the fields that are sent as %s, and no others",
    async (type) => {
      const { json: pet } = await create();
      for (const change of [{ name: "Max" }, { categoryId: 7 }, { status: "pending" }, { name: "Bo", categoryId: 8 }]) {
        const { status, json } = await patch(pet.id, change, { "Content-Type": type });
        expect([status, json]).toEqual([200, Object.assign(pet, change)]);
        expect((await get(pet.id)).json).toEqual(pet);
      }
    },
  );

  test("sets the status of an animal that has none, and of no other", async () => {
    const { json: pet } = await create({ name: "Tom", categoryId: 1 });
    expect((await patch(pet.id, { name: "Tim" })).json).not.toHaveProperty("status");
    expect((await patch(pet.id, { status: "pending" })).json.status).toBe("pending");
  });

  test("keeps every digit of a category id", async () => {
    const { json: pet } = await create();
    const { text } = await patch(pet.id, '{"categoryId":9223372036854775807}');
    expect(text).toContain('"categoryId":9223372036854775807');
    expect((await get(pet.id)).text).toBe(text);
  });

  test("changes nothing for an empty patch or equal values", async () => {
    const created = await create();
    const { id: _, ...same } = created.json;
    for (const change of [{}, same]) {
      const { status, text } = await patch(created.json.id, change);
      expect([status, text]).toEqual([200, created.text]);
    }
    expect(await events(created.json.id)).toHaveLength(1);
  });

  test("refuses null for a field, and values that no animal can have", async () => {
    const { json: pet } = await create();
    expect(faultsOf(await patch(pet.id, { name: null, categoryId: null, status: null, id: 1 }))).toEqual({
      "/body/name": "must be a string; got null",
      "/body/categoryId": "must be a 64-bit integer; got null",
      "/body/status": "must be one of available, pending, sold; got null",
      "/body/id": `is not a field of this operation, only of its response; it has ${fieldNames}`,
    });
    for (const body of ["[]", "null", '"sold"']) {
      expect(faultsOf(await patch(pet.id, body))).toEqual({
        "/body": expect.stringMatching(/^must be an object; got /),
      });
    }
    expect((await get(pet.id)).json).toEqual(pet);
  });

  test("names the supported media types", async () => {
    const { json: pet } = await create();
    const { status, json } = await patch(pet.id, "{}", { "Content-Type": "application/json-patch+json" });
    expect([status, json.message]).toEqual([
      415,
      'The content type is "application/json-patch+json". Send the body as application/merge-patch+json or application/json.',
    ]);
    // oxlint-disable-next-line typescript/no-explicit-any -- the test checks its content
    const document = (await (await fetch(new URL("/openapi.json", service.app.base))).json()) as any;
    expect(Object.keys(document.paths["/pets/{petId}"].patch.requestBody.content)).toEqual([
      "application/merge-patch+json",
      "application/json",
    ]);
  });

  test.each(["999999", "abc", "01"])("returns 404 for the animal %s", async (id) => {
    expect((await patch(id, {})).json.code).toBe("pet_not_found");
    expect((await remove(id)).json.code).toBe("pet_not_found");
  });

  test("updates cached pages", async () => {
    const fresh = await TestService.start();
    const bearer = await fresh.newKey();
    for (let count = 0; count < 5; count++) {
      await fresh.call("POST", "/pets", { key: bearer, body: { name: "Rex", categoryId: 1, status: "available" } });
    }
    const shown = async (query: string) =>
      (await fresh.call("GET", `/pets?limit=2&${query}`, { key: bearer })).json.map(({ id }: { id: number }) => id);
    for (let count = 0; count < 3; count++) await shown("status=available");
    await fresh.call("PATCH", "/pets/1", { key: bearer, body: { status: "pending" } });
    expect(await shown("status=available")).toEqual([2, 3]);
    for (let count = 0; count < 3; count++) await shown("");
    await fresh.call("DELETE", "/pets/2", { key: bearer });
    expect([await shown("status=available"), await shown("")]).toEqual([
      [3, 4],
      [1, 3],
    ]);
    await fresh.stop();
  });
});

describe("transitions", () => {
  test.each([undefined, ...statuses].flatMap((from) => statuses.map((to) => [from, to] as const)))(
    "a client changes %s to %s manually",
    async (from, to) => {
      const { json: pet } = await create({ name: "Rex", categoryId: 1, ...(from && { status: from }) });
      const { status, json } = await patch(pet.id, { status: to, name: "Max" });
      expect([status, json.status, json.name]).toEqual([200, to, "Max"]);
    },
  );

  test("a manual change of status can be reverted", async () => {
    const { json: pet } = await create({ name: "Rex", categoryId: 1, status: "available" });
    for (const status of ["sold", "available", "pending", "sold", "pending", "available"]) {
      expect((await patch(pet.id, { status })).json).toEqual({ ...pet, status });
    }
  });
});

describe("deletePet", () => {
  test("deletes the animal permanently, and keeps its events", async () => {
    const { json: pet } = await create();
    await patch(pet.id, { status: "sold" });
    const { status, text } = await remove(pet.id);
    expect([status, text]).toEqual([204, ""]);
    for (const gone of [await get(pet.id), await patch(pet.id, {}), await remove(pet.id)]) {
      expect([gone.status, gone.json.code]).toEqual([404, "pet_not_found"]);
    }
    expect((await create()).json.id).toBeGreaterThan(pet.id);
    expect((await events(pet.id)).map(({ type }: { type: string }) => type)).toEqual([
      "pet.created",
      "pet.updated",
      "pet.deleted",
    ]);
  });

  test("does not assign the id of the last animal again, even after a restart", async () => {
    let fresh = await TestService.start();
    const bearer = await fresh.newKey();
    const body = { name: "Rex", categoryId: 1 };
    await fresh.call("POST", "/pets", { key: bearer, body });
    await fresh.call("DELETE", "/pets/1", { key: bearer });
    fresh = await fresh.restart();
    expect((await fresh.call("POST", "/pets", { key: bearer, body })).json.id).toBe(2);
    await fresh.stop();
  });

  test("allows the deletion of the category", async () => {
    const { json: category } = await service.call("POST", "/categories", { key, body: { name: "Fish" } });
    const { json: pet } = await create({ name: "Nemo", categoryId: category.id });
    await remove(pet.id);
    expect((await service.call("DELETE", `/categories/${category.id}`, { key })).status).toBe(204);
  });
});

describe("If-Match", () => {
  test("accepts the current entity tag, from whichever response", async () => {
    const created = await create();
    const { id } = created.json;
    expect(tagOf(await get(id))).toBe(tagOf(created));
    const updated = await patch(id, { name: "Max" }, { "If-Match": tagOf(created) });
    expect(updated.status).toBe(200);
    expect(tagOf(updated)).not.toBe(tagOf(created));
    expect(tagOf(await get(id))).toBe(tagOf(updated));
    for (const query of [`ids=${id}`, `ids=${id}&limit=100`, `ids=${id}&status=available&sort=-id`]) {
      const listed = await list(query);
      const tag = tagOf(listed);
      expect([query, listed.json, tag]).toEqual([query, [updated.json], tagOf(updated)]);
      expect((await list(query, { "If-None-Match": tag })).status).toBe(304);
    }
    expect(tagOf(await list(`ids=${id},${id}`))).not.toBe(tagOf(updated));
    expect(tagOf(await list(`ids=${id}&status=sold`))).not.toBe(tagOf(updated));
    expect((await remove(id, { "If-Match": tagOf(await list(`ids=${id}`)) })).status).toBe(204);
    expect((await list(`ids=${id}`, { "If-None-Match": tagOf(updated) })).status).toBe(200);
  });

  test("refuses the entity tag of an animal that has changed, and changes nothing", async () => {
    const created = await create();
    const { id } = created.json;
    const updated = await patch(id, { name: "Max" });
    for (const answer of [
      await patch(id, { name: "Bo" }, { "If-Match": tagOf(created) }),
      await remove(id, { "If-Match": tagOf(created) }),
    ]) {
      expect([answer.status, answer.json.code]).toEqual([412, "precondition_failed"]);
    }
    expect((await get(id)).text).toBe(updated.text);
  });

  test("compares strongly, and accepts lists and *", async () => {
    const { json, headers } = await create();
    const tag = headers.get("etag") as string;
    for (const [expected, status] of [
      [`W/${tag}`, 412],
      [`"other", W/${tag}`, 412],
      ['"other"', 412],
      [tag.slice(1, -1), 400],
      ["", 400],
      [`"other", ${tag}`, 200],
      [`${tag},"other"`, 200],
      ["*", 200],
    ] as const) {
      expect([expected, (await patch(json.id, {}, { "If-Match": expected })).status]).toEqual([expected, status]);
    }
  });

  test("is ignored for an animal that does not exist", async () => {
    expect((await patch(999_999, {}, { "If-Match": "*" })).status).toBe(404);
    expect((await patch("abc", {}, { "If-Match": "without quotes" })).status).toBe(404); // the path comes first
    expect((await remove(999_999, { "If-Match": '"other"' })).status).toBe(404);
  });

  test("is checked before an open order refuses a change of status", async () => {
    const { json } = await create();
    expect((await service.call("POST", "/store/orders", { key, body: { petId: json.id } })).status).toBe(201);
    const change = { status: "available" };
    expect((await patch(json.id, change)).json.code).toBe("pet_has_open_order");
    expect((await patch(json.id, change, { "If-Match": '"other"' })).json.code).toBe("precondition_failed");
  });

  test("lets one of many concurrent changes of an animal succeed", async () => {
    const created = await create({ name: "Rex", categoryId: 1 });
    const expected = { "If-Match": tagOf(created) };
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => patch(created.json.id, { name: `Rex ${index}` }, expected)),
    );
    const [winner, ...others] = answers.toSorted((one, other) => one.status - other.status);
    expect([winner?.status, new Set(others.map(({ status }) => status))]).toEqual([200, new Set([412])]);
    expect((await get(created.json.id)).text).toBe(winner?.text ?? "");
  });

  test("may be sent by a script of another site (CORS)", async () => {
    const { headers } = await service.call("OPTIONS", "/pets/1");
    expect(headers.get("access-control-allow-headers")?.split(", ")).toEqual(
      expect.arrayContaining(["If-Match", "Idempotency-Key"]),
    );
  });
});

test("PETSTORE_STRICT_CATEGORIES applies to a new category of an animal, not to its current one", async () => {
  let strict = await TestService.start();
  const bearer = await strict.newKey();
  await strict.call("POST", "/pets", { key: bearer, body: { name: "Rex", categoryId: 77 } });
  await strict.call("POST", "/categories", { key: bearer, body: { id: 5, name: "Hamsters" } });
  await strict.app.stop();
  strict = await TestService.start({
    store: strict.store,
    clock: strict.clock,
    settings: { PETSTORE_STRICT_CATEGORIES: "true" },
  });
  const change = (body: object) => strict.call("PATCH", "/pets/1", { key: bearer, body });
  expect((await change({ name: "Max", categoryId: 77 })).status).toBe(200);
  expect(faultsOf(await change({ categoryId: 78 }))).toEqual({ "/body/categoryId": "is not the id of a category" });
  expect((await change({ categoryId: 5 })).json).toEqual({ id: 1, name: "Max", categoryId: 5 });
  await strict.stop();
});

function* openForFirst(_shop: LockedShop, id: bigint): Query<DecidingOrder | undefined> {
  return id === 1n ? { id, isOpen: true } : undefined;
}

describe("an animal under an open order", () => {
  let shop: TestService;
  let bearer: string;
  beforeAll(async () => {
    shop = await TestService.start({ domains: [petsDomain({ orderOf: openForFirst })] });
    bearer = await shop.newKey();
    for (const name of ["Rex", "Max"]) {
      await shop.call("POST", "/pets", { key: bearer, body: { name, categoryId: 1, status: "pending" } });
    }
  });
  afterAll(() => shop.stop());

  const call = (method: string, id: number, body?: object) => shop.call(method, `/pets/${id}`, { key: bearer, body });

  test("cannot be deleted, nor change its status", async () => {
    for (const { status, json } of [
      await call("DELETE", 1),
      await call("PATCH", 1, { status: "available" }),
      await call("PATCH", 1, { status: "sold" }),
    ]) {
      expect([status, json.code]).toEqual([409, "pet_has_open_order"]);
    }
  });

  test("can change all else, and others can change all", async () => {
    expect((await call("PATCH", 1, { name: "Bo", status: "pending" })).json.name).toBe("Bo");
    expect((await call("PATCH", 2, { status: "available" })).status).toBe(200);
    expect((await call("DELETE", 2)).status).toBe(204);
  });
});
