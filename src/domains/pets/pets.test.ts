import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TestService } from "../../../test/harness/service.ts";

let service: TestService;
let key: string;

beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey();
});
afterAll(() => service.stop());

function create(body: unknown) {
  return service.call("POST", "/pets", { key, body });
}

describe("createPet", () => {
  test("adds an animal and gives it an id", async () => {
    const { status, json, headers } = await create({ name: "Rex", categoryId: 1, status: "available" });
    expect(status).toBe(201);
    expect(json).toEqual({ id: expect.any(Number), name: "Rex", categoryId: 1, status: "available" });
    expect(headers.get("location")).toBe(`${service.app.base}/pets/${json.id}`);
    expect((await service.call("GET", `/pets/${json.id}`, { key })).json).toEqual(json);
  });
});
