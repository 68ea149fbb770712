/** A 64-bit integer of a request: a bigint, or a number that is exact. */
export type Int64 = bigint | number;
/** How 64-bit integers of responses are given. */
export type IdKind = "bigint" | "number";
export type IdOf<Ids extends IdKind> = Ids extends "number" ? number : bigint;
/** Parses JSON without rounding an integer. Fields that hold 64-bit integers are bigints, and so is any other integer above 2^53. */
export declare function parse(text: string, ids?: IdKind): unknown;
/** Writes JSON as `JSON.stringify` does, with bigints as integers, digit for digit. */
export declare function stringify(value: unknown, space?: string | number): string;
