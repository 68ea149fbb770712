import type { Caller, Scope } from "../../contract/caller.ts";
import { failure, lacksScope } from "../../contract/errors.ts";
import { type Handlers, successOr } from "../../contract/handler.ts";
import type { EventType } from "../../contract/operation.ts";
import { millisecondsOf } from "../../contract/schemas.ts";
import type { EventWatch } from "./event-watch.ts";
import { eventNotFound, type eventOperations, eventsExpired, expired } from "./events.operations.ts";
import type { EventLog, Expired, NotYetStored } from "./events.store.ts";

export function eventHandlers(
  log: EventLog,
  watch: EventWatch,
  types: readonly EventType[],
): Handlers<ReturnType<typeof eventOperations>> {
  const scopeOf = new Map<string, Scope | undefined>(types.map(({ type, scope }) => [type, scope]));
  /** The filters of a request. They leave out the types whose scope its key lacks. */
  const filtersOf = <Q extends { since?: string; until?: string }>({ scopes }: Caller, query: Q) => {
    const hidden = types.filter(({ scope }) => scope && !scopes.has(scope)).map(({ type }) => type);
    const times = { since: timeOf(query.since), until: timeOf(query.until) };
    return { ...query, ...times, ...(hidden.length > 0 && { hidden: new Set(hidden) }) };
  };

  return {
    *listEvents({ caller, query, after: position }) {
      const { shop } = caller;
      const { limit, after, sort } = query;
      const filters = filtersOf(caller, query);
      const isNewestFirst = sort === "-id";
      const from = isNewestFirst ? after : (position ?? after);
      if (from === undefined)
        return yield* isNewestFirst ? log.before(shop, position, limit, filters) : log.first(shop, limit, filters);
      const page = yield* log.between(shop, from, isNewestFirst ? position : undefined, limit, filters, sort ?? "id");
      return "refused" in page ? notStored(page) : page;
    },

    *getEvent({ caller: { shop, scopes }, params: { eventId } }) {
      const found = yield* log.get(shop, eventId);
      const scope = typeof found === "object" && "type" in found ? scopeOf.get(found.type) : undefined;
      if (scope && !scopes.has(scope)) return lacksScope(scope);
      return successOr(found, {
        "not found": () => failure(eventNotFound, `No event has the id ${eventId}.`),
        expired,
      });
    },

    *streamEvents({ caller, query, lastEventId }) {
      const stream = yield* watch.follow(caller.shop, lastEventId ?? query.after, filtersOf(caller, query));
      return "refused" in stream ? notStored(stream) : { stream };
    },
  };
}

function notStored(page: Expired | NotYetStored) {
  if (page.refused === "expired") return expired(page);
  return failure(eventsExpired, `These events do not exist yet. The newest event has the id ${page.last}.`);
}

function timeOf(moment: string | undefined): number | undefined {
  return moment === undefined ? undefined : millisecondsOf(moment);
}
