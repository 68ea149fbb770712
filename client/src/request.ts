import { defined } from "./defined.ts";
import { stringify } from "./json.ts";
import type { CallOptions, IfMatch, OnceOptions, Target } from "./options.ts";
import type { ResponseInfo } from "./response.ts";

/** One call of an operation. */
export interface Call {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: unknown;
  /** Which limits it counts in: calls with the same ones share a gate. */
  readonly quota: string;
  /** Of a stream, whose response does not end: where it continues; empty at its beginning. */
  readonly lastEventId?: string | undefined;
}

export type AnyOptions = CallOptions & OnceOptions & IfMatch;

/** Makes the request of each attempt. All have the same `Idempotency-Key`, so the work is done once. */
export function makeRequest(
  { key, baseUrl }: Target,
  { method, path, query = {}, body, lastEventId }: Call,
  { idempotencyKey = crypto.randomUUID(), ifMatch }: AnyOptions,
): (signal: AbortSignal) => Request {
  const url = new URL(baseUrl + path);
  url.search = `${new URLSearchParams(defined(query))}`; // a list is joined by commas
  const headers = new Headers(
    defined({
      Authorization: `Bearer ${key}`,
      "Content-Type": body && "application/json",
      "Idempotency-Key": method.startsWith("P") ? idempotencyKey : undefined,
      "If-Match": etagOf(ifMatch),
      "Last-Event-ID": lastEventId || undefined,
    }),
  );
  // A redirect to another host would take the key along.
  return (signal) => new Request(url.href, { method, headers, body: stringify(body), redirect: "manual", signal });
}

function etagOf(resource?: string | { readonly $response?: ResponseInfo }): string | undefined {
  const etag = (typeof resource === "object" && resource.$response?.etag) || resource;
  if (typeof etag === "object") throw new TypeError("`ifMatch` needs an ETag, or a result that has one.");
  return etag;
}

/** A path parameter. Nothing, or a step up, would lead to another operation. */
export function segment(value: unknown): string {
  const text = String(value);
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`"${text}" is no identifier.`);
  return encodeURIComponent(text);
}
