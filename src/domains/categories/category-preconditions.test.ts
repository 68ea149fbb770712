import { afterEach, beforeEach, expect, test } from "bun:test";
import { type TestResponse, TestService } from "../../../test/harness/service.ts";

let service: TestService;
let key: string;

beforeEach(async () => {
  service = await TestService.start();
  key = await service.newKey();
});
afterEach(() => service.stop());

const create = (name: string) => service.call("POST", "/categories", { key, body: { name } });
const read = () => service.call("GET", "/categories/1", { key });
/** Renames category 1 (`PATCH`) or deletes it, if it is what the client expects. */
const call = (method: string, query: string, ifMatch: string, body?: unknown) =>
  service.call(method, `/categories/1${query}`, { key, headers: { "If-Match": ifMatch }, ...(body ? { body } : {}) });
const tagOf = ({ headers }: TestResponse) => headers.get("etag") as string;

test("If-Match accepts the current entity tag, from whichever response", async () => {
  const created = await create("Dogs");
  expect(tagOf(await read())).toBe(tagOf(created));
  const renamed = await call("PATCH", "", tagOf(created), { name: "Cats" });
  expect([renamed.status, tagOf(renamed)]).toEqual([200, tagOf(await read())]);
  expect((await call("DELETE", "", tagOf(renamed))).status).toBe(204);
});

test("If-Match refuses the entity tag of a category that has been renamed, and changes nothing", async () => {
  const created = await create("Dogs");
  await create("Cats");
  await call("PATCH", "", "*", { name: "Hounds" });
  await service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 } });
  for (const reply of [
    await call("PATCH", "", tagOf(created), { name: "Cats" }), // checked before the name, which is taken
    await call("DELETE", "?moveTo=2", tagOf(created)),
    await call("DELETE", "", tagOf(created)), // checked before its animals, which would prevent the deletion
  ]) {
    expect([reply.status, reply.json.code]).toEqual([412, "precondition_failed"]);
  }
  const { json: animals } = await service.call("GET", "/pets?categoryId=1", { key });
  expect([(await read()).json.name, animals.length]).toEqual(["Hounds", 1]);
});

test("If-Match is ignored for a category that does not exist", async () => {
  const { status, json } = await call("DELETE", "", "*");
  expect([status, json.code]).toEqual([404, "category_not_found"]);
});
