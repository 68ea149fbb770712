import { Type } from "typebox";
import type { EventType } from "../../contract/operation.ts";
import { described, Int64, Timestamp } from "../../contract/schemas.ts";

/** An object with any fields. */
const EventData = Type.Unsafe<Readonly<Record<string, unknown>>>({
  title: "EventData",
  type: "object",
  description: "Fields of a resource, which depend on the type of the event.",
  additionalProperties: true,
});

/** The schema of an event type. */
export function eventTypeSchema(types: readonly EventType[]) {
  return Type.Enum(
    types.map(({ type }): string => type),
    { title: "EventType", type: "string", description: "The kind of resource and what was done to it." },
  );
}

/** Who made a change. */
const EventActor = Type.Object(
  {
    kind: Type.Enum(["key", "system", "operator"], {
      title: "EventActorKind",
      type: "string",
      description: "`system` is the service itself, `operator` a command that its operator ran.",
    }),
    keyId: Type.Optional(Type.String({ description: "The key that was used.", examples: ["key_1a2B3c4D5e6F7g8H"] })),
    requestId: Type.Optional(
      Type.String({ description: "`X-Request-Id` of the response.", examples: ["5f0c2a91d3b7e4806c1f"] }),
    ),
  },
  { title: "EventActor", description: "Who made the change." },
);

/** The schemas of an event and of a list of events with these event types. */
export function eventSchemas(types: readonly EventType[]) {
  const Event = Type.Object(
    {
      id: Int64({ description: "The number of the event in the shop, from 1 without gaps.", examples: [42n] }),
      type: eventTypeSchema(types),
      at: Timestamp({ description: "When the change was made, never earlier than the previous event." }),
      actor: EventActor,
      subject: Type.Object(
        {
          type: Type.String({ description: "The first part of the event's `type`.", examples: ["pet"] }),
          id: Type.String({
            description: "The identifier of the resource, as text. `pets.reassigned`: the old category.",
            examples: ["7"],
          }),
        },
        { title: "EventSubject", description: "The resource that was changed." },
      ),
      data: Type.Optional(described(EventData, "The resource after the change. Absent if it was deleted.")),
      previous: Type.Optional(
        described(
          EventData,
          "The old values of the changed fields, null for a field that was absent: a JSON Merge Patch (RFC 7396) that turns `data` into the resource before. All fields if it was deleted.",
        ),
      ),
    },
    { title: "Event", description: "A change, usually of one resource." },
  );
  return { Event, Events: Type.Array(Event, { title: "Events", description: "Events, sorted by `id`." }) };
}

/** An event as the API returns it. */
export interface Event {
  readonly id: bigint;
  readonly type: string;
  readonly at: string;
  readonly actor: {
    readonly kind: "key" | "system" | "operator";
    readonly keyId?: string;
    readonly requestId?: string;
  };
  readonly subject: { readonly type: string; readonly id: string };
  readonly data?: Readonly<Record<string, unknown>>;
  readonly previous?: Readonly<Record<string, unknown>>;
}
