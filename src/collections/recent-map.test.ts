import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { RecentMap } from "./recent-map.ts";

test("a map never returns a value that was not set last, and never exceeds its capacity", () => {
  const step = fc.record({ key: fc.nat(30), isSet: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 300 }), (capacity, steps) => {
      const map = new RecentMap<number, number>(capacity);
      const last = new Map<number, number>();
      for (const [index, { key, isSet }] of steps.entries()) {
        if (isSet) {
          map.set(key, index);
          last.set(key, index);
        } else expect([undefined, last.get(key)]).toContain(map.get(key));
        expect(map.size).toBeLessThanOrEqual(capacity + 1); // an odd capacity is rounded up
      }
    }),
  );
});

test("a map keeps the most recently used half of its capacity", () => {
  const map = new RecentMap<number, number>(10);
  map.set(0, 0);
  for (let key = 1; key < 1_000; key++) {
    map.set(key, key);
    expect(map.get(0)).toBe(0);
    for (let recent = Math.max(1, key - 3); recent <= key; recent++) expect(map.get(recent)).toBe(recent);
  }
});
