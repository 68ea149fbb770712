import { type ErrorFacts, errorOf, type PetstoreError } from "./errors.ts";
import { type IdKind, parse } from "./json.ts";
import { infoOf, type ResponseInfo } from "./response.ts";

/** The maximum length of a response in characters. */
const LARGEST_BODY = 64_000_000;

/** The outcome of a call or an attempt: a body or an error. `info` is undefined if no response arrived. */
export type Outcome =
  | { readonly info: ResponseInfo; readonly body: object; readonly error?: undefined }
  | { readonly info?: ResponseInfo; readonly body?: undefined; readonly error: PetstoreError };

/** The body as a stream of the web. That of node-fetch is one of Node. */
export function streamOf({ body }: Response): ReadableStream<Uint8Array<ArrayBuffer>> | null {
  return body && !body.getReader ? new Response(body).body : body;
}

/** Reads the body as text. Returns undefined if it is too large. A proxy may send one that is not UTF-8. */
export async function readText(response: Response): Promise<string | undefined> {
  const reader = streamOf(response)?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (text.length <= LARGEST_BODY) {
    const { value } = (await reader?.read()) ?? {};
    text += decoder.decode(value, { stream: !!value });
    if (!value) return text;
  }
  await reader?.cancel();
  return undefined;
}

/** Parses a response. A response that does not come from the service becomes an error. */
export function parseResponse(
  response: Response,
  text: string | undefined,
  operation: string,
  now: number,
  ids?: IdKind,
): Outcome {
  const info = infoOf(response);
  const { status, requestId, rateLimit, headers } = info;
  const body = status === 204 ? {} : objectOf(text, ids);
  if (response.ok && body) return { info, body };
  const why = text === undefined ? "too large" : response.ok || status >= 400 ? "not the service's" : "a redirect";
  const unexpected = { code: "unexpected_response", message: `The response is ${why}.` };
  const isError = status >= 400 && body && "code" in body;
  const { code, message, details } = (isError ? body : unexpected) as ErrorFacts & Error;
  return {
    info,
    error: errorOf(message, {
      code,
      operation,
      status,
      details,
      requestId,
      rateLimit,
      retryAfter: retryAfterOf(headers, now),
    }),
  };
}

/** When the service responded, by its own clock, because the clock here may be wrong. Without `Date`, it is `now`. */
export function timeAtService(headers: Pick<Headers, "get">, now: number): number {
  return timeOf(headers.get("date")) || now;
}

/**
 * The seconds in `Retry-After`, which may also be a date in any form of HTTP (RFC 9110, 10.2.3). Such a date is compared
 * with the service's own clock. Undefined if there is nothing to wait for.
 */
export function retryAfterOf(headers: Pick<Headers, "get">, now: number): number | undefined {
  const text = headers.get("retry-after") ?? "";
  const seconds = +text || (timeOf(text) - timeAtService(headers, now)) / 1000;
  return Math.max(0, Math.ceil(seconds)) || undefined;
}

/** One of the three forms names no zone: all of them mean GMT. */
function timeOf(date: string | null): number {
  return Date.parse(`${date?.replace(" GMT", "")} GMT`);
}

/** Parses a JSON object or array. Returns undefined for anything else. */
function objectOf(text: string | undefined, ids?: IdKind): object | undefined {
  try {
    const value = parse(text as string, ids);
    return (typeof value === "object" && value) || undefined;
  } catch (error) {
    if (error instanceof RangeError) throw error; // an id that a number cannot represent exactly
    return undefined;
  }
}
