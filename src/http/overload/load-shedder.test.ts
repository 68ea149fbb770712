import { describe, expect, test } from "bun:test";
import { ManualClock } from "../../../test/harness/manual-clock.ts";
import type { MaybePromise } from "../../timing/maybe-promise.ts";
import { type LoadLimits, loadLimits } from "./load-limits.ts";
import { LoadShedder } from "./load-shedder.ts";

const { maxInFlight, overloadAfterMs, refuseOneIn, maxWaiting, maxTurnMs } = loadLimits;

/** The shop of most requests in these tests. */
const SHOP = 1;

/** A load shedder, and functions that send it requests turn by turn. */
class Scene {
  readonly clock = new ManualClock();
  readonly changes: boolean[] = [];
  readonly shedder: LoadShedder;

  constructor(limits: LoadLimits = loadLimits) {
    this.shedder = new LoadShedder(this.clock, limits, (isOverloaded) => this.changes.push(isOverloaded));
  }

  /** A request of a shop. Only requests of different connections can be queued. */
  request(shop: number | undefined, isWrite = true, connection = "only"): MaybePromise<boolean> {
    const isExcess = this.shedder.begin(0, isWrite);
    return this.shedder.refuses({ isExcess, isWrite, caller: shop === undefined ? undefined : { shop }, connection });
  }

  /** Sends this many requests in one turn of the event loop. Returns how many were refused. */
  async turn(requests: number, isWrite = true): Promise<number> {
    const refused = Array.from({ length: requests }, () => this.request(SHOP, isWrite)).filter((one) => one === true);
    await nextTurn();
    return refused.length;
  }

  sample(milliseconds: number): void {
    this.clock.advance(milliseconds);
    this.shedder.sample();
  }

