import { expect, test } from "bun:test";
import { SHARE, Turns } from "../timing/turns.ts";
import { LoadShedder, loadLimits } from "./load-shedder.ts";

const { maxWaiting, refusesAfterMs } = loadLimits;
const [HALF, QUARTER] = [maxWaiting / 2, maxWaiting / 4];

function scene() {
  let now = 0;
  const turns = new Turns(() => now);
  const shedder = new LoadShedder(loadLimits, turns);
  const wait = (shop: number | undefined, count: number) => {
    for (let waiting = 0; waiting < count; waiting++) shedder.wait(shop);
  };
  const useShare = (shop: number | undefined) => {
    now += SHARE;
    turns.charge(shop, now - SHARE);
  };
  return { shedder, wait, useShare };
}

test("any number of requests begin while their shop has time left", () => {
  const { shedder } = scene();
  const refused = Array.from({ length: 10 * maxWaiting }, () => shedder.refuses(1));
  expect(new Set(refused)).toEqual(new Set([false]));
});

test.each([
  ["a shop", 1],
  ["requests without a valid key", undefined],
])("%s may have a quarter of the most that may wait while half of it do", async (_name, shop) => {
  const { shedder, wait } = scene();
  wait(shop, QUARTER);
  wait(2, QUARTER - 1);
  expect([shedder.refuses(shop), shedder.refuses(2)]).toEqual([false, false]);
  wait(3, 1);
  expect([await shedder.refuses(shop), shedder.refuses(2), shedder.waiting]).toEqual([true, false, HALF]);
  shedder.endWait(shop);
  expect(shedder.refuses(shop)).toBe(false);
});

test("each request is refused, but not at once, while the most wait that may", async () => {
  const { shedder, wait } = scene();
  for (let shop = 0; shop < maxWaiting; shop++) wait(shop, 1);
  const before = performance.now();
  expect(await shedder.refuses(maxWaiting)).toBe(true);
  expect(performance.now() - before).toBeGreaterThan(refusesAfterMs - 2); // timers are rounded
  shedder.endWait(0);
  expect(shedder.refuses(maxWaiting)).toBe(false);
});

test.each([
  ["of a shop", 1],
  ["without a valid key", undefined],
])("requests %s are put off when the share is used up, and count as waiting", async (_name, shop) => {
  const { shedder, useShare } = scene();
  useShare(shop);
  const refused = [shedder.refuses(shop), shedder.refuses(shop)];
  expect([shedder.waiting, shedder.refuses(2)]).toEqual([2, false]);
  for (const one of refused) expect(await one).toBe(false);
  await new Promise(setImmediate);
  expect([shedder.waiting, shedder.refuses(shop)]).toEqual([0, false]);
});
