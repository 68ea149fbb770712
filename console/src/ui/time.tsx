import { useEffect } from "preact/hooks";
import { clockOffset } from "../service/clock.ts";
import { useRerender, useWatchable } from "../watchable.ts";
import { roughly } from "./words.ts";

let format: Intl.DateTimeFormat | undefined;
/** "21 Nov 2026, 12:00:00". The formatter is created when it is first used, because that is slow. */
const exactTime = (at: Date | number): string =>
  (format ??= new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" })).format(at);

/** "5 minutes ago", "in 2 hours", "now". */
function relativeTime(at: number, now: number): string {
  const seconds = Math.abs(at - now) / 1000;
  if (seconds < 5) return "now";
  const text = roughly(seconds);
  return at < now ? `${text} ago` : `in ${text}`;
}

/** The shop's time or real time. Renders the component again every half minute, or every second if `isCountdown`. */
function useNow({ isCountdown, isReal }: { isCountdown?: boolean; isReal?: boolean | undefined } = {}): number {
  const offset = useWatchable(clockOffset);
  const tick = useRerender();
  useEffect(() => {
    const timer = setInterval(tick, isCountdown ? 1_000 : 30_000);
    return () => clearInterval(timer);
  }, [isCountdown]);
  return Date.now() + (isReal ? 0 : offset);
}

/** Real time is used for keys, the ends of bans, the reset of limits, and requests; the shop's clock for everything else. */
interface Real {
  readonly isReal?: boolean;
}

/** A time relative to now, with the exact time on hover. */
export function Time({ at, isReal }: Real & { readonly at: string | Date }) {
  const moment = new Date(at);
  const now = useNow({ isReal });
  return (
    <time dateTime={moment.toISOString()} title={exactTime(moment)}>
      {relativeTime(+moment, now)}
    </time>
  );
}

/** The time in the shop, to the second. */
export function ExactTime() {
  return <span class="number">{exactTime(useNow({ isCountdown: true }))}</span>;
}

const two = (part: number) => String(part).padStart(2, "0");

/** The time left until another time: "4:05", or "1:02:03". */
export function Countdown({ until, isReal }: Real & { readonly until: string | Date | number }) {
  const now = useNow({ isCountdown: true, isReal });
  const seconds = Math.max(0, Math.ceil((+new Date(until) - now) / 1000));
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = seconds % 60;
  return <span class="number">{hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`}</span>;
}
