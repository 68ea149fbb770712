import { Type } from "typebox";
import { PATTERN_MEANING } from "./schemas.ts";

/** How much of a body is read. */
export interface BodyLimits {
  /** The largest body, in bytes. */
  readonly bytes: number;
  /** The maximum number of values of all levels: parsing many costs far more than their bytes. */
  readonly values: number;
  /** The maximum number of backslash escapes, for the same reason. */
  readonly escapes: number;
}
/** The limits of the body of an operation that declares no others. */
export const bodyLimits: BodyLimits = { bytes: 64 * 1024, values: 150, escapes: 8_000 };
/** The maximum number of digits of a number in a body, for the same reason. */
export const DIGITS_LIMIT = 150;
/** Longest query, in characters. Many proxies accept no more. */
export const QUERY_LIMIT = 8_192;
/** The time limit for every response, in milliseconds. */
export const RESPONSE_TIMEOUT = 10_000;

/** The header with which a client makes a request safe to repeat (draft-ietf-httpapi-idempotency-key-header). */
export const IDEMPOTENCY_KEY = "Idempotency-Key";
/** The header that marks a replayed response. */
export const IDEMPOTENT_REPLAYED = "Idempotent-Replayed";
/** How long a response is stored, in hours. */
export const RESPONSE_LIFETIME_HOURS = 24;

/** The header's value: a structured-field string (RFC 9651, section 3.3.3), or only its content if that has no space. */
export const IdempotencyKey = Type.String({
  description:
    "A unique value for this request, such as a UUID. If the request is repeated with the same value within " +
    `${RESPONSE_LIFETIME_HOURS} hours, nothing is done twice: the first response is sent again, marked by ` +
    `\`${IDEMPOTENT_REPLAYED}\`. Enclosing double quotes are ignored.`,
  maxLength: 512, // 255 characters in quotes, each with a backslash before it
  pattern: '^(?:[!#-~][!-~]{0,254}|"(?:[ !#-\\[\\]-~]|\\\\["\\\\]){1,255}")$',
  [PATTERN_MEANING]: "1 to 255 visible ASCII characters, or ASCII characters and spaces in double quotes",
});

/** The header with which a request with a test key asks for an error, a delay or a closed connection. */
export const SIMULATE = "Petstore-Simulate";
/** Its value that asks for a closed connection instead of a response. */
export const DISCONNECT = "disconnect";
/** How the message of a simulated error begins. */
export const SIMULATED = "Simulated: ";
/** The longest delay that a request can ask for, in milliseconds. */
export const MAX_DELAY = 10_000;
/** The maximum number of responses of one account that a process delays at the same time. */
export const MAX_DELAYED = 20;

/** The stages of a request, in order. docs/architecture.md says what each refuses. */
export const requestStages = [
  "identify",
  "shedLoad",
  "resolve",
  "admit",
  "simulate",
  "readInput",
  "handle",
  "openStream",
] as const;
export type RequestStage = (typeof requestStages)[number];
