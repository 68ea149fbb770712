import { type Static, Type } from "typebox";
import type { Caller, Scope } from "./caller.ts";
import type { NoOthers } from "./known-keys.ts";
import { sentence } from "./messages.ts";
import { bodyLimits, RESPONSE_TIMEOUT } from "./requests.ts";
import { Int32 } from "./schemas.ts";
import { MAX_STREAMS } from "./stream.ts";

/**
 * A permanent error code. Its meaning and status never change. A code that is no longer used moves to
 * `retiredCodes` and is never reused.
 */
export interface ErrorDefinition {
  /** Machine-readable, snake_case. */
  readonly code: string;
  /** HTTP status, 400 to 599. */
  readonly status: number;
  /** One sentence for the reader of the documentation: when a client sees this code. */
  readonly meaning: string;
  /** What the client can do, for the record of the request. Undefined if the advice for the status fits. */
  readonly advice?: string;
  /** The usual `Retry-After`, in whole seconds. Undefined if there is none, or if it is different for each request. */
  readonly retryAfter?: number;
}

/** The maximum number of faults in a response. It limits the work that a hostile request can cause. */
export const MAX_FAULTS = 50;

/** One fault of an input. `path` is a JSON Pointer (RFC 6901) into `{header, query, body}` of the request. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

/**
 * A response that is an error. Handlers return it (they do not throw), so that the compiler sees
 * which errors an operation can give. `message` is public text; `retryAfter` is in whole seconds.
 */
export interface Failure<E extends ErrorDefinition = ErrorDefinition> {
  readonly error: E;
  readonly message: string;
  readonly details?: readonly Fault[];
  readonly retryAfter?: number | undefined;
  /** For `insufficientScope`: the scope that the key lacks. */
  readonly scope?: Scope;
  /** For `invalidApiKey`: the key, if it was valid once. Its shop gets the record of the request. */
  readonly key?: Pick<Caller, "keyId" | "accountId" | "shop">;
}

export function defineError<const E extends ErrorDefinition>(error: E & NoOthers<E, ErrorDefinition, "error">): E {
  return error;
}

export function failure<const E extends ErrorDefinition>(
  error: E,
  message: string,
  more?: Omit<Failure, "error" | "message">,
): Failure<E> {
  return { error, message, retryAfter: error.retryAfter, ...more };
}

/** True for a failure among what a store returns: it refuses with what the client gets. */
export function isFailure<T>(outcome: T): outcome is Extract<T, Failure> {
  return typeof outcome === "object" && outcome !== null && "error" in outcome;
}

/** The advice if nobody knows whether a request took effect. */
export const sendAgain = "Send it again. With the same Idempotency-Key, a POST or PATCH takes effect once.";

/** What to do about errors without their own advice, by status. */
const adviceByStatus: Readonly<Record<number, string>> = {
  400: "Change what the message names.",
  403: "Change the request, or use a key that is allowed to do this.",
  404: "Compare the id with a list. The resource does not exist, or belongs to another shop.",
  409: "The message says what stands in the way. Change that, or the request.",
};

/** What to do about all other failures of the service. */
const later =
  "Wait as many seconds as Retry-After says, then send it again. If it still fails, ask the operator of the service.";

/** What a client can do about an error. */
export function adviceOf({ advice, status }: Pick<ErrorDefinition, "advice" | "status">): string {
  return advice ?? adviceByStatus[status] ?? later;
}

/** The body of every error (see docs/errors.md). */
export const ErrorBody = Type.Object(
  {
    code: Type.String({ description: "Machine-readable error code. Codes are permanent." }),
    message: Type.String({ description: "Human-readable description of the error." }),
    status: Int32({ description: "The HTTP status code.", minimum: 400, maximum: 599 }),
    details: Type.Optional(
      Type.Array(
        Type.Object(
          {
            path: Type.String({
              description:
                "Where the fault is: a JSON Pointer (RFC 6901) into an object with the members `header`, `query` and " +
                "`body`.",
            }),
            message: Type.String({ description: "What is wrong there." }),
          },
          { title: "ErrorDetail", description: "One fault of a request." },
        ),
        {
          description: "The faults: with `invalid_request`, and with other codes whose meaning names `details`.",
          maxItems: MAX_FAULTS,
        },
      ),
    ),
  },
  { title: "Error", description: "The body of every error response." },
);
export type ErrorBody = Static<typeof ErrorBody>;

