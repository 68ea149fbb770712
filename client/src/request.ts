import { defined } from "./defined.ts";
import { stringify } from "./json.ts";
import type { CallOptions, IfMatch, OnceOptions, OutgoingRequest, Target } from "./options.ts";
import type { ResponseInfo } from "./response.ts";

/** One call of an operation. */
export interface Call {
  readonly operation: string;
  readonly method: string;
  /** The path with `*` for each parameter. */
  readonly path: string;
  readonly params: readonly unknown[];
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
  { method, path, params, query = {}, body, lastEventId }: Call,
  // Pages over plain HTTP have no `crypto.randomUUID`.
  { idempotencyKey = crypto.getRandomValues(new Uint32Array(4)).join("-"), ifMatch, headers: more }: AnyOptions,
): () => OutgoingRequest {
  checkNumbers({ identifier: params, query, body });
  const [...segments] = params;
  const search = `${new URLSearchParams(defined(query))}`; // a list is joined by commas
  const url = baseUrl + path.replace(/\*/g, () => segment(segments.shift())) + (search && `?${search}`);
  const headers = new Headers(more);
  const own = defined({
    Authorization: `Bearer ${key}`,
    "Content-Type": body && "application/json",
    "Idempotency-Key": method.startsWith("P") ? idempotencyKey : undefined,
    "If-Match": etagOf(ifMatch),
    "Last-Event-ID": lastEventId || undefined,
  });
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  const text = stringify(body) ?? null;
  return () => ({ url, method, headers: new Headers(headers), body: text });
}

/** Refuses a number that was probably rounded, because it would name another resource, and a list with a gap. */
function checkNumbers(value: unknown, name?: string): void {
  if (typeof value === "number" && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
    throw new TypeError(`${name}: ${value} is not exact. Above 2^53, use a bigint.`);
  }
  if (typeof value !== "object" || !value) return;
  if (Array.isArray(value) && value.includes(undefined)) throw new TypeError(`${name}: undefined.`);
  for (const [field, part] of Object.entries(value)) checkNumbers(part, Array.isArray(value) ? name : field);
}

function etagOf(resource?: string | { readonly $response?: ResponseInfo }): string | undefined {
  const etag = (typeof resource === "object" && resource.$response?.etag) || resource;
  if (typeof etag === "object") throw new TypeError("`ifMatch` needs an ETag or a result with one.");
  return etag;
}

/** Encodes a path parameter. An empty one or `..` would lead to another operation. */
function segment(value: unknown = ""): string {
  const text = String(value);
  if (/^(\.{0,2}|null)$/.test(text)) throw new TypeError(`"${text}" is not an identifier.`);
  return encodeURIComponent(text);
}
