import { Type } from "typebox";
import { PATTERN_MEANING } from "./schemas.ts";

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
