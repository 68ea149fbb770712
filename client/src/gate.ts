import type { Clock } from "./clock.ts";
import { type ErrorFacts, RateLimitError } from "./errors.ts";
import { type Outcome, timeAtService } from "./outcome.ts";
import type { RateLimit } from "./response.ts";

/**
 * The maximum number of requests in flight. If all of them get a 429, they are too few to get the key banned, unless
 * other programs use it too.
 */
const MOST_IN_FLIGHT = 16;
/** How long the limits of a response count as current, in milliseconds. Other programs may use the key too. */
const FRESH = 1_000;
/** Requests are spread until the reset if less than this share of the limit remains. */
const LOW = 0.1;

const unknownLimits: RateLimit = { limit: 0, remaining: 0, reset: new Date(0) };

/**
 * Admits the requests of one client in order, as the limits of its key allow. The first request learns the limits. The
 * last requests of a window are spread over its remaining time. Once it is used up, or after a 429 unless it is about
 * streams, all requests wait; those that may not wait so long are refused.
 */
export type Gate = (
  operation: string,
  deadline: number,
  signal: AbortSignal,
  send: () => Promise<Outcome>,
) => Promise<Outcome>;

interface Waiter {
  readonly operation: string;
  readonly deadline: number;
  readonly go: () => void;
  readonly fail: (reason: unknown) => void;
}

type RateLimited = Omit<ErrorFacts, "operation"> & { readonly message: string };

/**
 * Opens a gate. `separateQuota` is empty for calls that count in the limits of the shop. Other calls cannot learn their
 * quota: responses show the limits of the shop.
 */
export function openGate(clock: Clock, separateQuota: string): Gate {
  let queue: Waiter[] = [];
  let inFlight = 0;
  let limits = unknownLimits;
  let resetAt = 0;
  let learntAt = 0;
  let lastAt = 0;
  let closedUntil = 0;
  let closedBy: RateLimited | undefined;
  let cancelTimer: (() => void) | undefined;

  /** Milliseconds until the first waiter may go. Undefined while it waits for a request in flight. */
  function waitOf({ deadline }: Waiter, now: number): number | undefined {
    if (now < closedUntil) return closedUntil - now;
    const { limit, remaining } = limits;
    const isLow = remaining <= limit * LOW;
    // One at a time if few requests remain or the limits are not current.
    if (inFlight >= (isLow || now - learntAt > FRESH ? 1 : Math.min(remaining, MOST_IN_FLIGHT))) return undefined;
    if (!isLow) return 0;
    const untilReset = resetAt - now;
    // Each of those that remain gets an equal share of the remaining time. A call that cannot wait for it goes at once.
    const wait = Math.max(0, remaining ? lastAt + untilReset / (remaining + 1) - now : untilReset);
    return now + wait > deadline ? 0 : wait;
  }

  /** Rejects a call whose deadline is before the gate opens. Returns nothing, so that `filter` drops it. */
  function refuse({ operation, fail }: Waiter, now: number): void {
    const retryAfter = Math.ceil((closedUntil - now) / 1000);
    const error = closedBy as RateLimited;
    fail(new RateLimitError(error.message, { ...error, operation, retryAfter }));
  }

  function admit(): void {
    cancelTimer?.();
    const now = clock.now();
    if (now < closedUntil) {
      queue = queue.filter((waiter) => waiter.deadline >= closedUntil || refuse(waiter, now));
    }
    for (let [first] = queue; first; [first] = queue) {
      const wait = waitOf(first, now);
      if (wait) cancelTimer = clock.after(wait, admit);
      if (wait !== 0) return;
      queue.shift();
      inFlight++;
      lastAt = now;
      first.go();
    }
  }

  function close(until: number, by: RateLimited): void {
    closedUntil = Math.max(closedUntil, until);
    closedBy = by;
    limits = unknownLimits;
  }

  function learn({ info, error }: Outcome): void {
    const now = clock.now();
    const rateLimit = info?.rateLimit;
    if (error?.status === 429 && error.code !== "too_many_streams") {
      close(now + (error.retryAfter ?? 1) * 1000, error);
    } else if (rateLimit && !separateQuota) {
      const { remaining, reset } = rateLimit;
      learntAt = now;
      // Responses can arrive out of order. Within a window, the one with the fewest remaining requests is the newest.
      if (+reset === +limits.reset && remaining >= limits.remaining) return;
      limits = rateLimit;
      resetAt = now + +reset - timeAtService(info.headers, now);
      if (remaining) return;
      const message = `The limit is used up until ${reset.toISOString()}.`;
      close(resetAt, { code: "rate_limit_exceeded", message, status: 429 });
    }
  }

  return async (operation, deadline, signal, send) => {
    let waiter: Waiter;
    const leave = () => {
      queue = queue.filter((other) => other !== waiter);
      waiter.fail(signal.reason);
    };
    signal.addEventListener("abort", leave);
    await new Promise<void>((go, fail) => {
      signal.throwIfAborted();
      waiter = { operation, deadline, go, fail };
      queue.push(waiter);
      admit();
    });
    signal.removeEventListener("abort", leave);
    try {
      const outcome = await send();
      learn(outcome);
      return outcome;
    } finally {
      inFlight--;
      admit();
    }
  };
}
