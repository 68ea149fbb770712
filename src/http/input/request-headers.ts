import type { TSchema } from "typebox";
import { type Failure, type Fault, failure, missingApiKey, preconditionFailed } from "../../contract/errors.ts";
import { shown } from "../../contract/messages.ts";
import type { Operation } from "../../contract/operation.ts";
import { IDEMPOTENCY_KEY, IdempotencyKey } from "../../contract/requests.ts";
import { PATTERN_MEANING, parseInt64 } from "../../contract/schemas.ts";
import { compileSerializer } from "../../contract/serialize.ts";
import { LAST_EVENT_ID } from "../../contract/stream.ts";
import { entityTag } from "../response/headers.ts";

/** The value of a header that a request may have, or its faults. */
type HeaderResult<T> = { readonly value: T | undefined } | { readonly faults: Fault[] };

/** The token of a bearer credential (RFC 6750, section 2.1); undefined if it is none. */
export function bearerToken(authorization: string | null): string | undefined {
  if (authorization === null) return undefined;
  if (authorization.startsWith("Bearer ") && authorization[7] !== " ") return authorization.slice(7);
  const match = /^bearer(?: +(.*))?$/i.exec(authorization); // any letter case (RFC 9110, section 11.1)
  return match ? (match[1] ?? "") : undefined;
}

const HOW_TO_SEND = missingApiKey.advice;

/** Where other services take the key. */
const otherHeaders = ["X-API-Key", "API-Key", "X-Auth-Token", "X-Access-Token"];

/** Why a request has no bearer token. */
export function missingKeyMessage({ headers, url }: Request): string {
  const authorization = headers.get("authorization");
  if (!authorization) {
    const other = otherHeaders.find((name) => headers.has(name));
    const place = other ? `the header ${other}` : url.includes("psk_") ? "the address" : undefined;
    return `No API key was sent${place ? `: one in ${place} is not read` : ""}. ${HOW_TO_SEND}`;
  }
  const [, scheme] = /^([A-Za-z-]{1,20}) /.exec(authorization) ?? [];
  return scheme
    ? `The header Authorization has the scheme ${scheme}, which is not supported. ${HOW_TO_SEND}`
    : `The header Authorization does not begin with Bearer and a space. ${HOW_TO_SEND}`;
}

/** The declared length of a body: bytes, or why it is unknown. */
export type BodyLength = number | "chunked" | "malformed";

/**
 * The length of a request's body according to its headers; 0 if there is no body. `Content-Length` must be one
 * decimal number (RFC 9110, section 8.6). The runtime joins repeated headers, and `Number` accepts spaces, signs,
 * hexadecimal and exponents, and returns NaN for a list.
 */
export function bodyLength(headers: Headers): BodyLength {
  const text = headers.get("content-length");
  if (text === null) return headers.has("transfer-encoding") ? "chunked" : 0;
  return isDecimal(text) ? Number(text) : "malformed";
}

/** True if `bodyLength` returns "malformed". It spares each GET the look-up of `Transfer-Encoding`. */
export function hasMalformedLength(headers: Headers): boolean {
  const text = headers.get("content-length");
  return text !== null && !isDecimal(text);
}

function isDecimal(text: string): boolean {
  return /^[0-9]+$/.test(text);
}

export type IdempotencyKeyResult = HeaderResult<string>;

const { pattern, [PATTERN_MEANING]: meaning } = IdempotencyKey as TSchema as Readonly<Record<string, string>>;
const idempotencyKeyForm = new RegExp(pattern as string);
const idempotencyKeyFault: Fault = { path: `/header/${IDEMPOTENCY_KEY}`, message: `must hold ${meaning}` };

/** The result for a request without the header. */
export const noIdempotencyKey: IdempotencyKeyResult = { value: undefined };

/** Reads the `Idempotency-Key` header: the content of a structured-field string (RFC 9651), or a bare text. */
export function readIdempotencyKey(headers: Headers): IdempotencyKeyResult {
  const text = headers.get(IDEMPOTENCY_KEY);
  if (text === null) return noIdempotencyKey;
  if (!idempotencyKeyForm.test(text)) return { faults: [idempotencyKeyFault] }; // a repeated header too: the runtime joins both with a comma and a space
  return { value: text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\(.)/g, "$1") : text };
}

