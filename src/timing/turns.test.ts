import { expect, test } from "bun:test";
import { ALONE_AFTER, SHARE, SHARE_ALONE, Turns } from "./turns.ts";

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

function scene() {
  let now = 0;
  const turns = new Turns(() => now);
  /** Works for some milliseconds, for which the payer is charged. */
  const work = (payer: number | undefined, milliseconds: number) => {
    const since = now;
    now += milliseconds;
    return turns.charge(payer, since);
  };
  const done: string[] = [];
  /** Work for which there is a turn, and which is then charged, after as many microtasks as a request may have. */
  const later = async (name: string, payer: number | undefined, milliseconds: number) => {
    await turns.turn(payer);
    for (let microtask = 0; microtask < 20; microtask++) await Promise.resolve();
    done.push(name);
    work(payer, milliseconds);
  };
  return { turns, work, later, done };
}

test("a shop that has used its share is put off, and no other", async () => {
  const { turns, work } = scene();
  for (let used = 0; used < SHARE; used++) {
    expect(turns.turn(1)).toBeUndefined();
    work(1, 1);
  }
  const turn = turns.turn(1);
  expect(turn).toBeInstanceOf(Promise);
  expect([turns.turn(2), turns.turn(undefined)]).toEqual([undefined, undefined]);
  await turn;
});

test("what was used beyond the share is a debt that later turns pay off", async () => {
  const { turns, work } = scene();
  work(1, 3 * SHARE);
  for (const isInDebt of [true, true, true, false]) {
    expect(turns.isInDebt(1)).toBe(isInDebt);
    await nextTurn();
  }
});

test("a shop that has been alone for a while has a larger share, until another one comes", async () => {
  const { turns, work } = scene();
  const hasMore = async () => {
    while (turns.isInDebt(1)) await nextTurn();
    await nextTurn();
    work(1, SHARE_ALONE - 1);
    return !turns.isInDebt(1);
  };
  expect(await hasMore()).toBe(false);
  work(undefined, ALONE_AFTER); // health checks and background tasks are of no shop
  expect(await hasMore()).toBe(true);
  work(2, 1);
  expect(await hasMore()).toBe(false);
});

test("work that was put off goes on in order, as much in each turn as fits, and newer work of its shop after it", async () => {
  const { work, later, done } = scene();
  work(1, SHARE);
  const all = ["a", "b", "c", "d"].map((name) => later(name, 1, SHARE / 2));
  expect(done).toEqual([]);
  await nextTurn();
  expect(done).toEqual(["a", "b"]);
  all.push(later("e", 1, 1));
  await nextTurn();
  expect(done).toEqual(["a", "b", "c", "d"]);
  await Promise.all(all);
  expect(done.at(-1)).toBe("e");
});

test("work whose turn has not come goes before newer work of its shop", async () => {
  const { work, later, done } = scene();
  for (const shop of [1, 2]) work(shop, SHARE);
  const all = [later("a1", 1, SHARE), later("a2", 2, 1)];
  await nextTurn();
  expect(done).toEqual(["a1"]); // shop 2 has time left, but this turn is over
  all.push(later("b2", 2, 1));
  await Promise.all(all);
  expect(done).toEqual(["a1", "a2", "b2"]);
});

test("short work that has begun goes on before work of its shop that has not", async () => {
  const { turns, work, later, done } = scene();
  work(1, SHARE);
  const inPieces = async (name: string, place?: "first") => {
    await later(`${name}1`, 1, SHARE);
    const next = () => {
      done.push(`${name}2`);
      work(1, SHARE);
    };
    await turns.run(1, next, place);
    await turns.pause(1, place);
    done.push(`${name}3`);
  };
  await Promise.all([inPieces("a", "first"), inPieces("b"), inPieces("c")]);
  expect(done).toEqual(["a1", "a2", "a3", "b1", "c1", "b2", "c2", "b3", "c3"]);
});

test("shops that were put off take turns, and one with debts waits until they are paid off", async () => {
  const { work, later, done } = scene();
  work(1, 2 * SHARE); // one turn longer in debt than the others
  work(2, SHARE);
  work(3, SHARE);
  const all = [1, 2, 3].flatMap((shop) => ["a", "b"].map((name) => later(`${name}${shop}`, shop, SHARE)));
  await Promise.all(all);
  expect(done).toEqual(["a2", "a1", "a3", "b2", "b1", "b3"]);
});

test("a pause lets others go first, also those that have time left", async () => {
  const { turns, later, done } = scene();
  const paused = turns.pause(1).then(() => done.push("paused"));
  await later("other", 2, 1);
  await paused;
  expect(done).toEqual(["other", "paused"]);
});

test("after a pause, work goes on in another turn, although its shop has time left", async () => {
  const { turns, work, done } = scene();
  const pieces = (async () => {
    for (const piece of ["a", "b", "c"]) {
      done.push(piece);
      work(1, 1);
      await turns.pause(1);
    }
  })();
  for (const sofar of [["a"], ["a", "b"], ["a", "b", "c"]]) {
    expect(done).toEqual(sofar);
    await nextTurn();
  }
  await pieces;
});

test("no time is charged twice, and an error is charged like work", async () => {
  const { turns, work } = scene();
  const charged = [work(1, 2)];
  charged.push(turns.charge(2, 0)); // a piece of work that encloses the one before
  expect(charged).toEqual([2, 0]);
  const failing = turns.run(1, () => {
    work(2, SHARE); // somebody else's work
    throw new Error("No.");
  });
  expect(await failing.catch(String)).toBe("Error: No.");
  expect([turns.isInDebt(1), turns.isInDebt(2)]).toEqual([false, true]);
});
