// Generated from client/src by `npm run derive`.

import type { RateLimit } from "./response.js";
/** Codes of failures without an error from the service: no response arrived, or not one from the service. */
export type ClientErrorCode = "connection_failed" | "deadline_exceeded" | "unexpected_response";
/** One fault of an invalid request. `path` is a JSON Pointer into `{header, query, body}`. */
export interface ErrorDetail {
    readonly path: string;
    readonly message: string;
}
/** The properties of an error. */
export interface ErrorFacts<Code extends string = string> {
    /** Machine-readable, and permanent. */
    readonly code: Code;
    /** The operation that was called. */
    readonly operation: string;
    /** The HTTP status. Absent if no response arrived. */
    readonly status?: number | undefined;
    /** Every fault of an invalid request. */
    readonly details?: readonly ErrorDetail[] | undefined;
    /** Identifies the request in the service's log. */
    readonly requestId?: string | undefined;
    /** How many seconds to wait before the next request. */
    readonly retryAfter?: number | undefined;
    readonly rateLimit?: RateLimit | undefined;
}
/** A failed call. `isErrorOf` narrows `code` to the codes of an operation. */
export declare class PetstoreError<Code extends string = string> extends Error implements ErrorFacts<Code> {
    readonly code: Code;
    readonly operation: string;
    readonly status?: number | undefined;
    readonly details?: readonly ErrorDetail[] | undefined;
    readonly requestId?: string | undefined;
    readonly retryAfter?: number | undefined;
    readonly rateLimit?: RateLimit | undefined;
    /** What to do next. */
    readonly advice: string;
    constructor(message: string, facts: ErrorFacts<Code>, cause?: unknown);
}
/** The request is invalid. */
export declare class InvalidRequestError extends PetstoreError {
}
/** The key is missing or invalid. */
export declare class AuthenticationError extends PetstoreError {
}
/** The key is not allowed to do this. */
export declare class PermissionError extends PetstoreError {
}
/** The resource does not exist. */
export declare class NotFoundError extends PetstoreError {
}
/** The request conflicts with the current state of the resource. */
export declare class ConflictError extends PetstoreError {
}
/** The limits are used up for longer than the timeout of the call, the key is banned, or too many streams are open. */
export declare class RateLimitError extends PetstoreError {
}
/** The service failed, or did not receive the whole request in time. */
export declare class ServiceError extends PetstoreError {
}
/** No response arrived, or a proxy sent a redirect or a page with a status below 400 (`unexpected_response`). */
export declare class ConnectionError extends PetstoreError {
}
/** Creates the error for a response by its status. */
export declare function errorOf(message: string, facts: ErrorFacts & {
    readonly status: number;
}): PetstoreError;
