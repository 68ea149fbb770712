import type { Event, Pet, StoreOrder } from "petstore-client";
import { WEBHOOKS } from "../developers/webhooks.ts";
import { clockOffset } from "../service/clock.ts";
import { invalidate, updateCache } from "../service/query.ts";
import { onVisible } from "../service/visibility.ts";
import { CATEGORIES } from "./categories.ts";
import { EVENT_LOG, petOf } from "./event-text.tsx";
import { ORDERS, showOrder } from "./orders.ts";
import { FIGURES, FILTERED, forgetPet, PETS, showPet } from "./pets.ts";
import { SANDBOX } from "./sandbox.ts";

/** The wait after an event before lists are read again, in milliseconds. Reads cost quota, so events in that time share one. */
const REFRESH_DELAY = 2_000;
/** The length of lists of the latest events. */
const MAX_EVENTS = 50;

/** If an event is later than the page's clock by more than this, in milliseconds, the sandbox's clock was advanced. */
const CLOCK_TOLERANCE = 5_000;

const outdated = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Reads data again soon. A hidden tab does so when it becomes visible. */
function refreshSoon(...prefixes: string[]): void {
  for (const prefix of prefixes) outdated.add(prefix);
  timer ??= setTimeout(refresh, REFRESH_DELAY);
}

function refresh(): void {
  timer = undefined;
  if (document.hidden) return;
  invalidate(...outdated);
  outdated.clear();
}
onVisible(() => outdated.size > 0 && refreshSoon());

/** Shows the effect of an event, without a request if the event has all the data. */
export function applyEvent(event: Event): void {
  const { type, subject, data, previous } = event;
  const petId = petOf(event);
  const prepend = (events: readonly Event[]) =>
    events.some(({ id }) => id === event.id) ? events : [event, ...events].slice(0, MAX_EVENTS);
  updateCache<readonly Event[]>("events?latest", prepend);
  if (petId !== undefined) updateCache<readonly Event[]>(`${PETS}/${petId}/history`, prepend);
  if (type === "pet.updated") {
    showPet(data as unknown as Pet);
    // It may match other filters now. There is none for metadata.
    if (Object.keys(previous ?? {}).join() !== "metadata") refreshSoon(FILTERED);
  }
  if (type === "pet.deleted") forgetPet(BigInt(subject.id));
  if (subject.type === "order") showOrder(data as unknown as StoreOrder);
  if (type === "pet.created") refreshSoon(`${PETS}?`);
  if (type === "pets.reassigned") refreshSoon(PETS); // about many animals
  if (subject.type === "order") refreshSoon(`${ORDERS}?`);
  if (subject.type === "category") refreshSoon(CATEGORIES);
  if (Date.parse(event.at) > Date.now() + clockOffset.value + CLOCK_TOLERANCE) invalidate(SANDBOX);
  refreshSoon(FIGURES, EVENT_LOG, WEBHOOKS); // deliveries follow events
}
