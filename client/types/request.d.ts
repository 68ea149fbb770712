import type { CallOptions, IfMatch, OnceOptions, Target } from "./options.js";
/** One call of an operation. */
export interface Call {
    readonly operation: string;
    readonly method: string;
    readonly path: string;
    readonly query?: object | undefined;
    readonly body?: unknown;
    /** Which limits it counts in: calls with the same ones share a gate. */
    readonly quota: string;
    /** Of a stream, whose response does not end: where it continues; empty at its beginning. */
    readonly lastEventId?: string | undefined;
}
export type AnyOptions = CallOptions & OnceOptions & IfMatch;
/** Makes the request of each attempt. All have the same `Idempotency-Key`, so the work is done once. */
export declare function makeRequest({ key, baseUrl }: Target, { method, path, query, body, lastEventId }: Call, { idempotencyKey, ifMatch }: AnyOptions): (signal: AbortSignal) => Request;
/** A path parameter. Nothing, or a step up, would lead to another operation. */
export declare function segment(value: unknown): string;
