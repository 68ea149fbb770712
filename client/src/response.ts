/** The state of the rate limit window with the fewest remaining requests. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends. */
  readonly reset: Date;
}

/** The parts of a response other than its body. */
export interface ResponseInfo {
  readonly status: number;
  /** Identifies the request in the service's log. */
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  /** The version of the resource. Pass it, or the whole result, as `ifMatch`. */
  readonly etag: string | undefined;
  readonly headers: Headers;
}

/** The result of a call. `$response` is not enumerable, so spreading and JSON omit it. */
export type Result<T> = T & { readonly $response: ResponseInfo };

/** The result of an operation without a response body. */
export type NoContent = Result<Record<never, never>>;

export function withResponse(value: object, $response: ResponseInfo): object {
  return Object.defineProperty(value, "$response", { value: $response });
}

export function infoOf({ status, headers }: Response): ResponseInfo {
  const text = (name: string) => headers.get(name) ?? undefined;
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
    Number(text(`x-ratelimit-${name}`)),
  ) as [number, number, number];
  return {
    status,
    requestId: text("x-request-id"),
    rateLimit: reset > 0 ? { limit, remaining, reset: new Date(reset * 1000) } : undefined,
    etag: text("etag"),
    headers,
  };
}

/** The URL with this relation in a `Link` header (RFC 8288). */
export function linkOf(headers: Headers, relation: string): string | undefined {
  return new RegExp(`<([^>]*)>;[^,]*rel="${relation}"`).exec(headers.get("link") ?? "")?.[1];
}
