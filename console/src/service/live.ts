import { type Event, type Petstore, PetstoreError } from "petstore-client";
import { Watchable } from "../watchable.ts";
import { invalidate } from "./query.ts";

/** The wait before the next attempt after a stream was refused, in milliseconds. */
const RETRY_DELAY = 5_000;

/** Whether the stream of events is open, or reconnects. */
export const isLive = new Watchable(false);

/** The id of the last event in the log. */
async function readLastEventId(petstore: Petstore, options = {}): Promise<bigint> {
  return (await petstore.listEvents({ sort: "-id", limit: 1 }, options).page())[0]?.id ?? 0n;
}

let prefetchedLastId: Promise<bigint> | undefined;
/** Reads in advance after which event the next stream begins. */
export function prefetchLastEventId(petstore: Petstore): void {
  prefetchedLastId = readLastEventId(petstore);
  prefetchedLastId.catch(() => {}); // the stream reports it
}

let stream = new AbortController();
let isNewLog = false;
/** Follows the new log of events from its end. The reset of a sandbox replaces the log. */
export function followNewLog(): void {
  isLive.set(false);
  isNewLog = true;
  stream.abort();
}

// Over HTTP/1.1 a browser opens six connections to a host for all of its tabs, so a hidden tab must not keep one.
document.addEventListener("visibilitychange", () => document.hidden && stream.abort());

const untilVisible = (): Promise<void> =>
  new Promise((resolve) => {
    const look = () => {
      if (document.hidden) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    look();
  });

/**
 * Calls `apply` with each new event of the shop until `signal` aborts. After a lost connection, and when a hidden tab is
 * shown again, it resumes after the last event.
 */
export async function followShop(
  petstore: Petstore,
  apply: (event: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  let after: bigint | undefined;
  isNewLog = false;
  // Not in the loop below, which notices later, when another session may already be live.
  signal.addEventListener("abort", () => isLive.set(false));
  while (!signal.aborted) {
    stream = new AbortController();
    const options = { signal: AbortSignal.any([signal, stream.signal]) };
    try {
      if (after === undefined || isNewLog) {
        const known = prefetchedLastId;
        prefetchedLastId = undefined;
        after = await (known ?? readLastEventId(petstore, options));
        if (isNewLog) invalidate(""); // earlier responses may belong to the old log
        isNewLog = false;
      }
      await untilVisible();
      for await (const event of petstore.streamEvents({ after }, { ...options, timeout: RETRY_DELAY })) {
        after = event.id;
        apply(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      isLive.set(false);
      // Another client has reset the sandbox, or the events after the last one were deleted.
      if (error instanceof PetstoreError && error.code === "events_expired") followNewLog();
      if (!stream.signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY));
    }
  }
}
