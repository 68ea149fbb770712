import { nextTurn } from "../../../timing/waiting.ts";
import type { CourierParts } from "./courier-parts.ts";
import type { CourierEndpoint } from "./dispatch.store.ts";
import type { EndpointProgress } from "./endpoint-progress.ts";
import { PAGE } from "./read-ahead.ts";
import { filtersOf, sequenceOf } from "./sequences.ts";

/**
 * Continues a parked sequence whose event `finished` is done. While the sequence was parked, the window skipped its
 * events (`EndpointProgress.add`). Parks the first one that was skipped. If there is none, unparks the sequence: the
 * window will add its later events.
 */
export async function continueSequence(
  { storage, log, types, clock }: Pick<CourierParts, "storage" | "log" | "types" | "clock">,
  endpoint: CourierEndpoint,
  progress: EndpointProgress,
  sequence: string,
  finished: bigint,
): Promise<void> {
  const { window } = progress;
  const filters = filtersOf(sequence, endpoint.types, types);
  let searchedUpTo = finished;
  // No `await` lies between the last comparison and `unpark`: during it, the window could skip another event.
  while (searchedUpTo < window.readUpTo) {
    const { readUpTo } = window; // before the `await`, during which the window can read on
    const page = await storage.read(log.after(endpoint.shop, searchedUpTo, PAGE, filters));
    if ("refused" in page) {
      searchedUpTo = page.first - 1n; // the events before were deleted
      continue;
    }
    const next = page.items.find((event) => sequenceOf(event) === sequence)?.id; // the filters find others too
    if (next !== undefined && next > window.readUpTo) break; // the window has not read it yet, so it will add it
    if (next !== undefined) {
      return progress.park(sequence, { eventId: next, attempts: 0, dueAt: clock.now() + endpoint.ahead });
    }
    searchedUpTo = page.next ?? readUpTo;
    if (page.next !== undefined) await nextTurn(); // the embedded store reads synchronously
  }
  progress.unpark(sequence);
}
