// One shop sends more than the service can answer, and another one little.
import { describe, expect, test } from "bun:test";
import { newKey } from "../harness/keys.ts";
import { UNLIMITED, unlimitedQuota } from "../harness/unlimited.ts";
import { LoadedService } from "./loaded-service.ts";

/** Connections of the shop that sends too much, all of them busy all the time. */
const CONNECTIONS = 600;
/** Concurrent requests of the other shop. */
const FEW = 8;
/** Refusals after which the load may end, and seconds after which it ends in any case. */
const ENOUGH = 100;
const AT_MOST = 50;

const animal = JSON.stringify({ name: "Rex", categoryId: 1 });

const floods = [
  ["writes of one shop", "POST", "/pets", animal],
  ["reads of one shop", "GET", "/pets?limit=100", undefined],
] as const;

describe("while a service is overloaded", () => {
  test.each(floods)("by %s, no request of another shop is rejected", async (_name, method, path, body) => {
    await using service = await LoadedService.start();
    const other = await newKey(service.program.dataDir, unlimitedQuota);
    const headers = { Authorization: `Bearer ${other}`, "Content-Type": "application/json" };
    const call = (at: string, sent?: string) =>
      fetch(service.program.base + at, sent === undefined ? { headers } : { method: "POST", headers, body: sent });
    for (let count = 0; count < 100; count++) await service.call("/pets", animal);

    const flood = { isOver: false };
    const load = service.load({
      request: service.request(method, path, body),
      connections: CONNECTIONS,
      seconds: AT_MOST,
      enough: ENOUGH,
    });
    void load.finally(() => (flood.isOver = true));
    const statuses: number[] = [];
    while (!flood.isOver) {
      const calls = Array.from({ length: FEW }, (_, index) =>
        index % 2 === 0 ? call("/pets?limit=1") : call("/pets", animal),
      );
      statuses.push(...(await Promise.all(calls)).map(({ status }) => status));
    }
    const { statuses: ofFlood, lost } = await load;
    expect([new Set(statuses), lost]).toEqual([new Set([200, 201]), 0]);
    expect(ofFlood["503"]).toBeGreaterThanOrEqual(ENOUGH);
    // Both have as many requests left as were answered, not as were sent.
    const { headers: last } = await call("/pets?limit=1");
    expect(Number(last.get("x-ratelimit-remaining"))).toBe(UNLIMITED - statuses.length - 1);
    const answered = Object.entries(ofFlood).reduce((sum, [status, count]) => sum + (status === "503" ? 0 : count), 0);
    const left = Number((await service.call("/pets?limit=1")).headers.get("x-ratelimit-remaining"));
    expect(left).toBe(UNLIMITED - 100 - answered - 1);
  });
});
