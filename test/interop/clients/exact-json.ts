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

/** What each client is asked to do. */
export interface ClientUnderTest {
  list(base: string, key: string): Promise<readonly Animal[]>;
  create(base: string, key: string, name: string, categoryId: bigint): Promise<Animal>;
}
