import { type Clock, systemClock } from "./clock.ts";
import type { DeprecationNotice } from "./deprecation.ts";
import type { IdKind } from "./json.ts";
import type { Result } from "./response.ts";

/** A request that is about to be sent. */
export interface OutgoingRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  /** JSON. Null if the operation has no body. */
  readonly body: string | null;
}

/** What `fetch` gets with the URL. */
export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly redirect: "manual";
  readonly signal: AbortSignal;
}

/** What the client needs of a response. */
export type FetchedResponse = Pick<Response, "ok" | "status"> & {
  readonly headers: Pick<Headers, "get">;
  readonly body: unknown;
};

/** One attempt of a call, passed to hooks. */
export interface Attempt {
  readonly operation: string;
  /** Counted from 1. */
  readonly attempt: number;
}

export interface Options<Ids extends IdKind = IdKind> {
  /** The API key. Default: PETSTORE_KEY. */
  readonly key?: string | undefined;
  /** The base URL of the service, which ends with `/v1`. Default: PETSTORE_URL. */
  readonly baseUrl?: string | undefined;
  /** The type of 64-bit integers in responses. `number` throws for an inexact one. Default: `bigint`. */
  readonly ids?: Ids | undefined;
  /** The timeout of a call with all its attempts and waits, in milliseconds. Default: 60,000. */
  readonly timeout?: number | undefined;
  /**
   * The maximum number of retries of a call. Waiting for a rate limit does not count, nor does reconnecting a stream,
   * which only `timeout` limits. Default: 4.
   */
  readonly retries?: number | undefined;
  /** True if the user of the page entered the key. Turns off the warning about a live key in a page. */
  readonly usersKey?: boolean | undefined;
  /** Replaces the global `fetch`, for example by that of undici or node-fetch. */
  readonly fetch?: ((url: string, init: FetchInit) => Promise<FetchedResponse>) | undefined;
  /** Called with each request before it is sent. It may change the headers. */
  readonly onRequest?: ((request: OutgoingRequest, attempt: Attempt) => unknown) | undefined;
  /** Called with each response. It must not read the body. */
  readonly onResponse?: ((response: Response, attempt: Attempt) => unknown) | undefined;
  /** Where attempts are logged: `console`, for example. Without bodies and keys. Default: nowhere. */
  readonly logger?: Logger | undefined;
  /** Called once for each deprecated operation in use. Default: a warning in the `logger` or on the console. */
  readonly onDeprecated?: ((notice: DeprecationNotice) => void) | undefined;
  /** Replaces the clock in tests. */
  readonly clock?: Clock | undefined;
}

/** Successes are `debug`, failures that are retried `warn`, all others `error`. */
export type Logger = { readonly [Level in "debug" | "warn" | "error"]?: (message: string) => unknown };

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** The maximum number of retries of the call. Default: the client's. */
  readonly retries?: number | undefined;
  /** More headers. They cannot replace the client's. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The timeout of the call, in milliseconds. Default: the client's. */
  readonly timeout?: number | undefined;
}

/** Options of operations that are not idempotent. */
export interface OnceOptions extends CallOptions {
  /** For programs that repeat calls themselves. Default: a new key for each call. */
  readonly idempotencyKey?: string | undefined;
}

/** Options of operations that can fail if the resource has changed since it was read. */
export interface IfMatch {
  /** The resource that you read, or its ETag. */
  readonly ifMatch?: string | Result<object> | undefined;
}

/** The service and the key that requests use. */
export interface Target {
  readonly key: string;
  readonly baseUrl: string;
  readonly clock: Clock;
}

let hasWarned = false;

/** Reads the required options. Messages never show the key. */
export function readTarget(options: Options): Target {
  const key = (options.key ?? environment("PETSTORE_KEY"))?.trim() ?? "";
  if (!/^[!-;=?-~]+$/.test(key)) throw new TypeError("No API key (psk_…): pass { key } or set PETSTORE_KEY.");
  const baseUrl = (options.baseUrl ?? environment("PETSTORE_URL"))?.trim().replace(/\/+$/, "") ?? "";
  if (!/^https?:.+\/v1$/.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw new TypeError(`\`baseUrl\` or PETSTORE_URL must be a URL that ends with /v1, not "${baseUrl}".`);
  }
  if (!hasWarned && !options.usersKey && key.startsWith("psk_live_") && "document" in globalThis) {
    hasWarned = true;
    console.warn("petstore: visitors of this page can read the live key.");
  }
  return { key, baseUrl, clock: options.clock ?? systemClock };
}

/** Undefined on platforms without environment variables. Deno throws an error that names the missing permission. */
function environment(name: string): string | undefined {
  return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[name];
}
