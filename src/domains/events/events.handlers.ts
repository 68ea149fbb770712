import { failure } from "../../contract/errors.ts";
import type { Handlers } from "../../contract/handler.ts";
import { millisecondsOf } from "../../contract/schemas.ts";
import { successOr } from "../../contract/success-or.ts";
import type { EventWatch, NotYetStored } from "./event-watch.ts";
import { eventNotFound, type eventOperations, eventsExpired, expired } from "./events.operations.ts";
import type { EventLog } from "./events.store.ts";

export function eventHandlers(log: EventLog, watch: EventWatch): Handlers<ReturnType<typeof eventOperations>> {
  return {
    listEvents: async ({ caller: { shop }, query, after: position }) => {
      const { limit, after, sort, since, until } = query;
      const filters = { ...query, since: timeOf(since), until: timeOf(until) };
      const isNewestFirst = sort === "-id";
      const from = isNewestFirst ? after : (position ?? after);
      if (from === undefined)
        return isNewestFirst ? log.before(shop, position, limit, filters) : log.first(shop, limit, filters);
      const page = isNewestFirst
        ? await log.between(shop, from, position, limit, filters)
        : await log.after(shop, from, limit, filters);
      return "refused" in page ? expired(page) : page;
    },

    getEvent: async ({ caller: { shop }, params: { eventId } }) =>
      successOr(await log.get(shop, eventId), {
        "not found": () => failure(eventNotFound, `No event has the id ${eventId}.`),
        expired,
      }),

    streamEvents: async ({ caller: { shop }, query, lastEventId }) => {
      const { after, since, until } = query;
      const filters = { ...query, since: timeOf(since), until: timeOf(until) };
      const stream = await watch.follow(shop, lastEventId ?? after, filters);
      if (!("refused" in stream)) return { stream };
      return stream.refused === "expired" ? expired(stream) : notYetStored(stream);
    },
  };
}

function notYetStored({ last }: NotYetStored) {
  return failure(eventsExpired, `These events do not exist yet. The newest event has the id ${last}.`);
}

function timeOf(moment: string | undefined): number | undefined {
  return moment === undefined ? undefined : millisecondsOf(moment);
}
