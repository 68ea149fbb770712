// Generated from client/src by `npm run derive`.

/** A 64-bit integer in a request: a bigint or a safe integer. */
export type Int64 = bigint | number;
/** The type of 64-bit integers in responses. */
export type IdKind = "bigint" | "number";
export type IdOf<Ids extends IdKind> = Ids extends "number" ? number : bigint;
/** Parses JSON without rounding integers. 64-bit fields and all other integers above 2^53 become bigints. */
export declare function parse(text: string, ids?: IdKind): unknown;
/** Like `JSON.stringify`, but writes bigints as exact integers. */
export declare function stringify(value: unknown, space?: string | number): string;
