// One shop sends more than the service can answer, and another one little.
import { describe, expect, test } from "bun:test";
import { stopwatch } from "../harness/cpu-time.ts";
import { isLongRun, rounds } from "../harness/test-length.ts";
import { UNLIMITED } from "../harness/unlimited.ts";
import { LoadedService } from "./loaded-service.ts";

/** Connections of the shop that sends too much, all of them busy all the time, and for how many seconds. */
const [CONNECTIONS, SECONDS] = [1_200, rounds(2, 10)];
/** The shop's animals, among which a search finds none. */
const ANIMALS = 5_000;
/** Within this many milliseconds, other clients get their responses. */
const WITHIN = 500;

/** A costly request, of which no two are the same, so that none is answered from the cache. */
const SEARCH = "/pets?name=none{n}";
const animal = JSON.stringify({ name: "Rex", categoryId: 1 });

const floods = [
  ["writes", "POST", "/pets", animal],
  ["searches", "GET", SEARCH, undefined],
] as const;

describe("while one shop sends more than the service can answer", () => {
  test.each(floods)("%s, requests of another are answered, and soon", async (_what, method, path, body) => {
    await using service = await LoadedService.start();
    const { statuses, slowest, sent, ofFlood, lost } = await flooded(service, service.request(method, path, body));
    console.log(`slowest request of another shop: ${slowest.toFixed()} ms`);
    expect(new Set(statuses)).toEqual(new Set([200, 201]));
    if (isLongRun) expect(slowest).toBeLessThan(WITHIN);
    expect(ofFlood["503"]).toBeGreaterThan(0);
    expect(lost).toBe(0);
    // As many requests are left as were answered, not as were sent.
    const { 503: _refused, ...answered } = ofFlood;
    const count = Object.values(answered).reduce((sum, one) => sum + one, 0);
    const left = Number((await service.call("/pets?limit=1")).headers.get("x-ratelimit-remaining"));
    expect(left).toBe(UNLIMITED - sent - count - 1);
  });

  if (isLongRun) {
    test("control: searches, others wait for long if a shop may use any time of a turn", async () => {
      await using service = await LoadedService.start({ putsOff: false });
      const { slowest } = await flooded(service, service.request("GET", SEARCH));
      expect(slowest).toBeGreaterThan(WITHIN);
    });
  }
});

/** Floods a service with a request. Returns what others see of that, and the responses to the flood. */
async function flooded(service: LoadedService, request: string) {
  const { pid } = service.program.child;
  const seed = { request: service.request("POST", "/pets", animal), connections: 16 };
  while (service.animals() < ANIMALS) await service.load({ ...seed, seconds: 0.5 });
  const sent = service.animals();

  const authorization = { Authorization: `Bearer ${await service.otherKey()}` };
  const headers = { ...authorization, "Content-Type": "application/json" };
  const { base } = service.program;
  const calls = [
    () => fetch(new URL("/healthz", base)),
    () => fetch(`${base}/pets?limit=1`, { headers }),
    () => fetch(`${base}/pets`, { method: "POST", headers, body: animal }),
  ];
  const flood = { isOver: false };
  const load = service.load({ request, connections: CONNECTIONS, seconds: SECONDS });
  void load.finally(() => (flood.isOver = true));
  const statuses: number[] = [];
  let slowest = 0;
  while (!flood.isOver) {
    for (const call of calls) {
      const elapsed = stopwatch(pid);
      statuses.push((await call()).status);
      slowest = Math.max(slowest, elapsed());
    }
  }
  const { statuses: ofFlood, lost } = await load;
  return { statuses, slowest, sent, ofFlood, lost };
}
