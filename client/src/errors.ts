import { defined } from "./defined.ts";
import type { RateLimit } from "./response.ts";

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
export class PetstoreError<Code extends string = string> extends Error implements ErrorFacts<Code> {
  declare readonly code: Code;
  declare readonly operation: string;
  declare readonly status?: number | undefined;
  declare readonly details?: readonly ErrorDetail[] | undefined;
  declare readonly requestId?: string | undefined;
  declare readonly retryAfter?: number | undefined;
  declare readonly rateLimit?: RateLimit | undefined;
  /** What to do next. */
  declare readonly advice: string;

  constructor(message: string, facts: ErrorFacts<Code>, cause?: unknown) {
    super(message, { cause });
    Object.assign(this, defined({ advice: this.advice, ...facts }));
  }
}

/** Sets the name and advice of an error class. Minifiers rename classes, so the name is a string. */
function describe({ prototype }: { readonly prototype: PetstoreError }, name: string, advice: string): void {
  Object.assign(prototype, { name, advice });
}

/** The request is invalid. */
export class InvalidRequestError extends PetstoreError {
  static {
    describe(this, "InvalidRequestError", "Correct what the message and `details` name.");
  }
}
/** The key is missing or invalid. */
export class AuthenticationError extends PetstoreError {
  static {
    describe(this, "AuthenticationError", "Check the key.");
  }
}
/** The key is not allowed to do this. */
export class PermissionError extends PetstoreError {
  static {
    describe(this, "PermissionError", "Use a key that is allowed to do this.");
  }
}
/** The resource does not exist. */
export class NotFoundError extends PetstoreError {
  static {
    describe(this, "NotFoundError", "Check the identifier, and whether the key is for live or test data.");
  }
}
/** The request conflicts with the current state of the resource. */
export class ConflictError extends PetstoreError {
  static {
    describe(this, "ConflictError", "Read the resource again, and decide by its new state.");
  }
}
/** The limits are used up for longer than the timeout of the call, the key is banned, or too many streams are open. */
export class RateLimitError extends PetstoreError {
  static {
    describe(this, "RateLimitError", "Wait, or set a longer `timeout`.");
  }
}
/** The service failed, or did not receive the whole request in time. */
export class ServiceError extends PetstoreError {
  static {
    describe(this, "ServiceError", "Try later, or report the `requestId`.");
  }
}
/** No response arrived, or a proxy sent a redirect or a page with a status below 400 (`unexpected_response`). */
export class ConnectionError extends PetstoreError {
  static {
    describe(this, "ConnectionError", "Check `baseUrl` and the service.");
  }
}

const classOfStatus: Readonly<Record<number, new (message: string, facts: ErrorFacts) => PetstoreError>> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  408: ServiceError,
  409: ConflictError,
  410: NotFoundError,
  412: ConflictError,
  429: RateLimitError,
};

/** Creates the error for a response by its status. */
export function errorOf(message: string, facts: ErrorFacts & { readonly status: number }): PetstoreError {
  const { status } = facts;
  const Class =
    classOfStatus[status] ?? (status < 400 ? ConnectionError : status < 500 ? InvalidRequestError : ServiceError);
  return new Class(message, facts);
}
