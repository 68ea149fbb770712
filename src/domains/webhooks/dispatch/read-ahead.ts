import { nextTurn } from "../../../timing/waiting.ts";
import type { CourierParts } from "./courier-parts.ts";
import type { CourierEndpoint } from "./dispatch.store.ts";
import type { EndpointProgress } from "./endpoint-progress.ts";
import type { EventWindow } from "./event-window.ts";
import { wantedTypes } from "./sequences.ts";

/** Events read at a time. */
export const PAGE = 100;

/** Reads ahead a page of new events or of a redelivery; undefined if there is nothing to read, or no room. */
export function readAhead(
  parts: CourierParts,
  { shop, types, lastEventId }: CourierEndpoint,
  progress: EndpointProgress,
): Promise<void> | undefined {
  const { window, redeliveries } = progress;
  const wanted = wantedTypes(types);
  if (window.readUpTo < lastEventId && window.room >= PAGE) {
    // Events after `lastEventId` may not be on disk yet.
    return readPage(parts, shop, window.readUpTo, lastEventId, wanted, progress);
  }
  const redelivery = redeliveries.values().find(({ isRead, window: { room } }) => !isRead && room >= PAGE);
  if (!redelivery) return undefined;
  const { row, window: ofRedelivery } = redelivery;
  const type = row.kind === "single" ? undefined : wanted;
  return readPage(parts, shop, ofRedelivery.readUpTo, row.last_event, type, ofRedelivery);
}

/** Reads the next page of events after the event `after` and up to the event `last`. */
async function readPage(
  { storage, log }: CourierParts,
  shop: number,
  after: bigint,
  last: bigint,
  type: readonly string[] | undefined,
  into: Pick<EventWindow, "add">,
): Promise<void> {
  const page = await storage.read(log.after(shop, after, PAGE, { type }));
  const [items, next] = "refused" in page ? [[], page.first - 1n] : [page.items, page.next ?? last];
  into.add(
    items.filter(({ id }) => id <= last),
    next < last ? next : last,
  );
  // The next page is read as soon as this one has been. Nothing waits in between: the embedded store reads synchronously.
  if (items.length < PAGE && next < last) await nextTurn();
}