export const missingApiKey = defineError({
  code: "missing_api_key",
  status: 401,
  meaning: "The request has no bearer token.",
  advice: "Send the key in the header Authorization: Bearer <API_KEY>.",
});
export const invalidApiKey = defineError({
  code: "invalid_api_key",
  status: 401,
  meaning: "The bearer token is not a valid API key. It is mistyped, unknown, expired or revoked.",
  advice: "Check the key for typing mistakes, or use another: it may be revoked or expired.",
});
export const insufficientScope = defineError({
  code: "insufficient_scope",
  status: 403,
  meaning: "The API key lacks a scope that the request needs.",
  advice: "Use a key with the scope that the message names.",
});
export const accountSuspended = defineError({
  code: "account_suspended",
  status: 403,
  meaning: "The operator has suspended the account of the API key. Nothing was done.",
  advice: "Ask the operator of the service to resume the account.",
});
export const rateLimitExceeded = defineError({
  code: "rate_limit_exceeded",
  status: 429,
  meaning: "The requests allowed in the current minute or day are used up. `Retry-After` says when to continue.",
  advice: "Wait as many seconds as Retry-After says before the next request. Requests sent earlier lead to a ban.",
});
export const keyBanned = defineError({
  code: "key_banned",
  status: 429,
  meaning:
    "The API key kept sending requests after a 429 and is temporarily banned. " +
    "`Retry-After` says when the ban ends.",
  advice: "Stop every program that uses the key until the ban ends, and make it obey Retry-After.",
});
export const pathNotFound = defineError({
  code: "path_not_found",
  status: 404,
  meaning: "No operation has this path.",
  advice: "Compare the path with the reference. It follows the base URL and has no trailing slash.",
});
export const methodNotAllowed = defineError({
  code: "method_not_allowed",
  status: 405,
  meaning: "The path does not support this method. `Allow` lists the methods that it supports.",
  advice: "Use one of the methods that the message names.",
});
export const originNotAllowed = defineError({
  code: "origin_not_allowed",
  status: 403,
  meaning: "The request to `/mcp` has the `Origin` of another site.",
});
export const operationRemoved = defineError({
  code: "operation_removed",
  status: 410,
  meaning: "The operation was deprecated and its removal date has passed. `Link` names its replacement.",
  advice: "Use the operation that the message names instead.",
});
export const invalidRequest = defineError({
  code: "invalid_request",
  status: 400,
  meaning: "A header, the query or the body is invalid. `details` lists the faults.",
  advice: "Correct every field named in the details.",
});
export const requestTimeout = defineError({
  code: "request_timeout",
  status: 408,
  meaning: `The body did not arrive within ${RESPONSE_TIMEOUT / 1_000} seconds. The connection is closed.`,
  advice: "Send the whole body at once. The usual cause is a slow connection or a wrong Content-Length.",
});
export const payloadTooLarge = defineError({
  code: "payload_too_large",
  status: 413,
  meaning: `The body is larger than ${bodyLimits.bytes / 1_024} KiB, or than the operation allows.`,
  advice: "Send a smaller body, or several requests.",
});
export const unsupportedMediaType = defineError({
  code: "unsupported_media_type",
  status: 415,
  meaning:
    "The body has a content encoding, or a media type that the operation does not accept. " +
    "All operations accept `application/json`.",
  advice: "Send the media type that the message names, without a content encoding.",
});
export const idempotencyKeyReused = defineError({
  code: "idempotency_key_reused",
  status: 422,
  meaning:
    "The `Idempotency-Key` was used before with another body, query or `If-Match`, or, if the response holds a " +
    "secret, with another API key. Nothing was done.",
  advice: "Use a new Idempotency-Key for a different request.",
});
export const idempotencyKeyInUse = defineError({
  code: "idempotency_key_in_use",
  status: 409,
  meaning: "A request with this `Idempotency-Key` is still running. `Retry-After` says when to repeat the request.",
  advice: "Wait as many seconds as Retry-After says, then send the same request again.",
  retryAfter: 1,
});
export const sandboxWasReset = defineError({
  code: "sandbox_was_reset",
  status: 409,
  meaning: "The sandbox was reset while the request was waiting. Nothing was done.",
  advice: "Send it again with ids from the new sandbox. The old ids no longer exist.",
});
export const internalError = defineError({
  code: "internal_error",
  status: 500,
  meaning: "An internal error. It is logged with the `X-Request-Id` of the response.",
  advice: "Give the request id to the operator, who finds the cause in the log.",
});
export const storageUnavailable = defineError({
  code: "storage_unavailable",
  status: 503,
  meaning:
    "The store is temporarily unavailable. A change may or may not have been made. " +
    "`Retry-After` says when to try again.",
  advice: sendAgain,
  retryAfter: 1,
});
export const overloaded = defineError({
  code: "overloaded",
  status: 503,
  meaning:
    "The service is overloaded. Nothing was done, and the request costs no quota. " +
    "`Retry-After` says when to try again.",
  advice: "Wait as many seconds as Retry-After says, then send it again. It cost no quota.",
  retryAfter: 1,
});

