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

/** A `fetch` that needs no service: it responds as the service does, with examples or with `responses`. */
export function fakeFetch(
  responses: FakeResponses = {},
): (input: string | Request, init?: RequestInit) => Promise<Response> {
  return async (input, init) => {
    const request = typeof input === "string" ? new Request(input, init) : input;
    request.signal.throwIfAborted();
    const { pathname, searchParams } = new URL(request.url);
    const [name, success] =
      Object.entries(successes).find(
        ([, { method, path }]) =>
          method === request.method && new RegExp(`/v1${path.replaceAll("*", "[^/]+")}$`).test(pathname),
      ) ?? [];
    if (!request.headers.has("authorization")) return failure("missing_api_key");
    if (!success) throw new TypeError(`The service has no ${request.method} ${pathname}.`);
    const asked = responses[name as keyof FakeResponses];
    if (typeof asked === "string") return failure(asked);
    if (success.headers["Content-Type"] !== "text/event-stream") {
      return responseOf(success, asked && success.body && stringify(asked));
    }
    const after = request.headers.get("last-event-id") ?? searchParams.get("after") ?? 0;
    const events = (asked as readonly Event[] | undefined) ?? [parse(success.body as string) as Event];
    return responseOf(success, streamOf(events.filter(({ id }) => id > BigInt(after))));
  };
}

function failure(code: string): Response {
  const example = failures[code];
  if (!example) throw new TypeError(`The service has no error ${code}.`);
  return responseOf(example);
}

function responseOf({ status, headers, body }: Example, content: Example["body"] | ReadableStream = body): Response {
  return new Response(content ?? null, { status, headers: { ...headersOfAll, ...headers } });
}

/** Like the stream of the service, it stays open. */
function streamOf(events: readonly Event[]): ReadableStream {
  const lines = events.map((event) => `event: ${event.type}\ndata: ${stringify(event)}\nid: ${event.id}\n\n`);
  return new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(lines.join(""))) });
}
