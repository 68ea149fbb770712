// Requests for a sandbox, by an operation that no domain has: what every operation owes, and what they cost.
import { describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { domains } from "../../src/app/domains.ts";
import { keyBanned } from "../../src/contract/errors.ts";
import { bind } from "../../src/contract/handler.ts";
import { defineOperation } from "../../src/contract/operation.ts";
import { errorsOf } from "../../src/contract/operation-properties.ts";
import { defineDomain } from "../../src/domains/domain.ts";
import { everyOperation } from "../conformance/every-operation.ts";
import { eventually } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";

const Weather = Type.Object(
  { sky: Type.String({ description: "What it looks like.", maxLength: 9, examples: ["clear"] }) },
  { title: "Weather", description: "The weather of a sandbox." },
);
const clear = { sky: "clear" };
const getWeather = defineOperation({
  tag: { name: "weather", description: "What sandboxes look like.", stability: "experimental" },
  name: "getWeather",
  method: "GET",
  path: "/weather",
  summary: "Look at the sky",
  description: "Returns the weather.",
  separateQuota: "sandbox",
  response: { status: 200, description: "The weather.", schema: Weather, examples: { "A clear sky": clear } },
});
const weather = defineDomain({
  name: "weather",
  operations: [getWeather],
  open: () =>
    bind([getWeather], {
      *getWeather() {
        return { body: clear };
      },
    }),
});
const start = () => TestService.start({ domains: [...domains, weather] });

describe("an operation of sandboxes", () => {
  everyOperation([getWeather], start);

  test("is not counted in the sandbox's usage, whatever its outcome", async () => {
    const service = await start();
    const key = await service.newKey("business", undefined, ["read"]);
    const get = (path: string) => service.call("GET", path, { key });
    for (let count = 0; count < 21; count++) await get("/weather");
    expect((await get("/weather")).status).toBe(429);
    expect((await get("/usage?granularity=day")).json).toEqual([]);
    await service.stop();
  });

  test("uses a live key's quota like any other", async () => {
    const service = await TestService.start({
      domains: [...domains, weather],
      settings: { PETSTORE_ENV: "production" },
    });
    const { key } = await service.newAccountWithKey("enterprise", { perMinute: 2, perDay: 9 }, ["read"], "live");
    const get = (path: string) => service.call("GET", path, { key });
    expect([await get("/weather"), await get("/pets"), await get("/weather")].map(({ status }) => status)).toEqual([
      200, 200, 429,
    ]);
    await eventually(async () => (await service.store.rows("SELECT id FROM request_records")).length === 1);
    const { json } = await get("/requests");
    expect(json[0].explanation).toContain(" for all keys of the shop together. Try again");
    await service.stop();
  });

  test("declares the error for a banned live key", () => {
    expect(errorsOf(getWeather)).toContain(keyBanned);
  });
});
