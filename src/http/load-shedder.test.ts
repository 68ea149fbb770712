import { expect, test } from "bun:test";
import { ManualClock } from "../../test/harness/manual-clock.ts";
import { LoadShedder, loadLimits } from "./load-shedder.ts";

const { maxWaiting, maxTurnMs, few, perTurn, refusesAfterMs } = loadLimits;
const [HALF, QUARTER] = [maxWaiting / 2, maxWaiting / 4];

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

function scene() {
  const clock = new ManualClock();
  const shedder = new LoadShedder(clock);
  const wait = (shop: number | undefined, count: number) => {
    for (let waiting = 0; waiting < count; waiting++) shedder.wait(shop);
  };
  /** Begins a request, after which this turn of the event loop is too long. */
  const makeTurnLong = () => {
    expect(shedder.refuses(0)).toBe(false);
    clock.advance(maxTurnMs + 1);
  };
  return { clock, shedder, wait, makeTurnLong };
}

test("any number of requests begin in a turn that is not too long", () => {
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

test("in a turn that is too long, a few requests of each shop begin, and all in the next one", async () => {
  const { shedder, makeTurnLong } = scene();
  makeTurnLong();
  for (const shop of [1, 2, undefined]) {
    const begun = Array.from({ length: few }, () => shedder.refuses(shop));
    expect(new Set(begun)).toEqual(new Set([false]));
    expect(shedder.refuses(shop)).toBeInstanceOf(Promise);
  }
  expect(shedder.waiting).toBe(3);
  await nextTurn();
  expect(shedder.waiting).toBe(0);
  for (let count = 0; count <= few; count++) expect(shedder.refuses(1)).toBe(false);
  makeTurnLong();
  expect(shedder.refuses(1)).toBe(false); // those of the turn before do not count
});

test("requests that were put off begin in order, some in each turn, and those of a busy shop not before them", async () => {
  const { shedder, makeTurnLong } = scene();
  makeTurnLong();
  const begun: number[] = [];
  const begin = (request: number) => {
    void Promise.resolve(shedder.refuses(1)).then((isRefused) => {
      expect(isRefused).toBe(false);
      begun.push(request);
    });
  };
  const last = few + few + perTurn; // as many that begin at once, that make the shop busy, and that begin in the next turn
  for (let request = 0; request < last; request++) begin(request);
  await nextTurn();
  expect([begun.length, shedder.waiting]).toEqual([few + perTurn, few]);
  begin(last);
  expect(shedder.refuses(2)).toBe(false);
  for (let turns = 0; turns <= few / perTurn; turns++) await nextTurn();
  expect(begun).toEqual(Array.from({ length: last + 1 }, (_, request) => request));
  expect([shedder.refuses(1), shedder.waiting]).toEqual([false, 0]);
});
