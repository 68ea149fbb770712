// Generated from client/src by `npm run derive`.

export type { Clock } from "./clock.js";
export type { DeprecationNotice } from "./deprecation.js";
export { AuthenticationError, type ClientErrorCode, ConflictError, ConnectionError, type ErrorDetail, type ErrorFacts, InvalidRequestError, isErrorOf, NotFoundError, PermissionError, PetstoreError, RateLimitError, ServiceError, } from "./errors.js";
export { type IdKind, type Int64, parse, stringify } from "./json.js";
export * from "./operations.js";
export type { Attempt, CallOptions, FetchedResponse, FetchInit, IfMatch, OnceOptions, Options, OutgoingRequest, } from "./options.js";
export type { Page, Pages } from "./pages.js";
export type { NoContent, RateLimit, ResponseInfo, Result } from "./response.js";
export { type VerifyOptions, verifyWebhook, WebhookVerificationError } from "./webhook.js";
