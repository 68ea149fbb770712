import type { Fault } from "../../contract/errors.ts";
import { parseInt64 } from "../../contract/schemas.ts";
import { LAST_EVENT_ID } from "../../contract/stream.ts";

const fault: Fault = { path: `/header/${LAST_EVENT_ID}`, message: "must hold the id of an event, a whole number" };

/** The id of the last event that a client received; undefined if the header is missing or empty. */
export function readLastEventId(
  headers: Headers,
): { readonly value: bigint | undefined } | { readonly faults: Fault[] } {
  const text = headers.get(LAST_EVENT_ID);
  if (text === null || text === "") return { value: undefined };
  const value = parseInt64(text);
  return value !== undefined && value >= 0n ? { value } : { faults: [fault] };
}
