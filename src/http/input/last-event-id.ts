import type { Fault } from "../../contract/errors.ts";
import { parseInt64 } from "../../contract/schemas.ts";
import { LAST_EVENT_ID } from "../../contract/stream.ts";

const invalid = "must hold the id of an event, a whole number";
const different = `must be the same as the header ${LAST_EVENT_ID.header} if both are sent`;

/** The id of the last event that a client received; undefined if it sends none. An empty header counts as none. */
export function readLastEventId(
  header: string | null,
  query: string | undefined,
): { readonly value: bigint | undefined } | { readonly faults: Fault[] } {
  const places = [
    { path: `/header/${LAST_EVENT_ID.header}`, text: header || undefined },
    { path: `/query/${LAST_EVENT_ID.query}`, text: query },
  ];
  const given = places.flatMap(({ path, text }) =>
    text === undefined ? [] : [{ path, value: parseInt64(text) ?? -1n }],
  );
  const faults = given.filter(({ value }) => value < 0n).map(({ path }) => ({ path, message: invalid }));
  const [first, second] = given;
  if (faults.length === 0 && second && second.value !== first?.value)
    faults.push({ path: second.path, message: different });
  return faults.length > 0 ? { faults } : { value: first?.value };
}
