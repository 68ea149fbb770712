import { describe, expect, test } from "bun:test";
import { ManualClock } from "../../test/harness/manual-clock.ts";
import { Load, type LoadLimits, loadLimits } from "./load.ts";

const { maxInFlight, overloadAfterMs, refuseOneIn, mostWaiting, longestTurn } = loadLimits;

/** A load, and what happens to it turn by turn. */
class Scene {
  readonly clock = new ManualClock();
  readonly changes: boolean[] = [];
  readonly load: Load;

  constructor(limits: LoadLimits = loadLimits) {
    this.load = new Load(this.clock, limits, (isOverloaded) => this.changes.push(isOverloaded));
  }

  /** So many requests in one turn of the event loop. Returns how many were refused. */
  async turn(requests: number, isWrite = true): Promise<number> {
    let refused = 0;
    for (let count = 0; count < requests; count++) if (this.load.begin(0, isWrite)) refused++;
    await new Promise<void>((resolve) => setImmediate(resolve));
    return refused;
  }

  sample(milliseconds: number): void {
    this.clock.advance(milliseconds);
    this.load.sample();
  }

  /** A crowd for as long as it takes to be too much. */
  async overload(): Promise<void> {
    await this.turn(maxInFlight + 1);
    this.sample(100);
    await this.turn(maxInFlight + 1);
    this.sample(overloadAfterMs);
  }
}

describe("the load", () => {
  test("is too much once there has been more than a crowd in every turn for long enough", async () => {
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

  test("is not too much where one turn in between was no crowd", async () => {
    const scene = new Scene();
    for (let count = 0; count < 20; count++) {
      await scene.turn(10_000);
      await scene.turn(maxInFlight);
      scene.sample(overloadAfterMs);
    }
    expect(scene.changes).toEqual([]);
  });

  test("is not too much where nothing came for a while between two crowds", async () => {
    const scene = new Scene();
    for (let count = 0; count < 20; count++) {
      await scene.turn(10_000);
      scene.sample(overloadAfterMs);
      scene.sample(100);
    }
    expect(scene.changes).toEqual([]);
  });

  test("counts those that wait for the store, and not those that no longer do", async () => {
    const scene = new Scene();
    await scene.turn(1);
    for (let count = 0; count < maxInFlight; count++) scene.load.wait();
    await scene.turn(1);
    scene.sample(100); // the turn before them was no crowd
    await scene.turn(1);
    scene.sample(100);
    scene.sample(overloadAfterMs); // no turn at all: they wait all the same
    expect(scene.changes).toEqual([]);
    scene.load.wait();
    scene.sample(0);
    scene.sample(overloadAfterMs);
    expect([scene.changes, scene.load.waiting]).toEqual([[true], maxInFlight + 1]);
    for (let count = 0; count <= maxInFlight; count++) scene.load.endWait();
    scene.sample(0);
    expect([scene.changes, scene.load.waiting]).toEqual([[true, false], 0]);
  });

  test("is normal again at the first sample after the crowd has gone", async () => {
    const scene = new Scene();
    await scene.overload();
    await scene.turn(1);
    scene.sample(0);
    expect(scene.changes).toEqual([true, false]);
    expect(await scene.turn(10_000)).toBe(0);
  });

  test("refuses nobody of a turn that is no crowd", async () => {
    const scene = new Scene();
    await scene.overload();
    expect(await scene.turn(maxInFlight)).toBe(0);
  });

  test("refuses no read because writes wait", async () => {
    const scene = new Scene();
    for (let count = 0; count <= maxInFlight; count++) scene.load.wait();
    scene.sample(0);
    scene.sample(overloadAfterMs);
    expect(scene.changes).toEqual([true]);
    expect([await scene.turn(maxInFlight, false), await scene.turn(refuseOneIn, true)]).toEqual([0, 1]);
    expect(await scene.turn(maxInFlight + refuseOneIn, false)).toBe(1);
  });

  test("refuses all writes, and no read, once as many wait as may", async () => {
    const scene = new Scene();
    for (let count = 0; count < mostWaiting; count++) scene.load.wait();
    expect([await scene.turn(100), await scene.turn(100, false)]).toEqual([100, 0]);
    scene.load.endWait();
    expect(await scene.turn(100)).toBe(0);
  });

  test("sends the refused away for different times, a few seconds at the most", () => {
    const { load } = new Scene();
    const times = Array.from({ length: 100 }, () => load.retryAfter());
    expect(new Set(times)).toEqual(new Set([1, 2, 3, 4]));
  });
});

test("a turn that has lasted long enough leaves further requests to the next one", async () => {
  const { load } = new Scene();
  load.begin(1_000, false);
  for (let index = 0; index < 2 * maxInFlight; index++) {
    expect(load.turnFor(1_000 + longestTurn, { connection: `early ${index}` })).toBeUndefined();
  }
  const late = Array.from({ length: maxInFlight + 1 }, (_, index) =>
    load.turnFor(1_001 + longestTurn, { connection: `late ${index}` }),
  );
  expect(late.findIndex((turn) => turn !== undefined)).toBe(maxInFlight);
  let hasCome = false;
  const next = late.at(-1)?.then(() => (hasCome = true));
  await Promise.resolve();
  expect(hasCome).toBe(false);
  await next;
  load.begin(2_000, false);
  expect(load.turnFor(2_000, { connection: "next" })).toBeUndefined();
});

test("a turn that lasts because few connections ask for much leaves nothing to the next one", () => {
  const { load } = new Scene();
  load.begin(1_000, false);
  const turns = Array.from({ length: 200 * maxInFlight }, (_, index) =>
    load.turnFor(2_000 + longestTurn, { connection: String(Math.floor(index / 200)) }),
  );
  expect(turns.filter(Boolean)).toEqual([]);
});
