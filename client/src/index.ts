export type { Clock } from "./clock.ts";
export type { DeprecationNotice } from "./deprecation.ts";
export {
  AuthenticationError,
  type ClientErrorCode,
  ConflictError,
  ConnectionError,
  type ErrorDetail,
  type ErrorFacts,
  InvalidRequestError,
  isErrorOf,
  NotFoundError,
  PermissionError,
  PetstoreError,
  RateLimitError,
  ServiceError,
} from "./errors.ts";
export { type IdKind, type Int64, parse, stringify } from "./json.ts";
export * from "./operations.ts";
export type {
  Attempt,
  CallOptions,
  FetchedResponse,
  FetchInit,
  IfMatch,
  OnceOptions,
  Options,
  OutgoingRequest,
} from "./options.ts";
export type { Page, Pages } from "./pages.ts";
export type { NoContent, RateLimit, ResponseInfo, Result } from "./response.ts";
export { type VerifyOptions, verifyWebhook, WebhookVerificationError } from "./webhook.ts";
