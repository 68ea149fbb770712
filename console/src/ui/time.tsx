import { useEffect } from "preact/hooks";
import { useRerender } from "../watchable.ts";
import { roughly } from "./words.ts";

let format: Intl.DateTimeFormat | undefined;
/** "21 Nov 2026, 12:00:00", as the browser's language writes it. The formatter is created when it is first used, because that is slow. */
const exactTime = (at: Date | number): string =>
  (format ??= new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })).format(at);

/** "5 minutes ago", "in 2 hours", "now". */
function relativeTime(at: number, now: number): string {
  const seconds = Math.abs(at - now) / 1000;
  if (seconds < 5) return "now";
  const text = roughly(seconds);
  return at < now ? `${text} ago` : `in ${text}`;
}

/** Renders the component again every half minute, or every second if `isCountdown`. */
function useNow(isCountdown = false): number {
  const tick = useRerender();
  useEffect(() => {
    const timer = setInterval(tick, isCountdown ? 1_000 : 30_000);
    return () => clearInterval(timer);
  }, [isCountdown]);
  return Date.now();
}

interface TimeProps {
  readonly at: string | Date;
  /** True for "5 min" instead of "5 minutes ago". */
  readonly isShort?: boolean;
}

/** A time relative to now, with the exact time on hover. */
export function Time({ at, isShort }: TimeProps) {
  const moment = new Date(at);
  const text = relativeTime(+moment, useNow());
  return (
    <time dateTime={moment.toISOString()} title={exactTime(moment)}>
      {isShort ? text.replace(" ago", "").replace(/ (second|minute|hour|day)s?/, shorten) : text}
    </time>
  );
}

const shorten = (_: string, unit: string) => ` ${{ second: "s", minute: "min", hour: "h" }[unit] ?? "d"}`;

const two = (part: number) => String(part).padStart(2, "0");

/** The time left until another time: "4:05", "1:02:03" or "2 days". */
export function Countdown({ until }: { readonly until: string | Date | number }) {
  const now = useNow(true);
  const seconds = Math.max(0, Math.ceil((+new Date(until) - now) / 1000));
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = two(seconds % 60);
  const clock = hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
  return <span class="number">{hours < 24 ? clock : roughly(seconds)}</span>;
}
