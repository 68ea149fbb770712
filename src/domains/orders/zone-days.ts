import { DAY_MS, HOUR_MS } from "../../timing/clock.ts";

/** A day of a time zone, or the part of it that lies in a span. */
export interface ZoneDay {
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** Unix milliseconds. The end is exclusive. */
  readonly start: number;
  readonly end: number;
}

/** The offsets of all time zones from UTC are multiples of this, so that their days begin at one. */
const QUARTER_HOUR_MS = 900_000;
/** No day is as long: not where summer time ends, nor where a zone repeats a day. */
const LONGEST_DAY_MS = 2 * DAY_MS + HOUR_MS;

/** The days of a time zone (IANA) from `since` to `until`, in Unix milliseconds. Undefined if there is no such zone. */
export function daysOfZone(timeZone: string, since: number, until: number): ZoneDay[] | undefined {
  const dateAt = dateIn(timeZone);
  if (!dateAt) return undefined;
  const days: ZoneDay[] = [];
  for (let start = since; start < until; ) {
    const date = dateAt(start);
    const end = Math.min(nextDay(dateAt, date, start), until);
    days.push({ date, start, end });
    start = end;
  }
  return days;
}

/** Returns a function that gives the date in a zone. */
function dateIn(timeZone: string): ((time: number) => string) | undefined {
  try {
    // `sv` writes dates as ISO 8601 does.
    const format = new Intl.DateTimeFormat("sv", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
    return (time) => format.format(time);
  } catch {
    return undefined;
  }
}

/** When the day after `date` begins: not always 24 hours later, and not always at midnight. */
function nextDay(dateAt: (time: number) => string, date: string, from: number): number {
  let [same, other] = [Math.floor(from / QUARTER_HOUR_MS), Math.ceil((from + LONGEST_DAY_MS) / QUARTER_HOUR_MS)];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (dateAt(middle * QUARTER_HOUR_MS) === date) same = middle;
    else other = middle;
  }
  return other * QUARTER_HOUR_MS;
}
