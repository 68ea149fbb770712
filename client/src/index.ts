import { PetstoreError } from "./errors.ts";
import type { ErrorCodes } from "./operations.ts";

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
  Logger,
  OnceOptions,
  Options,
  OutgoingRequest,
} from "./options.ts";
export type { Page, Pages } from "./pages.ts";
export type { NoContent, RateLimit, ResponseInfo, Result } from "./response.ts";
export { type VerifyOptions, verifyWebhook, WebhookVerificationError } from "./webhook.ts";

/** True for an error of this operation. A `switch` over `error.code` can then be exhaustive. */
export function isErrorOf<Name extends keyof ErrorCodes>(
  error: unknown,
  operation: Name,
): error is PetstoreError<ErrorCodes[Name]> {
  return error instanceof PetstoreError && error.operation === operation;
}
