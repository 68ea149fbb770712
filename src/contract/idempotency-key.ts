import { Type } from "typebox";
import { PATTERN_MEANING } from "./schemas.ts";

/** The header by which a client names a request, to be able to send it again (draft-ietf-httpapi-idempotency-key-header). */
export const IDEMPOTENCY_KEY = "Idempotency-Key";
/** The header that marks a replayed response. */
export const IDEMPOTENT_REPLAYED = "Idempotent-Replayed";
/** How long a response is kept, in hours. */
export const RESPONSE_LIFETIME_HOURS = 24;

/** The value of the header: a structured-field string (RFC 9651, section 3.3.3), or its content alone if that has no space. */
export const IdempotencyKey = Type.String({
  description:
    "A name of the client's choice for this request, different for each, such as a UUID. If the request is sent " +
    `again with it within ${RESPONSE_LIFETIME_HOURS} hours, nothing is done twice: the response is the first one, marked by ` +
    `\`${IDEMPOTENT_REPLAYED}\`. Double quotes around it do not belong to it.`,
  maxLength: 512, // 255 characters in quotes, each with a backslash before it
  pattern: '^(?:[!#-~][!-~]{0,254}|"(?:[ !#-\\[\\]-~]|\\\\["\\\\]){1,255}")$',
  [PATTERN_MEANING]: "1 to 255 visible ASCII characters, or ASCII characters and spaces in double quotes",
  examples: ["8e03978e-40d5-43e8-bc93-6894a57f9324"],
});
