import type { Event, StoreOrder } from "petstore-client";
import { FILTERED, forgetPet, PETS, showPet } from "../animals/pets.ts";
import { CATEGORIES } from "../categories/categories.ts";
import { EVENT_LOG, petOf } from "../events/event-text.tsx";
import { KEYS } from "../keys/keys.ts";
import { ORDERS, showOrder } from "../orders/orders.ts";
import { SALES } from "../sales/sales.tsx";
import { invalidate, updateCache } from "../service/query.ts";
import { onVisible } from "../service/visibility.ts";
import { FIGURES } from "../shop/figures.ts";
import { WEBHOOKS } from "../webhooks/webhooks.ts";

/** The wait after an event before lists are read again, in milliseconds. Reads cost quota, so events in that time share one. */
const REFRESH_DELAY = 2_000;

/** The length of lists of the latest events: those of an import are one line, whose number is right. */
const MOST_EVENTS = 1_000;

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
    events.some(({ id }) => id === event.id) ? events : [event, ...events].slice(0, MOST_EVENTS);
  updateCache<readonly Event[]>("events?latest", prepend);
  if (petId !== undefined) updateCache<readonly Event[]>(`${PETS}/${petId}/history`, prepend);
  if (type === "pet.updated") {
    showPet(data);
    // It may match other filters now. There is none for metadata.
    if (Object.keys(previous).join() !== "metadata") refreshSoon(FILTERED);
  }
  if (type === "pet.deleted") forgetPet(BigInt(subject.id));
  if (subject.type === "order") {
    showOrder(data as unknown as StoreOrder);
    updateCache<readonly Event[]>(`${PETS}/${petId}/history/${subject.id}`, prepend);
  }
  if (type === "pet.created") refreshSoon(`${PETS}?`);
  if (type === "pets.reassigned") refreshSoon(PETS); // about many animals
  if (subject.type === "order") refreshSoon(`${ORDERS}?`);
  if (subject.type === "key") refreshSoon(KEYS);
  if (subject.type === "category") refreshSoon(CATEGORIES, SALES); // which name categories
  if (type === "order.confirmed" || type === "order.returned") refreshSoon(SALES);
  if (type === "shop.updated") refreshSoon(""); // days and prices are others
  refreshSoon(FIGURES, EVENT_LOG, WEBHOOKS); // deliveries follow events
}
