import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { ManualClock } from "../../test/harness/manual-clock.ts";
import { monitoringContent } from "./monitoring.ts";
import { serveContent } from "./response/web-content.ts";

let clock: ManualClock;
let isStopping: boolean;
/** The checks of the store so far. The test ends each of them. */
let checks: PromiseWithResolvers<void>[];
let readyz: () => Promise<[number, string]>;

beforeEach(() => {
  clock = new ManualClock();
  isStopping = false;
  checks = [];
  const checkStore = () => {
    const started = Promise.withResolvers<void>();
    checks.push(started);
    return started.promise;
  };
  const pages = new Map(monitoringContent({ checkStore, isStopping: () => isStopping, metrics: () => "", clock }));
  const page = pages.get("/readyz");
  if (!page) throw new Error("There is no page /readyz.");
  readyz = async () => {
    const response = await serveContent(page, new Request("http://petstore/readyz"), { ofUnknown: () => "" });
    return [response.status, ((await response.json()) as { status: string }).status];
  };
});
afterEach(() => jest.useRealTimers());

test("many requests cause one check of the store, and another after a second", async () => {
  const crowd = Promise.all(Array.from({ length: 100 }, readyz));
  checks[0]?.resolve();
  expect(new Set((await crowd).map(String))).toEqual(new Set(["200,ready"]));
  clock.advance(999);
  expect(await readyz()).toEqual([200, "ready"]);
  expect(checks).toHaveLength(1);
  clock.advance(1);
  const later = readyz();
  expect(checks).toHaveLength(2);
  checks[1]?.reject(new Error("full"));
  expect(await later).toEqual([503, "storage unavailable"]);
  clock.advance(1_000);
  const restored = readyz();
  checks[2]?.resolve();
  expect(await restored).toEqual([200, "ready"]);
});

test("a store that does not respond is slow, and is not checked again until it does", async () => {
  jest.useFakeTimers();
  for (let time = 0; time < 3; time++) {
    const response = readyz();
    jest.advanceTimersByTime(2_000);
    clock.advance(2_000);
    expect(await response).toEqual([503, "storage slow"]);
  }
  expect(checks).toHaveLength(1);
  checks[0]?.resolve();
  expect(await readyz()).toEqual([200, "ready"]);
});

test("a stopping service reports it at once", async () => {
  isStopping = true;
  expect(await readyz()).toEqual([503, "stopping"]);
  expect(checks).toEqual([]);
});