/** The id of the last event that a client received; undefined if it sends none. An empty header counts as none. */
export function readLastEventId(header: string | null, query: string | undefined): HeaderResult<bigint> {
  const places = [
    { path: `/header/${LAST_EVENT_ID.header}`, text: header || undefined },
    { path: `/query/${LAST_EVENT_ID.query}`, text: query },
  ];
  const given = places.flatMap(({ path, text }) =>
    text === undefined ? [] : [{ path, value: parseInt64(text) ?? -1n }],
  );
  const faults = given
    .filter(({ value }) => value < 0n)
    .map(({ path }) => ({ path, message: "must hold the id of an event, a whole number" }));
  const [first, second] = given;
  if (faults.length === 0 && second && second.value !== first?.value) {
    const message = `must be the same as the header ${LAST_EVENT_ID.header} if both are sent`;
    faults.push({ path: second.path, message });
  }
  return faults.length > 0 ? { faults } : { value: first?.value };
}

/** Up to 128 visible ASCII characters. */
const requestIdForm = /^[!-~]{1,128}$/;

/**
 * The client's own `X-Request-Id`, for logs and traces. Undefined if it is missing, malformed, or could contain an API
 * key.
 */
export function readClientRequestId(headers: Headers, mayHoldKey: (text: string) => boolean): string | undefined {
  const text = headers.get("x-request-id");
  return text !== null && requestIdForm.test(text) && !mayHoldKey(text) ? text : undefined;
}

/** True if an `If-None-Match` header names the tag, by weak comparison (RFC 9110, section 13.1.2). */
export function matchesIfNoneMatch(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === tag);
}

/** True if an `If-Match` header names the tag, by strong comparison (RFC 9110, section 13.1.1). */
function matchesIfMatch(ifMatch: string, tag: string): boolean {
  return ifMatch.trim() === "*" || ifMatch.split(",").some((candidate) => candidate.trim() === tag);
}

/** Whether a resource is still what the client expects. */
export type Matches = (current: unknown) => boolean;

const always: Matches = () => true;

/** `*`, or a list of entity tags (RFC 9110, section 8.8.3). Empty members of a list are allowed (section 5.6.1). */
const tagForm = '(?:W/)?"[!#-~\\u0080-\\u00ff]*"';
const ifMatchForm = new RegExp(`^[ \\t]*(?:\\*|(?:,[ \\t]*)*${tagForm}(?:[ \\t]*,(?:[ \\t]*${tagForm})?)*)[ \\t]*$`);

/**
 * Compiles the reader of `If-Match` (RFC 9110, section 13.1.1); undefined for an operation that does
 * not support it. The condition that it returns is evaluated inside the transaction.
 */
export function compilePrecondition({
  ifMatch,
}: Operation): ((headers: Headers) => Matches | { readonly faults: Fault[] }) | undefined {
  if (!ifMatch) return undefined;
  const serialize = compileSerializer(ifMatch);
  return (headers) => {
    const expected = headers.get("if-match");
    if (expected === null) return always;
    if (!ifMatchForm.test(expected)) {
      const bare = /^(?:W\/)?[0-9a-f]+$/.test(expected) ? "a tag without quotes" : shown(expected);
      const message = `must be entity tags in double quotes, exactly as ETag has them, or *; got ${bare}`;
      return { faults: [{ path: "/header/If-Match", message }] };
    }
    return (current) => matchesIfMatch(expected, entityTag(serialize(current)));
  };
}

/** The same failure. If a resource did not match because the tags are weak, it says that they never match. */
export function explainMismatch(failed: Failure, headers: Headers): Failure {
  if (failed.error !== preconditionFailed || !/^[ \t,]*W\//.test(headers.get("if-match") ?? "")) return failed;
  const message = "If-Match has a weak entity tag (W/), which never matches. Send it without W/. Nothing was changed.";
  return failure(preconditionFailed, message);
}
