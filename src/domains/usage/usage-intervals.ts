// How requests are kept: the minutes of an hour, or the hours of a day, as one text. All times are unix seconds.
import type { ShopName } from "../../contract/caller.ts";
import { timestampOf } from "../../contract/schemas.ts";
import type { Granularity, UsageInterval } from "./usage.operations.ts";

/** Requests of one key in one minute, which is given as minutes since 1970. No operation is an empty name. */
export interface RequestCount {
  readonly shop: ShopName;
  /** Empty for all keys of the shop together. */
  readonly keyId: string;
  readonly minute: number;
  readonly operation: string;
  readonly status: number;
  readonly requests: number;
}

/** What a shop was sent in a span, of one operation and status: `3,,1` for 3 in its first part and 1 in its third. */
export interface StoredCounts {
  readonly operation: string;
  readonly status: bigint;
  readonly counts: string;
}

const MINUTE = 60;
export const HOUR = 3_600;
export const DAY = 86_400;

/** How long a span is, and its parts. */
const spans = { hour: { length: HOUR, part: MINUTE }, day: { length: DAY, part: HOUR } } as const;
export type Span = keyof typeof spans;

/** Which spans intervals are read from, how long both are, and how far back they reach. */
const reaches: Readonly<Record<Granularity, { span: Span; interval: number; reach: number }>> = {
  minute: { span: "hour", interval: MINUTE, reach: 3 * HOUR },
  hour: { span: "day", interval: HOUR, reach: 30 * DAY },
  day: { span: "day", interval: DAY, reach: 30 * DAY },
};

/** Where the intervals of a granularity come from. */
export interface History {
  readonly span: Span;
  /** Seconds of a span, and of an interval. */
  readonly length: number;
  readonly interval: number;
  /** How far back they reach, in seconds, and how many spans that touches at the most. */
  readonly reach: number;
  readonly spans: number;
}

export function historyOf(granularity: Granularity): History {
  const { span, interval, reach } = reaches[granularity];
  const { length } = spans[span];
  return { span, length, interval, reach, spans: reach / length + 1 };
}

/** The largest multiple of `unit` that is not above the value. */
export function floor(value: number, unit: number): number {
  return Math.floor(value / unit) * unit;
}

/** When the span begins that requests belong to. */
export function startOf({ minute }: RequestCount, span: Span): number {
  return floor(minute * MINUTE, spans[span].length);
}

/** The text of a span's counts, undefined for none, with requests added. */
export function withRequests(text: string | undefined, count: RequestCount, span: Span): string {
  const counts = countsIn(text);
  add(counts, count, span);
  return counts.map((requests) => requests || "").join(",");
}

/** An interval in which something was sent. */
export interface Interval {
  readonly start: number;
  requests: number;
  readonly operations: UsageInterval["operations"];
}

/**
 * The intervals of the span that begins at `start`, newest first: from what is kept of it, and from
 * `unsaved`, requests of any time that are not.
 */
export function intervalsOf(
  kept: readonly StoredCounts[],
  unsaved: readonly RequestCount[],
  { span, interval }: { readonly span: Span; readonly interval: number },
  start: number,
): Interval[] {
  const intervals = new Map<number, Interval>();
  const ofSpan = unsaved.filter((count) => startOf(count, span) === start);
  for (const { operation, status, counts } of merge(kept, ofSpan, span)) {
    const sums = new Map<number, number>();
    for (const [place, requests] of counts.entries()) {
      const begins = floor(start + place * spans[span].part, interval);
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

/** The requests in each part of a span, as it is kept. */
export function countsIn(text = ""): number[] {
  return text === "" ? [] : text.split(",").map(Number);
}

function add(counts: number[], count: RequestCount, span: Span): void {
  const place = Math.floor((count.minute * MINUTE - startOf(count, span)) / spans[span].part);
  for (let index = counts.length; index <= place; index++) counts.push(0);
  (counts[place] as number) += count.requests;
}

/** What was sent in one span, by operation and status. */
function merge(kept: readonly StoredCounts[], unsaved: readonly RequestCount[], span: Span) {
  const all = kept.map(({ operation, status, counts }) => ({
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
