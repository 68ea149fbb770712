import { expect, test } from "bun:test";
import { assert, constantFrom, integer, property } from "fast-check";
import { DAY_MS, HOUR_MS } from "../../timing/clock.ts";
import { daysOfZone } from "./zone-days.ts";

const days = (zone: string, since: string, until: string) =>
  daysOfZone(zone, Date.parse(since), Date.parse(until))?.map(({ date, start, end }) => [
    date,
    new Date(start).toISOString().slice(0, 16),
    (end - start) / HOUR_MS,
  ]);

test.each([
  [
    "Europe/Berlin",
    "2026-10-24T22:00Z",
    "2026-10-26T23:00Z",
    [
      ["2026-10-25", "2026-10-24T22:00", 25],
      ["2026-10-26", "2026-10-25T23:00", 24],
    ],
  ],
  ["Europe/Berlin", "2026-03-28T23:00Z", "2026-03-29T22:00Z", [["2026-03-29", "2026-03-28T23:00", 23]]],
  ["Australia/Lord_Howe", "2026-10-03T13:30Z", "2026-10-04T13:00Z", [["2026-10-04", "2026-10-03T13:30", 23.5]]],
  ["Asia/Kathmandu", "2026-11-20T18:15Z", "2026-11-21T18:15Z", [["2026-11-21", "2026-11-20T18:15", 24]]],
  // There is no midnight on the day on which summer time begins.
  ["Asia/Beirut", "2026-03-28T22:00Z", "2026-03-29T21:00Z", [["2026-03-29", "2026-03-28T22:00", 23]]],
  // Samoa had no 30 December 2011.
  [
    "Pacific/Apia",
    "2011-12-30T09:00Z",
    "2011-12-30T11:00Z",
    [
      ["2011-12-29", "2011-12-30T09:00", 1],
      ["2011-12-31", "2011-12-30T10:00", 1],
    ],
  ],
  ["UTC", "2026-11-21T12:00:00.001Z", "2026-11-21T12:00:00.002Z", [["2026-11-21", "2026-11-21T12:00", 1 / HOUR_MS]]],
] as const)("%s from %s to %s", (zone, since, until, expected) => {
  expect(days(zone, since, until)).toEqual(expected as never);
});

test("there is no such zone", () => {
  expect(daysOfZone("Mars/Olympus", 0, 1)).toBeUndefined();
});

test("every moment of a span is in the day that its clock shows", () => {
  const zones = ["Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Chatham", "Africa/Cairo", "UTC"];
  const moment = integer({ min: Date.parse("2026-01-01"), max: Date.parse("2027-01-01") });
  assert(
    property(constantFrom(...zones), moment, integer({ min: 1, max: 10 * DAY_MS }), (zone, since, length) => {
      const until = since + length;
      const found = daysOfZone(zone, since, until) ?? [];
      expect([found[0]?.start, found.at(-1)?.end]).toEqual([since, until]);
      for (const [index, { date, start, end }] of found.entries()) {
        if (index > 0) expect(start).toBe(found[index - 1]?.end as number);
        for (const time of [start, (start + end) / 2, end - 1])
          expect(new Date(time).toLocaleDateString("en-CA", { timeZone: zone })).toBe(date);
      }
    }),
    { numRuns: 300 },
  );
});
