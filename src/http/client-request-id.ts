/** Up to 128 visible ASCII characters. */
const form = /^[!-~]{1,128}$/;

/**
 * The id that a client gave its request in `X-Request-Id`, for logs and traces. Undefined where there is none, where it
 * has another form, or where it may hold an API key.
 */
export function readClientRequestId(header: string | null, mayHoldKey: (text: string) => boolean): string | undefined {
  return header !== null && form.test(header) && !mayHoldKey(header) ? header : undefined;
}
