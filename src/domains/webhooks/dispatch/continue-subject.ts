import type { CourierParts } from "./courier-parts.ts";
import type { CourierEndpoint } from "./dispatch.store.ts";
import type { EndpointProgress } from "./endpoint-progress.ts";
import { PAGE } from "./read-ahead.ts";
import { filtersOf, subjectOf } from "./subjects.ts";

/**
 * Continues a parked subject whose event `finished` is done. While the subject was parked, the window skipped its events
 * (`EndpointProgress.add`). Parks the first one that was skipped. If there is none, unparks the subject: the window will
 * add its later events.
 */
export async function continueSubject(
  { log, types, clock }: Pick<CourierParts, "log" | "types" | "clock">,
  endpoint: CourierEndpoint,
  progress: EndpointProgress,
  subject: string,
  finished: bigint,
): Promise<void> {
  const { window } = progress;
  const filters = filtersOf(subject, endpoint.types, types);
  let searchedUpTo = finished;
  // No `await` lies between the last comparison and `unpark`: during it, the window could skip another event.
  while (searchedUpTo < window.readUpTo) {
    const { readUpTo } = window; // before the `await`, during which the window can read on
    const page = await log.after(endpoint.shop, searchedUpTo, PAGE, filters);
    if ("refused" in page) {
      searchedUpTo = page.first - 1n; // the events before were deleted
      continue;
    }
    const next = page.items.find((event) => subjectOf(event) === subject)?.id; // the filters also find other subjects
    if (next !== undefined && next > window.readUpTo) break; // the window has not read it yet, so it will add it
    if (next !== undefined) {
      return progress.park(subject, { eventId: next, attempts: 0, dueAt: clock.now() + endpoint.ahead });
    }
    searchedUpTo = page.next ?? readUpTo;
  }
  progress.unpark(subject);
}
