/**
 * One kind of change in the log of a shop: the resource, and what was done to it. A type keeps its meaning
 * forever.
 */
export interface EventType {
  /** Machine-readable: the resource and a verb in the past tense, such as `pet.updated`. */
  readonly type: `${string}.${string}`;
  /** One sentence for the reader of the documentation: what has happened. */
  readonly meaning: string;
}

export function defineEvent<const E extends EventType>(event: E): E {
  return event;
}
