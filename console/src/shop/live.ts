import type { Event, Pet, StoreOrder } from "petstore-client";
import { WEBHOOKS } from "../developers/webhooks.ts";
import { ahead } from "../service/clock.ts";
import { onEvent } from "../service/live.ts";
import { amend, invalidate } from "../service/query.ts";
import { CATEGORIES } from "./categories.ts";
import { EVENT_LOG, petOf } from "./event-text.tsx";
import { ORDERS, showOrder } from "./orders.ts";
import { FIGURES, forgetPet, PETS, showPet } from "./pets.ts";
import { SANDBOX } from "./sandbox.ts";

/** The wait after an event before lists are read again, in milliseconds. Further events do not add reads, which cost quota. */
const PATIENCE = 2_000;
/** The length of lists of the latest events. */
const MAX_RECORDS = 50;

/** If an event is later than the page's clock by more than this, in milliseconds, the sandbox's clock was advanced. */
const LEAP = 5_000;

const outdated = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Reads again soon; in a hidden tab, when it becomes visible. */
function refreshSoon(...words: string[]): void {
  for (const word of words) outdated.add(word);
  timer ??= setTimeout(refresh, PATIENCE);
}

function refresh(): void {
  timer = undefined;
  if (document.hidden) return;
  invalidate(...outdated);
  outdated.clear();
}
document.addEventListener("visibilitychange", () => outdated.size > 0 && refreshSoon());

/** Shows the effect of an event, without a request if the event has all the data. */
onEvent((event) => {
  const { type, subject, data } = event;
  const petId = petOf(event);
  const prepend = (events: readonly Event[]) =>
    events.some(({ id }) => id === event.id) ? events : [event, ...events].slice(0, MAX_RECORDS);
  amend<readonly Event[]>("events?latest", prepend);
  if (petId !== undefined) amend<readonly Event[]>(`${PETS}/${petId}/history`, prepend);
  if (type === "pet.updated") showPet(data as unknown as Pet);
  if (type === "pet.deleted") forgetPet(BigInt(subject.id));
  if (subject.type === "order") showOrder(data as unknown as StoreOrder);
  if (type === "pet.created") refreshSoon(`${PETS}?`);
  if (subject.type === "order") refreshSoon(`${ORDERS}?`);
  if (subject.type === "category") refreshSoon(CATEGORIES);
  if (Date.parse(event.at) > Date.now() + ahead.value + LEAP) invalidate(SANDBOX);
  refreshSoon(FIGURES, EVENT_LOG, WEBHOOKS); // deliveries follow events
});
