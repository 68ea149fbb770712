// The suite of all platforms, here in Bun, against the real service.
import { afterAll, beforeAll, describe, test } from "bun:test";
import { TestService } from "../../test/harness/service.ts";
import * as client from "../src/index.ts";
import { suite } from "./suite.ts";

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey();
});
afterAll(() => service.stop());

describe("the client", () => {
  test.each(Object.entries(suite))("%s", async (_, run) => {
    await run({ client, key, baseUrl: service.app.base });
  });
});
