import { type ErrorFacts, errorOf, type PetstoreError } from "./errors.ts";
import { type IdKind, parse } from "./json.ts";
import { infoOf, type ResponseInfo } from "./response.ts";

/** A response that is larger is not read to its end, in bytes: 64 MB. */
const LARGEST_BODY = 64_000_000;

/** What a call or an attempt has come to: a body or an error. Without `info` there was no response. */
export type Answer =
  | { readonly info: ResponseInfo; readonly body: object; readonly error?: undefined }
  | { readonly info?: ResponseInfo; readonly body?: undefined; readonly error: PetstoreError };

/** The text of the body; undefined if it is too large. Throws an error for text that is not UTF-8. */
export async function textOf(response: Response): Promise<string | undefined> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for (let size = 0; size <= LARGEST_BODY; ) {
    const { value } = (await reader?.read()) ?? {};
    if (!value) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    size += value.length;
  }
  await reader?.cancel();
  return undefined;
}

/** Reads a response. Whatever is not a response of the service becomes an error that says so. */
export function answerOf(response: Response, text: string | undefined, operation: string, ids?: IdKind): Answer {
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
      retryAfter: Number(headers.get("retry-after")) || undefined,
    }),
  };
}

/** The object or array of a text; undefined if it holds none. */
function objectOf(text: string | undefined, ids?: IdKind): object | undefined {
  try {
    const value = parse(text as string, ids);
    return (typeof value === "object" && value) || undefined;
  } catch (error) {
    if (error instanceof RangeError) throw error; // an id that is not exact as a number
    return undefined;
  }
}
