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
