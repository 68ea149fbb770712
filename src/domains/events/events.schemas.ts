import { type TSchema, Type } from "typebox";
import type { EventType } from "../../contract/operation.ts";
import { Choice, Int64, OneOf, Timestamp } from "../../contract/schemas.ts";

/** The schema of an event type. */
export function eventTypeSchema(types: readonly EventType[]) {
  const names = types.map(({ type }): string => type);
  return Choice(names, { title: "EventType", description: "The kind of resource and what was done to it." });
}

/** Who made a change. */
const EventActor = Type.Object(
  {
    kind: Choice(["key", "system", "operator"], {
      title: "EventActorKind",
      description: "`system` is the service itself, `operator` a command that its operator ran.",
    }),
    keyId: Type.Optional(Type.String({ description: "The key that was used.", examples: ["key_1a2B3c4D5e6F7g8H"] })),
    requestId: Type.Optional(
      Type.String({ description: "`X-Request-Id` of the response.", examples: ["5f0c2a91d3b7e4806c1f"] }),
    ),
  },
  { title: "EventActor", description: "Who made the change." },
);

const common = {
  id: Int64({ description: "The number of the event in the shop, from 1 without gaps.", examples: [42n] }),
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
};

/** The name of an event type in the names of schemas: `pet.created` is `PetCreated`. */
export function titleOf({ type }: EventType): string {
  return type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The schema of the events of one type. */
export function eventSchema(event: EventType) {
  const { type, meaning, data, previous } = event;
  const { id, ...others } = common;
  return Type.Object(
    {
      id,
      type: Type.Literal(type, { enum: [type] }), // some generators of clients narrow by `enum` only
      ...others,
      ...(data && { data }),
      ...(previous && { previous: data ? patchOf(previous) : previous }),
    },
    { title: `${titleOf(event)}Event`, description: meaning },
  );
}

/** The schemas of an event and of a list of events with these event types. */
export function eventSchemas(types: readonly EventType[]) {
  const Event = OneOf<Event>("type", types.map(eventSchema), {
    title: "Event",
    description:
      "A change, usually of one resource. `data` is the resource after it, absent if it was deleted. `previous` holds the " +
      "old values of changed fields; of a deleted resource, all. Later releases may send other types.",
  });
  return { Event, Events: Type.Array(Event, { title: "Events", description: "Events, sorted by `id`." }) };
}

/** The keywords of resources that a patch depends on. */
interface Shape {
  readonly title?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | TSchema;
}

/** The schema of a JSON Merge Patch (RFC 7396) that turns a resource into what it was before. */
function patchOf(schema: TSchema): TSchema {
  const { title, properties, required = [], additionalProperties } = schema as Shape;
  const options = {
    ...(title !== undefined && { title: `Previous${title}` }),
    description: "The old values of changed fields, null for a field that was absent: a JSON Merge Patch (RFC 7396).",
  };
  if (properties) {
    const fields = Object.entries(properties).map(([name, field]) => {
      const patch = patchOf(field);
      return [name, Type.Optional(required.includes(name) ? patch : orNull(patch))];
    });
    return Type.Object(Object.fromEntries(fields), options);
  }
  if (typeof additionalProperties !== "object") return schema;
  return Type.Unsafe({ ...options, type: "object", additionalProperties: orNull(additionalProperties) });
}

function orNull(schema: TSchema): TSchema {
  const { title, type, enum: values, ...others } = schema as Shape;
  return {
    ...others,
    ...(title !== undefined && { title: values ? `Previous${title}` : title }),
    type: [type, "null"],
    ...(values && { enum: [...values, null] }),
  };
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
