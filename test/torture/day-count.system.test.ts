import { expect, test } from "bun:test";
import { Client } from "../harness/client.ts";
import { DayCount } from "./day-count.ts";

const QUOTA = 1_000;

/** What is said of a count that is found after a kill, where a life had counted 100 to 130 by then. */
function violationsOf(found: number, reset = "1"): string[] {
  const dayCount = new DayCount(QUOTA);
  const responseWith = (used: number, day = "1") => ({
    status: 200,
    text: "",
    headers: new Headers({ "X-RateLimit-Remaining": String(QUOTA - used), "X-RateLimit-Reset": day }),
  });
  const client = new Client("", "");
  dayCount.begin(client, responseWith(51)); // 50 of earlier lives, and the first request of this one
  client.sent = 80;
  const now = performance.now();
  client.answeredAt.push(...Array(50).fill(now - 1_500), ...Array(20).fill(now - 500));
  dayCount.killed();
  dayCount.begin(new Client("", ""), responseWith(found + 1, reset));
  return dayCount.violations;
}

test.each([100, 115, 130])("the checker accepts a count of %p", (found) => {
  expect(violationsOf(found)).toEqual([]);
});

test.each([0, 50, 99, 131])("the checker reports a count of %p", (found) => {
  expect(violationsOf(found)).toEqual([`the day's count is ${found} after a kill, not from 100 to 130`]);
});

test("a new day starts at zero", () => {
  expect(violationsOf(0, "2")).toEqual([]);
});
