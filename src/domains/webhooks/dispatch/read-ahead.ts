import type { Event } from "../../events/events.schemas.ts";
import type { EventLog } from "../../events/events.store.ts";
import type { CourierParts } from "./courier-parts.ts";
import type { CourierEndpoint } from "./dispatch.store.ts";
import type { EndpointProgress } from "./endpoint-progress.ts";
import type { RedeliveryProgress } from "./redelivery-progress.ts";
import { filtersOf, subjectOf, wantedTypes } from "./subjects.ts";

/** Events read at a time. */
const PAGE = 100;

/** Reads ahead a page of events, for new events or a redelivery; undefined if there is nothing to read, or no room. */
export function readAhead(
  log: EventLog,
  endpoint: CourierEndpoint,
  progress: EndpointProgress,
): Promise<void> | undefined {
  const { window, redeliveries } = progress;
  if (window.readUpTo < endpoint.lastEventId && window.room >= PAGE) return readLog(log, endpoint, progress);
  const redelivery = redeliveries.values().find(({ isRead, window: { room } }) => !isRead && room >= PAGE);
  return redelivery && readRedelivery(log, endpoint, redelivery);
}

/** Reads a page of new events, but none after `lastEventId`: those may not be on disk yet. */
async function readLog(log: EventLog, endpoint: CourierEndpoint, progress: EndpointProgress): Promise<void> {
  const { shop, types, lastEventId } = endpoint;
  const page = await log.after(shop, progress.window.readUpTo, PAGE, { type: wantedTypes(types) });
  const { items, upTo } = partOf(page, lastEventId);
  progress.add(items, upTo);
}

async function readRedelivery(
  log: EventLog,
  { shop, types }: CourierEndpoint,
  { window, row: { kind, last_event: last } }: RedeliveryProgress,
): Promise<void> {
  const type = kind === "single" ? undefined : wantedTypes(types);
  const page = await log.after(shop, window.readUpTo, PAGE, { type });
  const { items, upTo } = partOf(page, last);
  window.add(items, upTo);
}

/** The part of a page up to the event `last`, and the last id that was read for it. */
function partOf(page: Awaited<ReturnType<EventLog["after"]>>, last: bigint): { items: Event[]; upTo: bigint } {
  const [items, next] = "refused" in page ? [[], page.first - 1n] : [page.items, page.next ?? last];
  return { items: items.filter(({ id }) => id <= last), upTo: next < last ? next : last };
}

/**
 * Continues a parked subject whose event `after` is finished. The window has skipped the events of the subject that it
 * has read since then (`EndpointProgress.add`). If there are any, the first one is parked instead of `after`. If there
 * are none, the subject is no longer parked, and the window will add its later events. There must be no `await` between
 * the comparison with `readUpTo` and the change of `progress`: the window could read on and skip another event.
 */
export async function continueSubject(
  { log, types, clock }: Pick<CourierParts, "log" | "types" | "clock">,
  endpoint: CourierEndpoint,
  progress: EndpointProgress,
  subject: string,
  after: bigint,
): Promise<void> {
  const { window } = progress;
  const filters = filtersOf(subject, endpoint.types, types);
  for (let from = after; ; ) {
    const known = window.readUpTo; // if the page has no `next`, all events up to here were read
    const page = await log.after(endpoint.shop, from, PAGE, filters);
    if ("refused" in page) {
      from = page.first - 1n; // the events before were deleted
      continue;
    }
    // The filters can also find events of other subjects.
    const next = page.items.find((event) => subjectOf(event) === subject)?.id;
    if (next !== undefined && next <= window.readUpTo) {
      return progress.park(subject, { eventId: next, attempts: 0, dueAt: clock.now() + endpoint.ahead });
    }
    from = page.next ?? known;
    if (next !== undefined || from >= window.readUpTo) return progress.unpark(subject);
  }
}