  /** Sends too many requests until the service is overloaded. */
  async overload(): Promise<void> {
    await this.turn(maxInFlight + 1);
    this.sample(100);
    await this.turn(maxInFlight + 1);
    this.sample(overloadAfterMs);
  }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("the load shedder", () => {
  test("reports overload once every turn has had too many requests for long enough", async () => {
    const scene = new Scene();
    await scene.turn(maxInFlight + 1);
    scene.sample(100);
    await scene.turn(maxInFlight + 1);
    scene.sample(overloadAfterMs - 1);
    expect(await scene.turn(10_000)).toBe(0);
    scene.sample(1);
    expect(scene.changes).toEqual([true]);
    expect(await scene.turn(maxInFlight + 10 * refuseOneIn)).toBe(10);
  });

  test("reports no overload if one turn in between had few requests", async () => {
    const scene = new Scene();
    for (let count = 0; count < 20; count++) {
      await scene.turn(10_000);
      await scene.turn(maxInFlight);
      scene.sample(overloadAfterMs);
    }
    expect(scene.changes).toEqual([]);
  });

  test("reports no overload if no request came for a while in between", async () => {
    const scene = new Scene();
    for (let count = 0; count < 20; count++) {
      await scene.turn(10_000);
      scene.sample(overloadAfterMs);
      scene.sample(100);
    }
    expect(scene.changes).toEqual([]);
  });

  test("counts only requests that still wait for the store", async () => {
    const scene = new Scene();
    await scene.turn(1);
    for (let count = 0; count < maxInFlight; count++) scene.shedder.wait(SHOP);
    await scene.turn(1);
    scene.sample(100); // the turn before had few requests
    await scene.turn(1);
    scene.sample(100);
    scene.sample(overloadAfterMs); // no turn: the requests still wait
    expect(scene.changes).toEqual([]);
    scene.shedder.wait(SHOP);
    scene.sample(0);
    scene.sample(overloadAfterMs);
    expect([scene.changes, scene.shedder.waiting]).toEqual([[true], maxInFlight + 1]);
    for (let count = 0; count <= maxInFlight; count++) scene.shedder.endWait(SHOP);
    scene.sample(0);
    expect([scene.changes, scene.shedder.waiting]).toEqual([[true, false], 0]);
  });

  test("counts requests that begin together with those that wait", async () => {
    const scene = new Scene();
    for (let count = 0; count < maxInFlight; count++) scene.shedder.wait(SHOP);
    await scene.turn(1);
    scene.sample(100);
    await scene.turn(1);
    scene.sample(overloadAfterMs);
    expect(scene.changes).toEqual([true]);
  });

  test("reports the end of overload at the first sample with few requests", async () => {
    const scene = new Scene();
    await scene.overload();
    await scene.turn(1);
    scene.sample(0);
    expect(scene.changes).toEqual([true, false]);
    expect(await scene.turn(10_000)).toBe(0);
  });

  test("refuses no request in a turn with few requests", async () => {
    const scene = new Scene();
    await scene.overload();
    expect(await scene.turn(maxInFlight)).toBe(0);
  });

  test("does not refuse reads because writes wait", async () => {
    const scene = new Scene();
    for (let count = 0; count <= maxInFlight; count++) scene.shedder.wait(SHOP);
    scene.sample(0);
    scene.sample(overloadAfterMs);
    expect(scene.changes).toEqual([true]);
    expect([await scene.turn(maxInFlight, false), await scene.turn(refuseOneIn, true)]).toEqual([0, 1]);
    expect(await scene.turn(maxInFlight + refuseOneIn, false)).toBe(1);
  });

  test("refuses all writes and no reads once the maximum number of requests wait", async () => {
    const scene = new Scene();
    for (let count = 0; count < maxWaiting; count++) scene.shedder.wait(SHOP);
    expect([await scene.turn(100), await scene.turn(100, false)]).toEqual([100, 0]);
    scene.shedder.endWait(SHOP);
    expect(await scene.turn(100)).toBe(0);
  });

  test("refuses no request of a shop with fewer requests in flight than others", async () => {
    const scene = new Scene();
    await scene.overload();
    for (let count = 0; count < 2 * maxInFlight; count++) void scene.request(SHOP);
    const ofOther = Array.from({ length: maxInFlight / 2 }, () => scene.request(2));
    expect(new Set(ofOther)).toEqual(new Set([false]));
    const ofFirst = Array.from({ length: refuseOneIn }, () => scene.request(SHOP));
    expect(ofFirst.filter((one) => one === true)).toHaveLength(1);
  });

  test("refuses requests of all shops with the most, and treats requests without a valid key as one shop", async () => {
    const scene = new Scene();
    await scene.overload();
    const refused = new Map<number | undefined, number>();
    for (let count = 0; count < 100 * refuseOneIn; count++) {
      for (const shop of [1, undefined, 3]) {
        if (scene.request(shop) === true) refused.set(shop, (refused.get(shop) ?? 0) + 1);
      }
    }
    for (const shop of [1, undefined, 3]) expect(refused.get(shop)).toBeGreaterThan(10);
  });

  test("counts the waiting requests of a shop", async () => {
    const scene = new Scene();
    for (let count = 0; count <= 2 * maxInFlight; count++) scene.shedder.wait(2);
    scene.sample(0);
    scene.sample(overloadAfterMs);
    const ofFirst = Array.from({ length: maxInFlight }, () => scene.request(SHOP));
    expect(new Set(ofFirst)).toEqual(new Set([false]));
    const ofSecond = Array.from({ length: refuseOneIn }, () => scene.request(2));
    expect(ofSecond.filter((one) => one === true)).toHaveLength(1);
  });

  test("lets a shop with less than its share write while the maximum number of requests wait", async () => {
    const scene = new Scene();
    for (let count = 0; count < maxWaiting; count++) scene.shedder.wait(2);
    expect([scene.request(2), scene.request(SHOP)]).toEqual([true, false]);
    for (let count = 0; count < maxWaiting / 2 - 2; count++) scene.shedder.wait(SHOP);
    expect([scene.request(SHOP), scene.request(3)]).toEqual([true, false]);
  });

  test("counts a request that has its response only in its own turn", async () => {
    const scene = new Scene();
    for (let count = 0; count < maxWaiting; count++) scene.shedder.wait(2);
    for (let turns = 0; turns < maxWaiting / maxInFlight; turns++) expect(await scene.turn(maxInFlight)).toBe(0);
  });

  test("begins queued requests although no other request begins", async () => {
    const scene = new Scene();
    await scene.overload();
    scene.shedder.wait(2);
    const begun = Array.from({ length: 4 * maxInFlight }, (_, index) => ({
      isExcess: scene.shedder.begin(0, false),
      isWrite: false,
      caller: { shop: SHOP },
      connection: String(index),
    }));
    await nextTurn(); // their keys are looked up
    const queued = begun.map((one) => scene.shedder.refuses(one)).filter((one) => one instanceof Promise);
    expect(queued.length).toBeGreaterThan(maxInFlight);
    expect(new Set(await Promise.all(queued))).toEqual(new Set([false]));
  });

  test("queues requests on many connections of the shop with the most, and begins some of them in each turn", async () => {
    const scene = new Scene();
    await scene.overload();
    void scene.request(2, false);
    const crowd = Array.from({ length: 4 * maxInFlight }, (_, index) => scene.request(SHOP, false, String(index)));
    const first = crowd.findIndex((one) => one instanceof Promise);
    expect(first).toBeWithin(maxInFlight, maxInFlight + refuseOneIn);
    const queued = crowd.filter((one) => one instanceof Promise);
    let begun = 0;
    for (const one of queued) void one.then(() => begun++);
    await nextTurn();
    expect(scene.request(SHOP, false, "late")).not.toBe(false);
    for (let before = 0; begun < queued.length; before = begun) {
      await nextTurn();
      expect(scene.request(2, false, "other")).toBe(false);
      expect(begun - before).toBeLessThan(queued.length / 2);
    }
  });

  test("counts connections in each turn separately", async () => {
    const scene = new Scene();
    await scene.overload();
    for (const shop of [SHOP, 2]) void scene.request(shop, false);
    for (let turns = 0; turns < 3; turns++) {
      await nextTurn();
      const queued = Array.from({ length: maxInFlight }, (_, index) => scene.request(SHOP, false, String(index)));
      expect(queued.some((one) => one instanceof Promise)).toBe(false);
    }
  });

  test("queues no requests ten seconds after the last one of another shop", async () => {
    const scene = new Scene();
    await scene.overload();
    for (let count = 0; count <= maxInFlight; count++) scene.shedder.wait(SHOP); // overload does not end
    void scene.request(2, false);
    const isQueued = [];
    for (let samples = 0; samples <= 100; samples++) {
      const crowd = Array.from({ length: 2 * maxInFlight }, (_, index) => scene.request(SHOP, false, String(index)));
      const queued = crowd.filter((one) => one instanceof Promise);
      isQueued.push(queued.length > 0);
      await Promise.all(queued);
      scene.sample(100);
    }
    expect([isQueued.slice(0, 100).every(Boolean), isQueued[100]]).toEqual([true, false]);
  });

  test("queues no requests without another shop", async () => {
    const scene = new Scene();
    await scene.overload();
    const crowd = Array.from({ length: 4 * maxInFlight }, (_, index) => scene.request(SHOP, false, String(index)));
    expect(crowd.some((one) => one instanceof Promise)).toBe(false);
  });

  test("queues no requests of few connections, even if there are many requests", async () => {
    const scene = new Scene();
    await scene.overload();
    void scene.request(2, false);
    const crowd = Array.from({ length: 100 * maxInFlight }, (_, index) =>
      scene.request(SHOP, false, String(Math.floor(index / 100))),
    );
    expect(new Set(crowd)).toEqual(new Set([false, true]));
  });
});

test("a turn that has lasted long enough delays further requests to the next one", async () => {
  const { shedder } = new Scene();
  shedder.begin(1_000, false);
  for (let index = 0; index < 2 * maxInFlight; index++) {
    expect(shedder.laterTurn(1_000 + maxTurnMs, { connection: `early ${index}` })).toBeUndefined();
  }
  const late = Array.from({ length: maxInFlight + 1 }, (_, index) =>
    shedder.laterTurn(1_001 + maxTurnMs, { connection: `late ${index}` }),
  );
  expect(late.findIndex((turn) => turn !== undefined)).toBe(maxInFlight);
  let hasCome = false;
  const next = late.at(-1)?.then(() => (hasCome = true));
  await Promise.resolve();
  expect(hasCome).toBe(false);
  await next;
  shedder.begin(2_000, false);
  const nextLate = Array.from({ length: maxInFlight + 1 }, (_, index) =>
    shedder.laterTurn(2_001 + maxTurnMs, { connection: `next ${index}` }),
  );
  expect(nextLate.findIndex((turn) => turn !== undefined)).toBe(maxInFlight);
});

test("a long turn with few connections does not delay requests", () => {
  const { shedder } = new Scene();
  shedder.begin(1_000, false);
  const turns = Array.from({ length: 200 * maxInFlight }, (_, index) =>
    shedder.laterTurn(2_000 + maxTurnMs, { connection: String(Math.floor(index / 200)) }),
  );
  expect(turns.filter(Boolean)).toEqual([]);
});
