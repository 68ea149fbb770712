import { Type } from "typebox";
import { defineError, failure, insufficientScope } from "../../contract/errors.ts";
import type { EventFilter } from "../../contract/event-filter.ts";
import { defineOperation, type EventType, type Tag } from "../../contract/operation.ts";
import { pagesOf, sortById } from "../../contract/paging.ts";
import { DateTime, Int64, MEANING } from "../../contract/schemas.ts";
import { type Event, eventSchemas, eventTypeSchema } from "./events.schemas.ts";

export const eventNotFound = defineError({
  code: "event_not_found",
  status: 404,
  meaning: "No event has this identifier.",
});
export const eventsExpired = defineError({
  code: "events_expired",
  status: 410,
  meaning: "The requested events are not stored. The message names the first or last stored event.",
  advice: "Note the id of the newest event, read the whole shop, and continue after that id.",
});

/** The failure of a request for events that have been deleted; `first` is the first one that is stored. */
export function expired({ first }: { readonly first: bigint }) {
  return failure(eventsExpired, `These events are no longer stored. The first stored event has the id ${first}.`);
}

const actor = { kind: "key", keyId: "key_1a2B3c4D5e6F7g8H", requestId: "5f0c2a91d3b7e4806c1f" } as const;
const created: Event = {
  id: 41n,
  type: "pet.created",
  at: "2026-11-21T12:00:00.000Z",
  actor,
  subject: { type: "pet", id: "7" },
  data: { id: 7, name: "Rex", categoryId: 1, status: "available" },
};
export const exampleEvent: Event = {
  id: 42n,
  type: "pet.updated",
  at: "2026-11-21T12:05:00.000Z",
  actor,
  subject: { type: "pet", id: "7" },
  data: { id: 7, name: "Rex", categoryId: 1, status: "pending" },
  previous: { status: "available" },
};

/** The operations on the log, for these types and filters of events. */
export function eventOperations(types: readonly EventType[], eventFilters: readonly EventFilter[]) {
  const { Event: schema, Events } = eventSchemas(types);
  const restricted = types.flatMap(({ type, scope }) => (scope ? [`\`${type.split(".")[0]}.*\` (\`${scope}\`)`] : []));
  const events: Tag = {
    name: "events",
    description:
      "The log of the shop: every change, who made it, and the values before it. Some types need another scope: " +
      `${[...new Set(restricted)].join(", ")}.`,
    stability: "stable",
  };
  const filters = {
    after: Type.Optional(
      Int64({
        description: "Only events with a larger `id`.",
        [MEANING]: "the id of an event; GET /events?sort=-id&limit=1 has the newest",
        examples: [6n],
      }),
    ),
    type: Type.Optional(
      Type.Array(eventTypeSchema(types), {
        description: "Only events of these types, separated by commas or in repeated parameters.",
        minItems: 1,
        maxItems: types.length,
      }),
    ),
    ...(Object.fromEntries(eventFilters.map((filter) => [filter.name, Type.Optional(filter.schema)])) as Record<
      never,
      never
    >),
    since: Type.Optional(DateTime({ description: "Only events at or after this time." })),
    until: Type.Optional(DateTime({ description: "Only events before this time." })),
  };
  const listEvents = defineOperation({
    name: "listEvents",
    method: "GET",
    path: "/events",
    tag: events,
    summary: "List events",
    aliases: ["history", "audit", "changes", "activity", "changelog"],
    description:
      "Returns the changes of the shop, oldest first, one page at a time. To follow them, send the `id` of the last " +
      "event you have seen as `after`. `petId` returns the history of an animal.\n\n" +
      "With `type` or `orderId`, a page can hold fewer than `limit` events, or none, although more follow: continue " +
      "while there is a `Link`.",
    ...pagesOf({
      what: "events",
      schema: Events,
      position: Int64({ description: "The `id` of an event.", examples: [41n] }),
      filters: {
        ...filters,
        sort: sortById("EventSort", "events"),
      },
      examples: { "An animal is added and reserved": [created, exampleEvent], "No event": [] },
    }),
    agentTools: {
      list_events: {
        does: "reads",
        takes: ["petId", "since", "until", "sort", "limit"],
        gives: "events",
        text: "List what was changed in the shop, when and by whom. With petId: the history of an animal and its orders.",
      },
    },
    errors: [eventsExpired],
  });

  const getEvent = defineOperation({
    name: "getEvent",
    method: "GET",
    path: "/events/{eventId}",
    tag: events,
    summary: "Get an event",
    description: "Returns one change of the shop.",
    params: {
      schema: Type.Object({ eventId: Int64({ description: "The identifier of the event.", examples: [7n] }) }),
      invalidError: eventNotFound,
    },
    response: { status: 200, description: "The event.", schema, examples: { "An animal is reserved": exampleEvent } },
    errors: [eventsExpired, insufficientScope],
  });

  const streamEvents = defineOperation({
    name: "streamEvents",
    method: "GET",
    path: "/events/stream",
    tag: events,
    summary: "Follow events",
    aliases: ["live", "subscribe", "sse", "websocket"],
    description:
      "Sends the changes of the shop after `Last-Event-ID` or `after`, then new ones as they happen. Without either, it " +
      "sends only new ones or, with `since`, those since then. The stream ends after at most an hour, but not at `until`. " +
      "Reconnect with the last `id` to continue without missing or repeating an event. Each connection costs one request.",
    testPanel: { disabled: "the response does not end" },
    query: Type.Object(filters),
    response: {
      status: 200,
      description:
        "The events, each as soon as it is on disk. While there are none, a comment is sent every 15 seconds.",
      schema,
      examples: { "An animal is reserved": exampleEvent },
      stream: { id: "id", event: "type" },
    },
    errors: [eventsExpired],
  });

  return [listEvents, getEvent, streamEvents] as const;
}
