declare global {
  interface JSON {
    /** What the library types of TypeScript still lack (ES2026). */
    rawJSON(text: string): unknown;
  }
}

/** A reviver that makes a bigint of every integer that a number cannot hold. */
export function exactValue(_key: string, value: unknown, { source }: { source?: string } = {}): unknown {
  return typeof value === "number" && !Number.isSafeInteger(value) && /^-?[0-9]+$/.test(source ?? "")
    ? BigInt(source ?? "")
    : value;
}

/** JSON text in which bigints are numbers, digit for digit. */
export function writeExactly(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? JSON.rawJSON(String(part)) : part));
}

/** A page as the test compares it, whether a client gives small integers as numbers or as bigints. */
export interface Animal {
  readonly id: bigint | number;
  readonly name: string;
  readonly categoryId: bigint | number;
}

/** What each client is asked to do, with its settings for exact integers. */
export interface ClientUnderTest {
  list(limit: number): Promise<readonly Animal[]>;
  create(name: string, categoryId: bigint): Promise<Animal>;
  /** Calls a deprecated operation. */
  read(id: bigint): Promise<Animal>;
  /** The same page without those settings. */
  listPlainly(limit: number): Promise<readonly Animal[]>;
  /** All animals of all pages, where the client has an iterator. */
  all?(limit: number): AsyncIterable<Animal>;
  /** The ids of events from the first on, where the client reads streams. */
  follow?(signal: AbortSignal): AsyncIterable<bigint>;
}

/** `base` is the base address, `key` an API key. */
export type Connect = (base: string, key: string) => ClientUnderTest;
