import { isDeepStrictEqual } from "node:util";
import type { Static, TObject } from "typebox";
import type { EventType } from "../../contract/operation.ts";
import { compileSerializer, exactJson, type Serializer } from "../../contract/serialize.ts";

declare const madeByEventsOf: unique symbol;

/** The change of one resource. Its id, time and author come from the transaction. */
export interface NewEvent {
  readonly [madeByEventsOf]: true;
  readonly type: EventType;
  /** The id that a filter finds the event by: see `EventFilter.find`. */
  readonly under: bigint | null;
  /** The id of the resource; null if it is `under`. */
  readonly subjectId: string | null;
  /** The resource after the change, as JSON; null if it was deleted. */
  readonly data: string | null;
  /** The resource before the change, as a JSON Merge Patch of `data`; null for a new one. */
  readonly previous: string | null;
}

/** What an event of this type is made from: the resource `R` after the change and before it, as far as it exists. */
type StatesOf<E extends EventType, R> = [
  ...(E["data"] extends TObject ? [after: R & Static<E["data"]>] : []),
  ...(E["previous"] extends TObject ? [before: R & Static<E["previous"]>] : []),
];

/** Returns a function that makes the events of one kind of resource. */
export function eventsOf<R extends object>(
  idsOf: (resource: R) => Pick<NewEvent, "under" | "subjectId">,
): <E extends EventType>(type: E, ...states: StatesOf<E, R>) => NewEvent {
  return (type, ...states) => {
    const [one, other] = states as readonly unknown[] as readonly [R, R?];
    const [after, before] = type.data ? [one, other] : [undefined, one];
    const fields = {
      type,
      ...idsOf(one),
      data: after && type.data ? serializerOf(type.data)(after) : null,
      previous:
        before && type.previous
          ? after
            ? exactJson(differences(before, after, Object.keys(type.previous.properties)))
            : serializerOf(type.previous)(before)
          : null,
    };
    return fields as Partial<NewEvent> as NewEvent;
  };
}

const serializers = new WeakMap<TObject, Serializer>();

/** Compiles at the first event: the start does not wait for it. */
function serializerOf(schema: TObject): Serializer {
  return serializers.getOrInsertComputed(schema, () => compileSerializer(schema));
}

/** Those of the named fields of `before` that differ in `after`. A field that `before` does not have is null. */
function differences(before: object, after: object, names: Iterable<string>): object {
  // Maps, because every object has a `constructor` that is no field.
  const old = new Map<string, unknown>(Object.entries(before));
  const current = new Map(Object.entries(after));
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const [was, is] = [old.get(name), current.get(name)];
      if (isDeepStrictEqual(was, is)) return [];
      // In a merge patch, a nested object changes only the fields that it names.
      const isNested = isObject(was) && isObject(is);
      return [[name, isNested ? differences(was, is, Object.keys({ ...was, ...is })) : (was ?? null)]];
    }),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
