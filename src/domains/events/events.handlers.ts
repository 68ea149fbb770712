import type { Caller, Scope } from "../../contract/caller.ts";
import { failure, isFailure, lacksScope } from "../../contract/errors.ts";
import type { EventFilter } from "../../contract/event-filter.ts";
import { type Handlers, responseWith } from "../../contract/handler.ts";
import type { EventType } from "../../contract/operation.ts";
import { millisecondsOf } from "../../contract/schemas.ts";
import type { EventWatch } from "./event-watch.ts";
import { type eventOperations, eventsExpired, expired } from "./events.operations.ts";
import { type Expired, eventLog, type NotYetStored } from "./events.store.ts";

export function eventHandlers(
  watch: EventWatch,
  types: readonly EventType[],
  eventFilters: readonly EventFilter[],
): Handlers<ReturnType<typeof eventOperations>> {
  const scopeOf = new Map<string, Scope | undefined>(types.map(({ type, scope }) => [type, scope]));
  /** The filters of a request. They leave out the types whose scope its key lacks. */
  const filtersOf = ({ scopes }: Caller, query: { type?: readonly string[]; since?: string; until?: string }) => {
    const hidden = types.filter(({ scope }) => scope && !scopes.has(scope)).map(({ type }) => type);
    const times = { since: timeOf(query.since), until: timeOf(query.until) };
    const of = eventFilters.flatMap((filter) => {
      const id = (query as { readonly [name: string]: unknown })[filter.name];
      return id === undefined ? [] : [{ filter, id: id as bigint }];
    });
    return { type: query.type, of, ...times, ...(hidden.length > 0 && { hidden: new Set(hidden) }) };
  };

  return {
    *listEvents({ caller, query, after: position }) {
      const { shop } = caller;
      const { limit, after, sort } = query;
      const filters = filtersOf(caller, query);
      const isNewestFirst = sort === "-id";
      const [from, before] = isNewestFirst ? [after, position] : [position ?? after, undefined];
      const page = yield* eventLog.between(shop, from, before, limit, filters, sort ?? "id");
      return "refused" in page ? notStored(page) : page;
    },

    *getEvent({ caller: { shop, scopes }, params: { eventId } }) {
      const found = yield* eventLog.get(shop, eventId);
      const scope = isFailure(found) ? undefined : scopeOf.get(found.type);
      return scope && !scopes.has(scope) ? lacksScope(scope) : responseWith(found);
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
