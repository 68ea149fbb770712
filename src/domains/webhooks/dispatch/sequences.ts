import type { Event } from "../../events/events.schemas.ts";
import { ALL_TYPES } from "../webhooks.schemas.ts";

const REDELIVERY = "redelivery";

/** The sequence of an event: those of one sequence are delivered in order. An animal and its orders share one. */
export function sequenceOf({ subject, data, previous }: Event): string {
  const petId = subject.type === "order" ? (data ?? previous)?.["petId"] : undefined;
  return petId === undefined ? `${subject.type}:${subject.id}` : `pet:${petId as bigint}`;
}

/** The sequence of a redelivered event. It has only this event, because redeliveries are not ordered. */
export function redeliverySequence(eventId: bigint): string {
  return `${REDELIVERY}:${eventId}`;
}

export function isRedelivery(sequence: string): boolean {
  return sequence.startsWith(`${REDELIVERY}:`);
}

/** The SQL condition that a parked row is about events in order, and not about a redelivery. */
export const isOfEvents = `subject NOT LIKE '${REDELIVERY}:%'`;

/** The types that an endpoint wants, for the log; undefined for all. */
export function wantedTypes(types: readonly string[]): readonly string[] | undefined {
  return types.includes(ALL_TYPES) ? undefined : types;
}

/**
 * Filters that find the events of a sequence in the log; they may also find events of other sequences. `types` are
 * those that an endpoint wants, `known` are all.
 */
export function filtersOf(sequence: string, types: readonly string[], known: readonly string[]) {
  const [kind = "", id = ""] = sequence.split(/:(.*)/);
  const wanted = wantedTypes(types);
  if (kind === "pet") return { petId: BigInt(id), type: wanted };
  return { type: (wanted ?? known).filter((type) => type.startsWith(`${kind}.`)) };
}
