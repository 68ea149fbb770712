import { afterAll, beforeAll, expect, test } from "bun:test";
import { NOON } from "../../test/harness/manual-clock.ts";
import { TestService } from "../../test/harness/service.ts";

const SECOND = 1_000;

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

test("a refusal says one request and one second, and two requests and two seconds", async () => {
  service.clock.setWall(NOON);
  const send = async (key: string) => (await service.call("GET", "/pets", { key })).json.message;
  const one = await service.newKey("enterprise", { perMinute: 1, perDay: 100 });
  const two = await service.newKey("enterprise", { perMinute: 2, perDay: 100 });
  await send(one);
  await send(two);
  await send(two);
  service.clock.advance(58 * SECOND);
  expect(await send(two)).toBe("The 2 requests of the current window are used up. Try again in 2 seconds.");
  service.clock.advance(SECOND);
  expect(await send(one)).toBe("The 1 request of the current window is used up. Try again in 1 second.");
});

test("the refusal of a banned key says one second", async () => {
  const key = await service.newKey("enterprise", { perMinute: 1, perDay: 100 });
  const send = () => service.call("GET", "/pets", { key });
  let last = await send();
  while (last.status !== 429) last = await send();
  service.clock.advance(SECOND);
  while (last.json.code !== "key_banned") last = await send();
  service.clock.advance((Number(last.headers.get("retry-after")) - 1) * SECOND);
  expect((await send()).json.message).toEndWith(" is banned for another 1 second.");
});
