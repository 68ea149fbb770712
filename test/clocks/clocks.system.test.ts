// The wall clock is set: while the service runs, and while it is down.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NOON } from "../harness/manual-clock.ts";
import { type TestResponse, TestService } from "../harness/service.ts";

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const REMOVAL = Date.UTC(2030, 11, 5);
const quota = { perMinute: 3, perDay: 10 };

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

const newKey = () => service.newKey("enterprise", quota);
const send = (key: string) => service.call("GET", "/pets?limit=1", { key });
const sendAll = async (key: string, times: number): Promise<TestResponse> => {
  for (let left = times; left > 1; left--) await send(key);
  return send(key);
};
const figure = ({ headers }: TestResponse, name: string) => Number(headers.get(name));
const retryAfter = (response: TestResponse) => figure(response, "retry-after");
const reset = (response: TestResponse) => figure(response, "x-ratelimit-reset");
/** Seconds by which the response's reset is later than its `Retry-After` from now. */
const disagreement = (response: TestResponse) =>
  reset(response) - retryAfter(response) - Math.floor(service.clock.now() / SECOND);
const expectRefused = (response: TestResponse, code: string, seconds: number) => {
  expect([response.json.code, retryAfter(response)]).toEqual([code, seconds]);
  expect([-1, 0, 1]).toContain(disagreement(response));
};

const dayNow = () => Math.floor(service.clock.now() / DAY);
const step = (milliseconds: number) => service.clock.setWall(service.clock.now() + milliseconds);
const jumps: [string, () => void][] = [
  ["back by an hour", () => step(-HOUR)],
  ["back by a day", () => step(-DAY)],
  ["back by ten years", () => step(-3_652 * DAY)],
  ["forward by an hour", () => step(HOUR)],
  ["forward by a day", () => step(DAY)],
  ["to 2030-12-05", () => service.clock.setWall(REMOVAL)],
  ["back by 1.5 seconds", () => step(-1_500)],
  ["forward by 1.5 seconds", () => step(1_500)],
];
const restart = async (between: () => void) => {
  service = await service.restart(between);
};
const situations: [string, (happen: () => void) => Promise<void>][] = [
  ["while the service runs", async (happen) => happen()],
  ["while the service is down", restart],
];

describe.each(situations)("a wall clock that is set %s,", (_, during) => {
  test.each(jumps)(
    "%s, refuses no client for more than a minute, and keeps the count of a day",
    async (_jump, jump) => {
      service.clock.setWall(NOON);
      const [limited, daily] = [await newKey(), await newKey()];
      await sendAll(limited, quota.perMinute);
      await sendAll(daily, quota.perMinute);
      service.clock.advance(20 * SECOND);
      const today = dayNow();

      await during(jump);
      const first = await send(limited);
      if (first.status !== 200) {
        expectRefused(first, "rate_limit_exceeded", Math.min(60, retryAfter(first)));
        service.clock.advance(retryAfter(first) * SECOND);
        expect((await send(limited)).status).toBe(200);
      }
      service.clock.advance(MINUTE);
      let admitted = 0;
      for (let minute = 0; minute < 4; minute++) {
        for (let sent = 0; sent < quota.perMinute; sent++) admitted += Number((await send(daily)).status === 200);
        service.clock.advance(MINUTE);
      }
      expect(admitted).toBe(quota.perDay - (dayNow() === today ? quota.perMinute : 0));
    },
  );

  test("to the sunset date of getPet, removes it until the clock is set back", async () => {
    const key = await newKey();
    const statusOfGetPet = async () => (await service.call("GET", "/pets/1", { key })).status;
    service.clock.setWall(NOON);
    const before = await statusOfGetPet();
    await during(() => service.clock.setWall(REMOVAL));
    expect(await statusOfGetPet()).toBe(410);
    await during(() => service.clock.setWall(NOON));
    expect(await statusOfGetPet()).toBe(before);
  });
});
