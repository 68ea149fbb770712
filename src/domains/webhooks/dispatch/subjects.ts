import type { Event } from "../../events/events.schemas.ts";
import { ALL_TYPES } from "../webhooks.schemas.ts";

const REDELIVERY = "redelivery";

/** The subject within which events are delivered in order: the animal for it and its orders, else the resource itself. */
export function subjectOf({ subject, data, previous }: Event): string {
  const petId = subject.type === "order" ? (data ?? previous)?.["petId"] : undefined;
  return petId === undefined ? `${subject.type}:${subject.id}` : `pet:${petId as bigint}`;
}

/** The subject of a redelivered event. It is unique, because redeliveries are not ordered. */
export function redeliverySubject(eventId: bigint): string {
  return `${REDELIVERY}:${eventId}`;
}

export function isRedelivery(subject: string): boolean {
  return subject.startsWith(`${REDELIVERY}:`);
}

/** The types that an endpoint wants, for the log; undefined for all. */
export function wantedTypes(types: readonly string[]): readonly string[] | undefined {
  return types.includes(ALL_TYPES) ? undefined : types;
}

/**
 * Filters that find the events of a subject in the log; they may also find events of other subjects. `types` are those
 * that an endpoint wants, `known` are all.
 */
export function filtersOf(subject: string, types: readonly string[], known: readonly string[]) {
  const [kind = "", id = ""] = subject.split(/:(.*)/);
  const wanted = wantedTypes(types);
  if (kind === "pet") return { petId: BigInt(id), type: wanted };
  return { type: (wanted ?? known).filter((type) => type.startsWith(`${kind}.`)) };
}
