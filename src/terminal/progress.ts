import { counted } from "./output.ts";

/** Milliseconds between two changes of what is shown. */
const REDRAW_INTERVAL = 100;
const WIDTH = 24;

/** Shows progress on a terminal: the amount done, the speed and the remaining time. */
export class Progress {
  readonly #show: ((line: string) => void) | undefined;
  readonly #now: () => number;
  readonly #unit: string;
  readonly #started: number;
  #shownAt = Number.NEGATIVE_INFINITY;

  /** Without `show`, nothing is displayed. `unit` is what is counted, in the singular. `now` returns milliseconds. */
  constructor(show: ((line: string) => void) | undefined, unit: string, now: () => number = () => performance.now()) {
    this.#unit = unit;
    this.#show = show;
    this.#now = now;
    this.#started = now();
  }

  /** `share` is the completed part of the work, 0 to 1; undefined if unknown, NaN (0 / 0) if there is no work. */
  report(what: string, amount: number, share: number | undefined): void {
    const isKnown = share !== undefined && !Number.isNaN(share);
    const now = this.#now();
    if (!this.#show || now - this.#shownAt < REDRAW_INTERVAL) return;
    this.#shownAt = now;
    const seconds = (now - this.#started) / 1000;
    const texts = [counted(amount, this.#unit)];
    if (seconds > 0.5) texts.push(`${Math.round(amount / seconds).toLocaleString("en")}/s`);
    if (seconds > 0.5 && share) texts.push(`${duration((seconds / share) * (1 - share))} left`);
    this.#show(`${what} ${isKnown ? `${bar(share)} ` : ""}${texts.join("  ")}`);
  }

  /** Leaves the line empty. */
  end(): void {
    this.#show?.("");
  }

  /** Seconds since it began. */
  get seconds(): number {
    return (this.#now() - this.#started) / 1000;
  }
}

function bar(share: number): string {
  const full = Math.floor(Math.min(1, share) * WIDTH);
  return `[${"█".repeat(full)}${"░".repeat(WIDTH - full)}] ${String(Math.floor(share * 100)).padStart(3)} %`;
}

/** `1:02:03`, `2:03` or `3 s`. */
function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const rest = String(whole % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}
