import type { Attempt, Event, Page, Petstore, PetstoreError } from "petstore-client";
import { Watchable } from "../watchable.ts";
import { invalidate, preload, type QueryInputs } from "./query.ts";
import { untilVisible } from "./visibility.ts";

/** The wait before the next attempt after a stream was refused, in milliseconds. */
const RETRY_DELAY = 5_000;

/** The length of lists of the latest events. */
export const MAX_EVENTS = 50;

/** True while the stream of events is open. */
export const isLive = new Watchable(false);
/** Changes when the log of events was replaced, as by the reset of a sandbox: ids then name other animals and orders. */
export const logNumber = new Watchable(0);

/** The connection of the current round of `followShop`. Aborting it ends the round, and the next one begins at once. */
let connection = new AbortController();
/** The end of the log, if it was read in advance. */
let prefetchedEnd: Promise<bigint> | undefined;

/** The id of the last event in the log. */
async function endOfLog(petstore: Petstore, options = {}): Promise<bigint> {
  return (await petstore.listEvents({ sort: "-id", limit: 1 }, options).page())[0]?.id ?? 0n;
}

/** The latest events. The stream keeps them up to date. */
export const latestQuery = (petstore: Petstore): QueryInputs<Page<Event>> => [
  "events?latest",
  () => petstore.listEvents({ sort: "-id", limit: MAX_EVENTS }).page(),
];

/** Reads in advance the latest events, after which the next stream begins. */
export function prefetchLatest(petstore: Petstore): void {
  const [key, load] = latestQuery(petstore);
  const latest = load();
  void preload([key, () => latest]);
  prefetchedEnd = latest.then(([last]) => last?.id ?? 0n);
  prefetchedEnd.catch(() => {}); // the stream reports it
}

/** Follows the new log of events from its end, after the log was replaced. Pages read everything again. */
export function restartAtEnd(): void {
  isLive.set(false);
  logNumber.set(logNumber.value + 1);
  connection.abort();
}

/** Notes that the stream is open, if this response opens it. The client calls it for each response. */
export function noteStream({ ok }: Response, { operation }: Attempt): void {
  if (ok && operation === "streamEvents") isLive.set(true);
}

// Over HTTP/1.1 a browser opens six connections to a host for all of its tabs, so a hidden tab must not keep one.
document.addEventListener("visibilitychange", () => document.hidden && connection.abort());

/**
 * Calls `apply` with each new event of the shop until `signal` aborts. Each round of the loop opens a connection. After a
 * lost connection, and when a hidden tab is shown again, the next round resumes after the last event.
 */
export async function followShop(
  petstore: Petstore,
  apply: (event: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  let after = 0n;
  let followed: number | undefined;
  // At once, not after the loop: by the time the loop ends, the stream of the next session may already be open, and this
  // would mark it as closed.
  signal.addEventListener("abort", () => isLive.set(false));
  while (!signal.aborted) {
    connection = new AbortController();
    const options = { signal: AbortSignal.any([signal, connection.signal]) };
    try {
      const { value } = logNumber;
      if (value !== followed) {
        const prefetched = prefetchedEnd;
        prefetchedEnd = undefined;
        after = await (prefetched ?? endOfLog(petstore, options));
        if (followed !== undefined) invalidate(""); // earlier responses may belong to the old log
        followed = value;
      }
      await untilVisible();
      for await (const event of petstore.streamEvents({ after }, { ...options, timeout: RETRY_DELAY })) {
        after = event.id;
        apply(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      isLive.set(false);
      // Another client has reset the sandbox, or the events after the last one were deleted. Then it does not wait.
      if ((error as PetstoreError).code === "events_expired") restartAtEnd();
      if (!connection.signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY));
    }
  }
}
