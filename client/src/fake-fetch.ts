import { bodyFaults } from "./check-body.ts";
import type { ClientErrorCode } from "./errors.ts";
import { type Example, failures, headersOfAll, successes } from "./examples.ts";
import { parse, stringify } from "./json.ts";
import type { ErrorCodes, Event, Petstore } from "./operations.ts";
import type { Pages } from "./pages.ts";
import type { Result } from "./response.ts";

/** What an operation returns. */
type ResultOf<Returned> =
  Returned extends Pages<infer Item>
    ? readonly Item[]
    : Returned extends AsyncGenerator<infer Item, never, void>
      ? readonly Item[]
      : Returned extends Promise<Result<infer Body>>
        ? Body
        : never;

/** For each operation, its result or the code of an error. Others return the example of the documentation. */
export type FakeResponses = {
  readonly [Name in keyof ErrorCodes]?:
    | ResultOf<ReturnType<Petstore[Name]>>
    | Exclude<ErrorCodes[Name], ClientErrorCode>
    | undefined;
};

/** How long an error that the client would repeat says to wait, in seconds: a day, so that calls fail without a wait. */
const NO_RETRY = "86400";
const retried: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/** The name and the example of the operation at an address, which ends with its path after `/v1`. */
export function operationOf(request: Request) {
  const { pathname } = new URL(request.url);
  return Object.entries(successes).find(
    ([, { method, path }]) =>
      method === request.method && new RegExp(`/v1${path.replaceAll("*", "[^/]+")}$`).test(pathname),
  );
}

/**
 * A `fetch` that needs no service: it responds as the service does, with examples or with `responses`. An error that the
 * client would repeat has a `Retry-After` of a day, so it comes at once.
 */
export function fakeFetch(
  responses: FakeResponses = {},
): (input: string | Request, init?: RequestInit) => Promise<Response> {
  return async (input, init) => {
    const request = typeof input === "string" ? new Request(input, init) : input;
    request.signal.throwIfAborted();
    const { pathname, searchParams } = new URL(request.url);
    const [name, success] = operationOf(request) ?? [];
    if (!request.headers.has("authorization")) return failure("missing_api_key");
    if (!success) throw new TypeError(`The service has no ${request.method} ${pathname}.`);
    const asked = responses[name as keyof FakeResponses];
    if (typeof asked === "string") return failure(asked);
    const text = await request.text();
    const { isRequired, schema } = success.input ?? { isRequired: false, schema: {} };
    const body = text === "" && !isRequired ? {} : readBody(text);
    const details = success.input ? [...bodyFaults(body, schema)] : [];
    if (details.length > 0) return invalid(details);
    if (
      asked === undefined &&
      name === "placeStoreOrder" &&
      (body as { readonly confirm?: unknown }).confirm === true
    ) {
      return responseOf(success, successes["confirmStoreOrder"]?.body);
    }
    if (success.headers["Content-Type"] !== "text/event-stream") {
      return responseOf(success, asked && success.body && stringify(asked));
    }
    const after = request.headers.get("last-event-id") ?? searchParams.get("after") ?? 0;
    const events = (asked as readonly Event[] | undefined) ?? [parse(success.body as string) as Event];
    return responseOf(success, streamOf(events.filter(({ id }) => id > BigInt(after))));
  };
}

/** A parsed body; undefined if it is not JSON. */
function readBody(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** The error of the service for a body with these faults. */
function invalid(details: readonly { readonly path: string; readonly message: string }[]): Response {
  const [{ path, message } = { path: "", message: "" }] = details;
  const body = {
    code: "invalid_request",
    message: `The request is invalid: ${path} ${message}.`,
    status: 400,
    details,
  };
  return responseOf(failures["invalid_request"] as Example, stringify(body));
}

function failure(code: string): Response {
  const example = failures[code];
  if (!example) throw new TypeError(`The service has no error ${code}.`);
  const response = responseOf(example);
  if (retried.has(example.status) || code === "idempotency_key_in_use") response.headers.set("Retry-After", NO_RETRY);
  return response;
}

function responseOf({ status, headers, body }: Example, content: Example["body"] | ReadableStream = body): Response {
  return new Response(content ?? null, { status, headers: { ...headersOfAll, ...headers } });
}

/** Like the stream of the service, it stays open. */
function streamOf(events: readonly Event[]): ReadableStream {
  const lines = events.map((event) => `event: ${event.type}\ndata: ${stringify(event)}\nid: ${event.id}\n\n`);
  return new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(lines.join(""))) });
}
