import { AuthenticationError, type Event, type Petstore, PetstoreError } from "petstore-client";
import { Store } from "../store.ts";
import { invalidate, reportFailure } from "./query.ts";

/** The wait before the next attempt after a stream was refused, in milliseconds. */
const PAUSE = 5_000;

/** Whether events arrive as they happen. */
export const isLive = new Store(false);

type Listener = (event: Event) => void;
const listeners = new Set<Listener>();

/** Calls `listener` with each new event of the shop. Returns a function that stops it. */
export function onEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let present = new AbortController();
/** Follows the new log from its end after the sandbox, and with it the log, was reset. */
export function followAgain(): void {
  isLive.set(false);
  present.abort();
}

/** Follows the events of the shop until the signal. After a lost connection it resumes after the last event, so none is missed. */
export async function followShop(petstore: Petstore, signal: AbortSignal): Promise<void> {
  let after: bigint | undefined;
  let isAnother = false;
  while (!signal.aborted) {
    present = new AbortController();
    const either = { signal: AbortSignal.any([signal, present.signal]) };
    try {
      if (after === undefined) {
        after = (await petstore.listEvents({ sort: "-id", limit: 1 }, either).page())[0]?.id ?? 0n;
        if (isAnother) invalidate(""); // earlier responses may belong to the old log
      }
      isLive.set(true);
      for await (const event of petstore.streamEvents({ after }, either)) {
        after = event.id;
        for (const listener of listeners) listener(event);
      }
    } catch (error) {
      if (signal.aborted) break;
      if (error instanceof AuthenticationError) {
        reportFailure(error); // the key was revoked, or has expired
        break;
      }
      isLive.set(false);
      // Another client has reset the sandbox, or the events after the last one were deleted.
      if (error instanceof PetstoreError && error.code === "events_expired") followAgain();
      isAnother = present.signal.aborted;
      if (isAnother) after = undefined;
      else await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
  isLive.set(false);
}
