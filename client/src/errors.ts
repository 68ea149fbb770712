import { defined } from "./defined.ts";
import type { ErrorCodes } from "./operations.ts";
import type { RateLimit } from "./response.ts";

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

/** Describes a class of errors. Minifiers change the names of classes, so the name is text. */
function describe({ prototype }: { readonly prototype: PetstoreError }, name: string, advice: string): void {
  Object.assign(prototype, { name, advice });
}

/** The request cannot be served as it is. */
export class InvalidRequestError extends PetstoreError {
  static {
    describe(this, "InvalidRequestError", "See `details`.");
  }
}
/** The key is missing or not valid. */
export class AuthenticationError extends PetstoreError {
  static {
    describe(this, "AuthenticationError", "Check the key.");
  }
}
/** The key lacks a right. */
export class PermissionError extends PetstoreError {
  static {
    describe(this, "PermissionError", "Check the key's scopes.");
  }
}
/** What the request names does not exist. */
export class NotFoundError extends PetstoreError {
  static {
    describe(this, "NotFoundError", "Check the id.");
  }
}
/** The request does not fit what the service holds at the moment. */
export class ConflictError extends PetstoreError {
  static {
    describe(this, "ConflictError", "Read it again.");
  }
}
/** The limits are used up for longer than the call may take, or the key is banned. */
export class RateLimitError extends PetstoreError {
  static {
    describe(this, "RateLimitError", "Wait, or set a longer `timeout`.");
  }
}
/** The service failed. */
export class ServiceError extends PetstoreError {
  static {
    describe(this, "ServiceError", "Try later, or report the `requestId`.");
  }
}
/** No response of the service arrived. */
export class ConnectionError extends PetstoreError {
  static {
    describe(this, "ConnectionError", "Check `baseUrl` and the service.");
  }
}

const classOfStatus: Readonly<Record<number, new (message: string, facts: ErrorFacts) => PetstoreError>> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  410: NotFoundError,
  412: ConflictError,
  429: RateLimitError,
};

/** The error of a response, by its status. */
export function errorOf(message: string, facts: ErrorFacts): PetstoreError {
  const { status = 0 } = facts;
  const Class =
    classOfStatus[status] ?? (status < 400 ? ConnectionError : status < 500 ? InvalidRequestError : ServiceError);
  return new Class(message, facts);
}

/** True for a failure of the operation. Then a `switch` over `error.code` can be exhaustive. */
export function isErrorOf<Name extends keyof ErrorCodes>(
  error: unknown,
  operation: Name,
): error is PetstoreError<ErrorCodes[Name]> {
  return error instanceof PetstoreError && error.operation === operation;
}