/** Errors of streamed operations. */
export const tooManyStreams = defineError({
  code: "too_many_streams",
  status: 429,
  meaning: `The shop already has ${MAX_STREAMS} open streams in this process. \`Retry-After\` says when to try again.`,
  advice: "Close the streams that you no longer need, or wait until some end.",
  retryAfter: 5,
});
export const streamsExhausted = defineError({
  code: "streams_exhausted",
  status: 503,
  meaning: "The process has reached its maximum number of streams. `Retry-After` says when to try again.",
  retryAfter: 5,
});

/** The failure of a request because its key lacks this scope. */
export function lacksScope(scope: Scope) {
  return failure(insufficientScope, `The API key lacks the scope ${scope}.`, { scope });
}

/** The error of operations that make what cannot outlive the calling key. */
export const lifetimeExceedsKey = defineError({
  code: "lifetime_exceeds_key",
  status: 403,
  meaning:
    "The new key or webhook endpoint would outlive the calling key. Choose an earlier expiry, or call with a key that expires later.",
});

/** The error of operations that honour `If-Match`. */
export const preconditionFailed = defineError({
  code: "precondition_failed",
  status: 412,
  meaning: "The resource no longer matches `If-Match`. Nothing was changed.",
  advice: "Read the resource again, and send its new ETag as If-Match.",
});

/** The failure of a change because the resource, such as `animal`, does not match `If-Match`. */
export function versionMismatch(resource: string, id: bigint) {
  return failure(preconditionFailed, `The ${resource} ${id} no longer matches If-Match. Nothing was changed.`);
}

/** The failure of a request with at least one fault. Only the first `MAX_FAULTS` are listed. */
export function invalidInput(faults: readonly Fault[]) {
  const details = faults.slice(0, MAX_FAULTS);
  const [first] = details;
  // The validator stops at this number.
  const atLeast = faults.length >= MAX_FAULTS ? "at least " : "";
  const more = details.length > 1 ? ` (and ${atLeast}${details.length - 1} more, see details)` : "";
  const message = sentence(`The request is invalid: ${first?.path} ${first?.message}${more}`);
  return failure(invalidRequest, message, { details });
}

/** The failure of a request with a fault in its body, where `path` is. */
export function invalidBody({ path, message }: Fault) {
  return invalidInput([{ path: `/body${path}`, message }]);
}

/** Errors of the service itself, outside the handlers of operations. */
export const serviceErrors: readonly ErrorDefinition[] = [
  invalidRequest,
  missingApiKey,
  invalidApiKey,
  accountSuspended,
  insufficientScope,
  pathNotFound,
  methodNotAllowed,
  originNotAllowed,
  operationRemoved,
  requestTimeout,
  payloadTooLarge,
  unsupportedMediaType,
  idempotencyKeyInUse,
  idempotencyKeyReused,
  sandboxWasReset,
  rateLimitExceeded,
  keyBanned,
  internalError,
  overloaded,
  storageUnavailable,
];

/** Codes of earlier releases. They are never used again. */
export const retiredCodes: readonly string[] = [];
