import type { ErrorCodes } from "./operations.js";
import type { RateLimit } from "./response.js";
/** Codes of failures for which there is no error of the service: no response arrived, or not one of the service's. */
export type ClientErrorCode = "connection_failed" | "deadline_exceeded" | "unexpected_response";
/** One fault of an invalid request. `path` is a JSON Pointer into `{header, query, body}`. */
export interface ErrorDetail {
    readonly path: string;
    readonly message: string;
}
/** What is known of a failure. */
export interface ErrorFacts<Code extends string = string> {
    /** Machine-readable, and permanent. */
    readonly code: Code;
    /** The operation that was called. */
    readonly operation: string;
    /** The HTTP status; absent where no response arrived. */
    readonly status?: number | undefined;
    /** Every fault of an invalid request. */
    readonly details?: readonly ErrorDetail[] | undefined;
    /** Identifies the request in the service's log. */
    readonly requestId?: string | undefined;
    /** In how many seconds the service may be asked again. */
    readonly retryAfter?: number | undefined;
    readonly rateLimit?: RateLimit | undefined;
}
/** A call that failed. `isErrorOf` tells the compiler which codes it can have. */
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
/** The request cannot be served as it is. */
export declare class InvalidRequestError extends PetstoreError {
}
/** The key is missing or not valid. */
export declare class AuthenticationError extends PetstoreError {
}
/** The key lacks a right. */
export declare class PermissionError extends PetstoreError {
}
/** What the request names does not exist. */
export declare class NotFoundError extends PetstoreError {
}
/** The request does not fit what the service holds at the moment. */
export declare class ConflictError extends PetstoreError {
}
/** The limits are used up for longer than the call may take, or the key is banned. */
export declare class RateLimitError extends PetstoreError {
}
/** The service failed. */
export declare class ServiceError extends PetstoreError {
}
/** No response of the service arrived. */
export declare class ConnectionError extends PetstoreError {
}
/** The error of a response, by its status. */
export declare function errorOf(message: string, facts: ErrorFacts): PetstoreError;
/** True for a failure of the operation. Then a `switch` over `error.code` can be exhaustive. */
export declare function isErrorOf<Name extends keyof ErrorCodes>(error: unknown, operation: Name): error is PetstoreError<ErrorCodes[Name]>;
