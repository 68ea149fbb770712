// The client does not get its key banned: with a clock that it shares with the service, far more calls than a minute allows.
import { expect, test } from "bun:test";
import { TestService } from "../../test/harness/service.ts";
import { Petstore } from "../src/index.ts";
import { DrivenClock } from "./driven-clock.ts";

const quota = { perMinute: 60, perDay: 100_000 };
const HOUR = 3_600_000;

test("a thousand calls at once, at 60 a minute, all succeed without a strike", async () => {
  const service = await TestService.start();
  try {
    const key = await service.newKey("enterprise", quota);
    const clock = new DrivenClock(service.clock);
    const statuses: number[] = [];
    const onResponse = ({ status }: Response) => statuses.push(status);
    const options = { key, baseUrl: service.app.base, clock, fetch: clock.fetch, timeout: HOUR, onResponse };
    const clients = [new Petstore(options), new Petstore(options)];
    const calls = Array.from({ length: 1_000 }, (_, index) => (clients[index % 2] as Petstore).listPets().page());
    await clock.drive(Promise.all(calls));
    expect(statuses).toEqual(Array.from({ length: 1_000 }, () => 200));
    const { json } = await service.call("GET", "/key", { key });
    expect([json.strikes.count, json.ban]).toEqual([0, undefined]);
  } finally {
    await service.stop();
  }
});

test("four clients that know nothing of each other have at most one strike each and denial", async () => {
  const service = await TestService.start();
  try {
    const key = await service.newKey("enterprise", quota);
    const clock = new DrivenClock(service.clock);
    const denials: number[] = [];
    const clients = Array.from({ length: 4 }, (_, index) => {
      // An address of its own gives each a gate of its own, as if it were another process.
      const { origin } = new URL(service.app.base);
      const fetch = (request: Request) =>
        clock.fetch(new Request(request.url.replace(`/c${index}/v1`, "/v1"), request));
      const onResponse = ({ status }: Response) => (status === 429 ? denials.push(index) : 0);
      return new Petstore({ key, baseUrl: `${origin}/c${index}/v1`, clock, fetch, timeout: HOUR, onResponse });
    });
    const calls = Array.from({ length: 400 }, (_, index) => (clients[index % 4] as Petstore).listPets().page());
    await clock.drive(Promise.all(calls));
    const { json } = await service.call("GET", "/key", { key });
    expect([json.strikes.count <= 4, json.ban]).toEqual([true, undefined]);
  } finally {
    await service.stop();
  }
});

test("whoever retries at once is banned", async () => {
  const service = await TestService.start();
  try {
    const key = await service.newKey("enterprise", quota);
    let code: string | undefined;
    for (let request = 0; request < 200 && code !== "key_banned"; request++) {
      code = (await service.call("GET", "/pets", { key })).json.code;
      service.clock.advance(100);
    }
    expect(code).toBe("key_banned");
  } finally {
    await service.stop();
  }
});
