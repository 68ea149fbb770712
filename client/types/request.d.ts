import type { CallOptions, IfMatch, OnceOptions, Target } from "./options.js";
/** An operation: its method, its path, and which of `body`, `query`, `list` (read by pages) and `free` (of quota) it has. */
export type OperationRow = readonly [method: string, path: string, ...parts: ("body" | "query" | "list" | "free")[]];
/** One call of an operation. */
export interface Call {
    readonly operation: string;
    readonly method: string;
    readonly path: string;
    readonly query?: object | undefined;
    readonly body?: unknown;
    readonly isFree: boolean;
}
export type AnyOptions = CallOptions & OnceOptions & IfMatch;
/** Makes the request of each attempt. All have the same `Idempotency-Key`, so the work is done once. */
export declare function makeRequest({ key, baseUrl }: Target, { method, path, query, body }: Call, { idempotencyKey, ifMatch }: AnyOptions): (signal: AbortSignal) => Request;
/** The call with these inputs, which are taken away. */
export declare function callOf(operation: string, [method, template, ...parts]: OperationRow, inputs: unknown[]): Call;
