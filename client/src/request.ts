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
  /** The limits it counts against. Calls with the same quota share a gate. */
  readonly quota: string;
  /** The id after which a stream resumes, empty at its start. Undefined for other calls. */
  readonly lastEventId?: string | undefined;
}

export type AnyOptions = CallOptions & OnceOptions & IfMatch;

/** Creates the request of each attempt. All have the same `Idempotency-Key`, so they take effect once. */
export function makeRequest(
  { key, baseUrl }: Target,
  { method, path, query = {}, body, lastEventId }: Call,
  // Pages over plain HTTP have no `crypto.randomUUID`.
  { idempotencyKey = new Date().toJSON() + Math.random(), ifMatch }: AnyOptions,
): (signal: AbortSignal) => Request {
  const search = `${new URLSearchParams(defined(query))}`; // a list is joined by commas
  const url = baseUrl + path + (search && `?${search}`);
  const headers = new Headers(
    defined({
      Authorization: `Bearer ${key}`,
      "Content-Type": body && "application/json",
      "Idempotency-Key": method.startsWith("P") ? idempotencyKey : undefined,
      "If-Match": etagOf(ifMatch),
      "Last-Event-ID": lastEventId || undefined,
    }),
  );
  // Following a redirect could send the key to another host.
  return (signal) => new Request(url, { method, headers, body: stringify(body), redirect: "manual", signal });
}

function etagOf(resource?: string | { readonly $response?: ResponseInfo }): string | undefined {
  const etag = (typeof resource === "object" && resource.$response?.etag) || resource;
  if (typeof etag === "object") throw new TypeError("`ifMatch` needs an ETag or a result with one.");
  return etag;
}

/** Encodes a path parameter. An empty one or `..` would lead to another operation. */
export function segment(value: unknown): string {
  const text = String(value);
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`"${text}" is not an identifier.`);
  return encodeURIComponent(text);
}
