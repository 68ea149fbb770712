// Generated from client/src by `npm run derive`.

import { PetstoreError } from "./errors.js";
import type { ErrorCodes } from "./operations.js";
export type { Clock } from "./clock.js";
export type { DeprecationNotice } from "./deprecation.js";
export { AuthenticationError, type ClientErrorCode, ConflictError, ConnectionError, type ErrorDetail, type ErrorFacts, InvalidRequestError, NotFoundError, PermissionError, PetstoreError, RateLimitError, ServiceError, } from "./errors.js";
export { type IdKind, type Int64, parse, stringify } from "./json.js";
export * from "./operations.js";
export type { Attempt, CallOptions, FetchedResponse, FetchInit, IfMatch, Logger, OnceOptions, Options, OutgoingRequest, } from "./options.js";
export type { Page, Pages } from "./pages.js";
export type { NoContent, RateLimit, ResponseInfo, Result } from "./response.js";
export { type VerifyOptions, verifyWebhook, WebhookVerificationError } from "./webhook.js";
/** True for an error of this operation. A `switch` over `error.code` can then be exhaustive. */
export declare function isErrorOf<Name extends keyof ErrorCodes>(error: unknown, operation: Name): error is PetstoreError<ErrorCodes[Name]>;
