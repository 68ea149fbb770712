// Days are dates such as "2026-11-27", as the interface and fields for dates have them, in the time zone of the shop.
import { useLayoutEffect } from "preact/hooks";
import { invalidate } from "../service/query.ts";
import { useWatchable, Watchable } from "../watchable.ts";
import { FIGURES, useFigures } from "./figures.ts";

const DAY = 86_400_000;
/** How often the pages look whether the day has ended, in milliseconds. */
const LOOK_INTERVAL = 5_000;

/** The time zone of the browser; UTC if it does not know its own. */
export function browserZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return /^Etc\/Unknown$/.test(timeZone) ? "UTC" : timeZone;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** "2026-11-27 10:42:00": a time in a zone, as spreadsheets read it. */
export function localText(at: string | number, zone: string): string {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("sv", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
    formats.set(zone, format);
  }
  return format.format(new Date(at));
}

/** The day of a time in a zone. */
export const dateIn = (zone: string, at: string | number = Date.now()): string => localText(at, zone).slice(0, 10);

/** The day `days` after another. */
export const addDays = (date: string, days: number): string =>
  new Date(Date.parse(date) + days * DAY).toISOString().slice(0, 10);

/** When a day begins in a zone. Where a clock skips midnight, that is its first moment. */
export function startOf(date: string, zone: string): string {
  const midnight = Date.parse(date);
  const offsetAt = (at: number) => Date.parse(`${localText(at, zone).replace(" ", "T")}Z`) - at;
  let at = midnight - offsetAt(midnight);
  at = midnight - offsetAt(at);
  if (dateIn(zone, at) < date) at += DAY / 24;
  return new Date(at).toISOString();
}

/** A day as the browser's language writes it. */
export const dayText = (date: string, options: Intl.DateTimeFormatOptions): string =>
  new Date(date).toLocaleDateString(undefined, { ...options, timeZone: "UTC" });

/** The time zone whose days are the shop's: undefined until it is known. */
export function useZone(): string | undefined {
  const { data, error } = useFigures();
  return data?.timeZone ?? (error ? browserZone() : undefined);
}

/** The time zone whose days are meant, where it is not that of the browser. */
export function useZoneNote(): string {
  const zone = useZone();
  return zone && zone !== browserZone() ? `Days of ${zone}` : "";
}

const today = new Watchable("");

/** The shop's day; empty until its time zone is known. Pages turn at the shop's midnight by themselves. */
export function useToday(): string {
  const zone = useZone();
  useWatchable(today);
  return zone ? dateIn(zone) : "";
}

/** Looks whether the shop's day has ended, and if so, reads again what is of today. */
export function useMidnight(): void {
  const zone = useZone();
  useLayoutEffect(() => {
    if (!zone) return undefined;
    const look = () => {
      const before = today.value;
      today.set(dateIn(zone));
      if (before && before !== today.value) invalidate(FIGURES);
    };
    look();
    const timer = setInterval(look, LOOK_INTERVAL);
    return () => clearInterval(timer);
  }, [zone]);
}
