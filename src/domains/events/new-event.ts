import { isDeepStrictEqual } from "node:util";
import type { TSchema } from "typebox";
import type { EventType } from "../../contract/operation.ts";
import { compileSerializer, exactJson } from "../../contract/serialize.ts";

/** The change of one resource. Its id, time and author come from the transaction. */
export interface NewEvent {
  readonly type: EventType;
  /** The animal of the event, or of the order that the event is about. */
  readonly petId: bigint | null;
  /** The id of the resource; null if it is the animal. */
  readonly subjectId: string | null;
  /** The resource after the change, as JSON; null if it was deleted. */
  readonly data: string | null;
  /** The resource before the change, as a JSON Merge Patch of `data`; null for a new one. */
  readonly previous: string | null;
}

/**
 * Returns a function that makes the events of one kind of resource, which the schema describes. It takes the resource
 * after the change (null if it was deleted) and before it (absent for a new one).
 */
export function eventsOf<R extends object>(
  schema: TSchema,
  idsOf: (resource: R) => Pick<NewEvent, "petId" | "subjectId">,
): {
  (type: EventType, after: R, before?: R): NewEvent;
  (type: EventType, after: null, before: R): NewEvent;
} {
  const serialize = compileSerializer(schema);
  return (type: EventType, after: R | null, before?: R): NewEvent => ({
    type,
    ...idsOf((after ?? before) as R),
    data: after && serialize(after),
    previous: before ? (after ? exactJson(differences(before, after)) : serialize(before)) : null,
  });
}

/** The fields of `before` that differ in `after`. A field that `before` does not have is null. */
function differences(before: object, after: object): object {
  // Maps, because every object has a `constructor` that is no field.
  const old = new Map<string, unknown>(Object.entries(before));
  const current = new Map(Object.entries(after));
  const names = [...new Set([...old.keys(), ...current.keys()])];
  return Object.fromEntries(
    names
      .filter((name) => !isDeepStrictEqual(old.get(name), current.get(name)))
      .map((name) => [name, differencesOfField(old.get(name), current.get(name))]),
  );
}

/** In a merge patch, a nested object changes only the fields that it names. */
function differencesOfField(old: unknown, current: unknown): unknown {
  return isObject(old) && isObject(current) ? differences(old, current) : (old ?? null);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
