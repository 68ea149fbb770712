import { type ErrorFacts, errorOf, type PetstoreError } from "./errors.ts";
import { type IdKind, parse } from "./json.ts";
import { infoOf, type ResponseInfo } from "./response.ts";

/** A response that is larger is not read to its end: 64 MB. */
const LARGEST_BODY = 64_000_000;

/** What a call or an attempt has come to: a body or an error. Without `info` there was no response. */
export type Answer =
  | { readonly info: ResponseInfo; readonly body: object; readonly error?: undefined }
  | { readonly info?: ResponseInfo; readonly body?: undefined; readonly error: PetstoreError };

/** The body in pieces; undefined if it is too large. */
export async function bodyOf(response: Response): Promise<Uint8Array[] | undefined> {
  const reader = response.body?.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done || !value) return pieces;
    pieces.push(value);
    size += value.length;
    if (size <= LARGEST_BODY) continue;
    await reader?.cancel();
    return undefined;
  }
}

/** Reads a response. Whatever is not a response of the service becomes an error that says so. */
export function answerOf(response: Response, body: Uint8Array[] | undefined, operation: string, ids?: IdKind): Answer {
  const info = infoOf(response);
  const { status, requestId, rateLimit, headers } = info;
  const facts = {
    operation,
    status,
    requestId,
    rateLimit,
    retryAfter: Number(headers.get("retry-after")) || undefined,
  };
  const value = body && status !== 204 ? valueOf(body, ids) : {};
  if (response.ok && body && value) return { info, body: value };
  const { code, message, details } = (value ?? {}) as Partial<ErrorFacts & Error>;
  if (status >= 400 && code) return { info, error: errorOf(status, String(message), { ...facts, code, details }) };
  const isRedirect = status < 400 && !response.ok;
  const why = isRedirect ? "a redirect, which is not followed" : body ? "not the service's" : "too large";
  return { info, error: errorOf(status, `The response is ${why}.`, { ...facts, code: "unexpected_response" }) };
}

/** The object or array of a body; undefined if it holds none. */
function valueOf(pieces: Uint8Array[], ids: IdKind | undefined): object | undefined {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const text = pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
    const value = parse(text, ids);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch (error) {
    if (error instanceof RangeError) throw error; // an id that is not exact as a number
    return undefined;
  }
}
