// Generated from client/src by `npm run derive`.

import type { CallOptions, IfMatch, OnceOptions, OutgoingRequest, Target } from "./options.js";
/** One call of an operation. */
export interface Call {
    readonly operation: string;
    readonly method: string;
    /** The path with `*` for each parameter. */
    readonly path: string;
    readonly params: readonly unknown[];
    readonly query?: object | undefined;
    readonly body?: unknown;
    /** The limits it counts against. Calls with the same quota share a gate. */
    readonly quota: string;
    /** The id after which a stream resumes, empty at its start. Undefined for other calls. */
    readonly lastEventId?: string | undefined;
}
export type AnyOptions = CallOptions & OnceOptions & IfMatch;
/** Creates the request of each attempt. All have the same `Idempotency-Key`, so they take effect once. */
export declare function makeRequest({ key, baseUrl }: Target, { method, path, params, query, body, lastEventId }: Call, { idempotencyKey, ifMatch, headers: more }: AnyOptions): () => OutgoingRequest;
