import type { Scope } from "./caller.ts";

/**
 * One kind of change in the event log of a shop: the resource and the action. The meaning of a type never
 * changes.
 */
export interface EventType {
  /** Machine-readable: the resource and a verb in the past tense, such as `pet.updated`. */
  readonly type: `${string}.${string}`;
  /** One sentence for the documentation: what happened. */
  readonly meaning: string;
  /** The scope that a key needs to read such events, besides that of the operation. */
  readonly scope?: Scope;
}

export function defineEvent<const E extends EventType>(event: E): E {
  return event;
}
