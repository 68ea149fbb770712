/** Largest body that is read, in bytes. */
export const BODY_LIMIT = 64 * 1024;

/** What a request says about the length of its body: bytes, or why that is not known. */
export type BodyLength = number | "chunked" | "malformed";

/**
 * The length of a request's body by its headers; 0 where none comes. The only spelling of `Content-Length`
 * that counts is one decimal number (RFC 9110, section 8.6): the runtime joins a repeated header, and
 * `Number` reads spaces, signs, hexadecimal and exponents, and makes NaN of a list.
 */
export function bodyLength(headers: Headers): BodyLength {
  const text = headers.get("content-length");
  if (text === null) return headers.has("transfer-encoding") ? "chunked" : 0;
  return isDecimal(text) ? Number(text) : "malformed";
}

/** True where `bodyLength` gives "malformed". */
export function hasMalformedLength(headers: Headers): boolean {
  const text = headers.get("content-length");
  return text !== null && !isDecimal(text);
}

function isDecimal(text: string): boolean {
  return /^[0-9]+$/.test(text);
}
