import type { Event } from "./events.schemas.ts";
import type { EventFilters } from "./events.store.ts";

/** A test with the same result as the filters of the log; undefined if every event passes. */
export function compileEventFilter(filters: EventFilters): ((event: Event) => boolean) | undefined {
  const { type, hidden, petId, orderId, since, until } = filters;
  const conditions: ((event: Event) => boolean)[] = [];
  if (type) conditions.push((event) => type.includes(event.type));
  if (hidden) conditions.push((event) => !hidden.has(event.type));
  if (petId !== undefined) {
    const id = String(petId);
    conditions.push((event) => petOf(event) === id);
  }
  if (orderId !== undefined) {
    const id = String(orderId);
    conditions.push(({ subject }) => subject.type === "order" && subject.id === id);
  }
  if (since !== undefined) conditions.push(({ at }) => Date.parse(at) >= since);
  if (until !== undefined) conditions.push(({ at }) => Date.parse(at) < until);
  return conditions.length === 0 ? undefined : (event) => conditions.every((holds) => holds(event));
}

/** The animal of an event, or of the order that the event is about. */
function petOf({ subject, data }: Event): string | undefined {
  if (subject.type === "pet") return subject.id;
  return subject.type === "order" ? String(data?.["petId"]) : undefined;
}
