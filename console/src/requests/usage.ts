import type { GetUsageQuery, UsageCount, UsageInterval } from "petstore-client";
import type { Bar, Series } from "../ui/chart.tsx";

/** The kinds of results of requests, each with the CSS class that colours it. */
export const results: Series = [
  ["succeeded", "good"],
  ["rejected", "wait"],
  ["failed", "bad"],
];

/** How many of the requests had each result. */
export function byResult(counts: readonly UsageCount[]): number[] {
  const found = [0, 0, 0];
  for (const { status, requests } of counts) (found[status < 400 ? 0 : status < 500 ? 1 : 2] as number) += requests;
  return found;
}

/** A span of time as a chart shows it. */
export interface Span {
  readonly name: string;
  readonly granularity: GetUsageQuery["granularity"];
  /** How many intervals there are, and how long one is in milliseconds. */
  readonly count: number;
  readonly length: number;
  readonly label: Intl.DateTimeFormatOptions;
  readonly title: Intl.DateTimeFormatOptions;
}

const clock = { hour: "2-digit", minute: "2-digit" } as const;
const date = { day: "numeric", month: "short" } as const;

export const spans: Readonly<Record<string, Span>> & { readonly days: Span } = {
  days: {
    name: "2 days",
    granularity: "hour",
    count: 48,
    length: 3_600_000,
    label: { weekday: "short", ...clock },
    title: { ...date, ...clock },
  },
  month: {
    name: "30 days",
    granularity: "day",
    count: 30,
    length: 86_400_000,
    label: { ...date, timeZone: "UTC" },
    title: { ...date, timeZone: "UTC" },
  },
};

/** When a span begins. `found` are the newest intervals with requests: the clock here may be slow. */
export function startOf({ count, length }: Span, found: readonly UsageInterval[] = []): number {
  const starts = found.map(({ start }) => Date.parse(start));
  const last = Math.max(Math.floor(Date.now() / length) * length, ...starts);
  return last - (count - 1) * length;
}

/** The intervals of a span. The service leaves out empty ones, so its newest ones may begin long before the span. */
export function withinSpan(span: Span, found: readonly UsageInterval[]): UsageInterval[] {
  const first = startOf(span, found);
  return found.filter(({ start }) => Date.parse(start) >= first);
}

/** The intervals of a span, including those without requests. */
export function barsOf(span: Span, found: readonly UsageInterval[]): Bar[] {
  const { count, length, label, title } = span;
  const known = new Map(found.map((interval) => [Date.parse(interval.start), interval.operations]));
  const first = startOf(span, found);
  const short = new Intl.DateTimeFormat(undefined, label);
  const full = new Intl.DateTimeFormat(undefined, title);
  return Array.from({ length: count }, (_, index) => {
    const start = first + index * length;
    return { label: short.format(start), title: full.format(start), values: byResult(known.get(start) ?? []) };
  });
}

/** The intervals with only the operations that pass a test. */
export function withOperations(
  intervals: readonly UsageInterval[],
  matches: (count: UsageCount) => boolean,
): UsageInterval[] {
  return intervals.map((interval) => ({ ...interval, operations: interval.operations.filter(matches) }));
}

/** The totals of each operation over all intervals, the most used first. */
export function byOperation(intervals: readonly UsageInterval[]): [operation: string, counts: UsageCount[]][] {
  const found = Map.groupBy(
    intervals.flatMap(({ operations }) => operations),
    ({ operation = "" }) => operation,
  );
  return [...found].toSorted(([, one], [, other]) => requestsOf(other) - requestsOf(one));
}

export const requestsOf = (counts: readonly UsageCount[]): number =>
  counts.reduce((sum, { requests }) => sum + requests, 0);
