/** Up to 128 visible ASCII characters. */
const form = /^[!-~]{1,128}$/;

/**
 * The client's own `X-Request-Id`, for logs and traces. Undefined if it is missing, malformed, or could contain an API
 * key.
 */
export function readClientRequestId(header: string | null, mayHoldKey: (text: string) => boolean): string | undefined {
  return header !== null && form.test(header) && !mayHoldKey(header) ? header : undefined;
}
