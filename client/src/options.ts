import { type Clock, systemClock } from "./clock.ts";
import type { DeprecationNotice } from "./deprecation.ts";
import type { IdKind } from "./json.ts";

/** One attempt of a call, as hooks see it. */
export interface Attempt {
  readonly operation: string;
  /** From 1 on. */
  readonly attempt: number;
}

export interface Options<Ids extends IdKind = IdKind> {
  /** The API key. Default: PETSTORE_KEY. */
  readonly key?: string | undefined;
  /** The address of the service, with `/v1` at its end. Default: PETSTORE_URL. */
  readonly baseUrl?: string | undefined;
  /** How 64-bit integers of responses are given. With `number`, one that is not exact throws. Default: `bigint`. */
  readonly ids?: Ids | undefined;
  /** How long a call may take in milliseconds, with all its attempts and waits. Default: 60,000. */
  readonly timeout?: number | undefined;
  /** How often a call is tried again. Waits for a limit do not count. Default: 4. */
  readonly retries?: number | undefined;
  /** True where the person at the page has typed in the key: there is no warning about a live key in a page. */
  readonly usersKey?: boolean | undefined;
  /** Stands in for the global `fetch`. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Sees each request before it is sent, and may change its headers. */
  readonly onRequest?: ((request: Request, attempt: Attempt) => unknown) | undefined;
  /** Sees each response. Its body must be left alone. */
  readonly onResponse?: ((response: Response, attempt: Attempt) => unknown) | undefined;
  /** Told of each deprecated operation that is called, once. Default: a warning on the console. */
  readonly onDeprecated?: ((notice: DeprecationNotice) => void) | undefined;
  /** Stands in for the clock. For tests. */
  readonly clock?: Clock | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long the call may take, in milliseconds. Default: that of the client. */
  readonly timeout?: number | undefined;
}

/** Of operations that would do their work twice if they were sent twice. */
export interface OnceOptions extends CallOptions {
  /** The name of the request, for programs that repeat calls themselves. Default: a new one for each call. */
  readonly idempotencyKey?: string | undefined;
}

/** Of operations that can be told to change nothing if somebody else has changed the resource. */
export interface IfMatch {
  /** The resource as it was read, or its ETag. */
  readonly ifMatch?: string | object | undefined;
}

/** Where requests go, and in whose name. */
export interface Target {
  readonly key: string;
  readonly baseUrl: string;
  readonly clock: Clock;
}

let hasWarned = false;

/** Reads the options without which no call can succeed. Messages never show the key. */
export function readTarget(options: Options): Target {
  const key = (options.key ?? environment("PETSTORE_KEY"))?.trim() ?? "";
  if (!/^[!-~]+$/.test(key)) throw new TypeError("No API key: set `key` or PETSTORE_KEY.");
  const baseUrl = (options.baseUrl ?? environment("PETSTORE_URL"))?.replace(/\/+$/, "") ?? "";
  if (!/^https?:\/\/.+\/v1$/.test(baseUrl)) {
    throw new TypeError(`\`baseUrl\` or PETSTORE_URL must be an address that ends with /v1, and is ${baseUrl}.`);
  }
  if (!hasWarned && !options.usersKey && key.startsWith("psk_live_") && "document" in globalThis) {
    hasWarned = true;
    console.warn("petstore: visitors can read the live key.");
  }
  return { key, baseUrl, clock: options.clock ?? systemClock };
}

/** Undefined where there are no environment variables. Deno throws an error that names the permission it needs. */
function environment(name: string): string | undefined {
  return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[name];
}
