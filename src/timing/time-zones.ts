import { DAY_MS } from "./clock.ts";

/** The part of a span in which a time zone has the same offset from UTC. Unix milliseconds; the end is exclusive. */
export interface OffsetSpan {
  readonly start: number;
  readonly end: number;
  /** What the zone's clocks show, less UTC, in milliseconds. */
  readonly offset: number;
}

/** True for the name of a zone in the IANA database that the runtime knows, whatever its case; not for an offset. */
export function isTimeZone(name: string): boolean {
  try {
    if (!/^[a-z]/i.test(name)) return false;
    zoned(name, 0);
    return true;
  } catch {
    return false;
  }
}

/** The zone whose name ends with a city; undefined if there is none. */
export function nearestZone(city: string): string | undefined {
  const end = `/${city.trim().replaceAll(" ", "_").toLowerCase()}`;
  return Intl.supportedValuesOf("timeZone").find((zone) => zone.toLowerCase().endsWith(end));
}

/** The parts of a span, in Unix milliseconds, in which a zone has the same offset. Throws `RangeError` for other zones. */
export function offsetsOf(timeZone: string, since: number, until: number): OffsetSpan[] {
  const spans: OffsetSpan[] = [];
  for (let start = since; start < until; ) {
    const moment = zoned(timeZone, start);
    const change = moment.getTimeZoneTransition("next")?.epochMilliseconds ?? until;
    const end = Math.min(change, until);
    spans.push({ start, end, offset: offsetOf(moment) });
    start = end;
  }
  return spans;
}

/** The day that the calendar of a zone shows at this time, in days since 1970. */
export function dayOf(timeZone: string, time: number): number {
  return Math.floor((time + offsetOf(zoned(timeZone, time))) / DAY_MS);
}

/** When the day of a zone began that its calendar shows at this time; not always at midnight. Unix milliseconds. */
export function startOfDay(timeZone: string, time: number): number {
  return zoned(timeZone, time).startOfDay().epochMilliseconds;
}

/** When that day ends. */
export function endOfDay(timeZone: string, time: number): number {
  return zoned(timeZone, time).startOfDay().add({ days: 1 }).startOfDay().epochMilliseconds;
}

/** In milliseconds. */
function offsetOf(moment: Temporal.ZonedDateTime): number {
  return moment.offsetNanoseconds / 1e6;
}

function zoned(timeZone: string, time: number): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timeZone);
}
