import { expect, test } from "bun:test";
import { PageReads } from "./page-reads.ts";

/** How many pages of a shop begin together. */
function atOnce(pages: PageReads, limit: number): number {
  let begun = 0;
  const query = () => {
    begun++;
    return new Promise<void>(() => {});
  };
  for (let page = 0; page < 1_000; page++) void pages.run(1, limit, query);
  return begun;
}

test.each([
  ["no rows", 0, 0.01],
  ["one row each", 1, 0.02],
  ["many rows", 21, 0.03],
])("after a page that was slow by accident, pages with %s are soon read together", (_, rows, milliseconds) => {
  const slowly = new PageReads();
  slowly.used(1, 1, 30);
  expect(atOnce(slowly, 21)).toBe(1);
  const again = new PageReads();
  again.used(1, 1, 30);
  for (let page = 0; page < 50; page++) again.used(1, rows, milliseconds);
  expect(atOnce(again, 21)).toBeGreaterThanOrEqual(10);
});
