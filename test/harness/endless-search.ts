import { spyOn } from "bun:test";
import { eventLog } from "../../src/domains/events/events.store.ts";
import { emptyPage } from "../../src/storage/pages.ts";

/** More pages than any search of a test reads that lets the service do other work too. */
const MAX_PAGES = 2_000_000;

/** Logs in which searches find nothing and do not reach the end. */
export interface EndlessSearch extends Disposable {
  /** True if a search is still going on: it has read pages, and has let the test run before it has read very many. */
  readonly isGoingOn: boolean;
}

/** Lets reads of the log that have filters find nothing and not reach the end, as in a log that is very long. */
export function endlessSearch(): EndlessSearch {
  // oxlint-disable-next-line typescript/unbound-method -- it uses no `this`
  const read = eventLog.after;
  let pages = 0;
  const reads = spyOn(eventLog, "after").mockImplementation(function* (...parameters) {
    const [, after, , filters] = parameters;
    if (filters?.type === undefined || pages === MAX_PAGES) return yield* read(...parameters);
    pages++;
    return { ...emptyPage, next: after };
  });
  return {
    get isGoingOn() {
      return pages > 0 && pages < MAX_PAGES;
    },
    [Symbol.dispose]: () => reads.mockRestore(),
  };
}
