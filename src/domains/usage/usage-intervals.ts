// How counts of requests are stored: the minutes of an hour, or the hours of a day, as one text. All times are in Unix
// seconds, except `minute`.
import type { ShopName } from "../../contract/caller.ts";
import { timestampOf } from "../../contract/schemas.ts";
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from "../../timing/clock.ts";
import type { Granularity, UsageInterval } from "./usage.operations.ts";

/** Requests in one minute of one key, or of all keys of a shop together. */
export interface RequestCount {
  readonly shop: ShopName;
  /** Empty for the sum of all keys of the shop. */
  readonly keyId: string;
  /** In minutes since 1970. */
  readonly minute: number;
  /** Empty if no operation matched. */
  readonly operation: string;
  readonly status: number;
  readonly requests: number;
}

/**
 * The requests of a shop or a key in a span, by operation and status: `3,,1` means 3 in the first part of the span and 1
 * in the third.
 */
export interface StoredCounts {
  readonly operation: string;
  readonly status: bigint;
  readonly counts: string;
}

/**
 * A span is the hour or the day of one stored row, which has a count for each of its parts: minutes or hours. Lengths are
 * in seconds.
 */
const spans = {
  hour: { length: HOUR_SECONDS, part: MINUTE_SECONDS },
  day: { length: DAY_SECONDS, part: HOUR_SECONDS },
} as const;
export type Span = keyof typeof spans;

/** For each granularity: the spans that it is read from, the length of its intervals, and how far back they reach. */
const sources: Readonly<Record<Granularity, { span: Span; interval: number; reach: number }>> = {
  minute: { span: "hour", interval: MINUTE_SECONDS, reach: 3 * HOUR_SECONDS },
  hour: { span: "day", interval: HOUR_SECONDS, reach: 30 * DAY_SECONDS },
  day: { span: "day", interval: DAY_SECONDS, reach: 30 * DAY_SECONDS },
};

/** Where the intervals of a granularity are stored, and how far back they go. */
export interface StoredIntervals {
  readonly span: Span;
  /** The length of a span, in seconds. */
  readonly length: number;
  /** The length of an interval, in seconds. It can be longer than a part of a span. */
  readonly interval: number;
  /** How far back the intervals reach, in seconds. */
  readonly reach: number;
  /** The maximum number of spans that `reach` overlaps. */
  readonly spanCount: number;
}

export function storedIntervalsOf(granularity: Granularity): StoredIntervals {
  const { span, interval, reach } = sources[granularity];
  return { span, length: lengthOf(span), interval, reach, spanCount: reach / lengthOf(span) + 1 };
}

/** The largest multiple of `unit` up to the value. */
export function floorTo(value: number, unit: number): number {
  return Math.floor(value / unit) * unit;
}

/** The length of a span, in seconds. */
export function lengthOf(span: Span): number {
  return spans[span].length;
}

/** The start of the span that the requests belong to. */
export function startOf({ minute }: RequestCount, span: Span): number {
  return floorTo(minute * MINUTE_SECONDS, lengthOf(span));
}

/** Adds requests to the text of a span's counts; undefined if it has none yet. */
export function withRequests(text: string | undefined, count: RequestCount, span: Span): string {
  const counts = countsIn(text);
  add(counts, count, span);
  return counts.map((requests) => requests || "").join(",");
}

/** An interval with at least one request. */
export interface Interval {
  readonly start: number;
  requests: number;
  readonly operations: UsageInterval["operations"];
}

/**
 * The intervals of the span that starts at `start`, newest first. They include the stored counts and those of
 * `unsaved`, which may have requests of any time.
 */
export function intervalsOf(
  stored: readonly StoredCounts[],
  unsaved: readonly RequestCount[],
  { span, interval }: { readonly span: Span; readonly interval: number },
  start: number,
): Interval[] {
  const intervals = new Map<number, Interval>();
  const ofSpan = unsaved.filter((count) => startOf(count, span) === start);
  for (const { operation, status, counts } of merge(stored, ofSpan, span)) {
    const sums = new Map<number, number>();
    for (const [part, requests] of counts.entries()) {
      const begins = floorTo(start + part * spans[span].part, interval);
      if (requests > 0) sums.set(begins, (sums.get(begins) ?? 0) + requests);
    }
    for (const [begins, requests] of sums) {
      const one = intervals.get(begins) ?? { start: begins, requests: 0, operations: [] };
      intervals.set(begins, one);
      one.requests += requests;
      one.operations.push({ ...(operation === "" ? {} : { operation }), status, requests });
    }
  }
  return [...intervals.values()].toSorted((one, other) => other.start - one.start);
}

export function toUsageInterval({ start, ...rest }: Interval): UsageInterval {
  return { start: timestampOf(start * 1000), ...rest };
}

/** The stored number of requests in each part of a span. */
export function countsIn(text = ""): number[] {
  return text === "" ? [] : text.split(",").map(Number);
}

function add(counts: number[], count: RequestCount, span: Span): void {
  const part = Math.floor((count.minute * MINUTE_SECONDS - startOf(count, span)) / spans[span].part);
  for (let index = counts.length; index <= part; index++) counts.push(0);
  (counts[part] as number) += count.requests;
}

/** The requests in one span, by operation and status. */
function merge(stored: readonly StoredCounts[], unsaved: readonly RequestCount[], span: Span) {
  const all = stored.map(({ operation, status, counts }) => ({
    operation,
    status: Number(status),
    counts: countsIn(counts),
  }));
  for (const count of unsaved) {
    let own = all.find(({ operation, status }) => operation === count.operation && status === count.status);
    if (!own) {
      own = { operation: count.operation, status: count.status, counts: [] };
      all.push(own);
    }
    add(own.counts, count, span);
  }
  return all.toSorted((one, other) => compare(one.operation, other.operation) || one.status - other.status);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
