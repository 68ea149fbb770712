import { internalError } from "../contract/errors.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import { settlesWithin } from "../timing/waiting.ts";
import type { Api } from "./api.ts";
import { IDLE_TIMEOUT, type Peers, type Route } from "./exchange.ts";
import type { PathAdvice } from "./input/path-advice.ts";
import { sharedHeaders } from "./response/headers.ts";
import { notFound, plainError, serveContent, type WebContent } from "./response/web-content.ts";

/**
 * Far above the service's own limit, because the HTTP parser refuses a larger body with a bare 413, without the Error body
 * and the limit headers.
 */
const PARSER_BODY_LIMIT = 128 * 1024 * 1024;
/** Step 1 of stopping: for this long, in milliseconds, each response asks its client to close the connection. */
const ASK_TO_CLOSE = 200;
/** Step 2: requests are held until none has arrived for this long, in milliseconds … */
const QUIET = 100;
/** … but at most for this long, in milliseconds. */
const MAX_WAIT_FOR_QUIET = 2_000;
/** After this many turns of the event loop, all connections and requests that had arrived are accepted and read. */
const TURNS = 5;

/** What a server serves. */
export interface Served {
  readonly api: Api;
  /** The path of the base address, such as `/v1`. */
  readonly basePath: string;
  /** The `Link` header of the base address itself, which has no operation. */
  readonly baseLinks: string;
  /** Routes below the base address, by pattern. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Content outside the API, by path. */
  readonly content: ReadonlyMap<string, WebContent>;
  /** What serves its requests in other ways, by path. */
  readonly endpoints: ReadonlyMap<string, (request: Request, peers: Peers) => MaybePromise<Response>>;
  /** What to say of unknown paths. */
  readonly paths: PathAdvice;
  /** Called with an error that nothing else has handled. The client gets a generic 500. */
  readonly onError: (error: unknown) => void;
}

/** The address on which a server listens. `port` 0 picks a free one. */
interface ListenAt {
  readonly host: string;
  readonly port: number;
}

/** The server cannot listen on the address. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

type Handler = (request: Request, server: Bun.Server<undefined>) => MaybePromise<Response>;

const options = {
  development: false, // otherwise errors show internals
  reusePort: false, // by default, `development: false` lets a second process use the same port
  idleTimeout: IDLE_TIMEOUT,
  maxRequestBodySize: PARSER_BODY_LIMIT,
  fetch: () => notFound("The service is starting."),
};

const unknownRoute: Route = { methods: new Map(), allow: "" };

export class Server {
  readonly #server: Bun.Server<undefined>;
  #asksToClose = false;
  /** Set while a stopping server holds requests; resolves when it serves them. */
  #hold: Promise<void> | undefined;
  /** The number of requests that it has held so far. */
  #heldRequests = 0;

  /** Listens. Call `serve` in the same turn of the event loop: no request is read before. Throws `ListenError`. */
  constructor({ host, port }: ListenAt) {
    try {
      this.#server = Bun.serve({ ...options, hostname: host, port });
    } catch (error) {
      throw new ListenError(listenReason(host, port, error), { cause: error });
    }
  }

  serve(served: Served): void {
    /** For errors that even the API's own error handling could not handle. */
    const error = (thrown: Error) => {
      served.onError(thrown);
      return plainError(internalError, "The service failed.", sharedHeaders);
    };
    const fetch = withDate((request: Request) => notFound(served.paths.ofUnknown(request)));
    this.#server.reload({ ...options, fetch, error, routes: this.#routes(served) });
  }

  get port(): number {
    return this.#server.port ?? 0;
  }

  /**
   * Asks active clients to close their connections, stops listening, lets requests in flight finish, and closes all
   * connections at most `grace` milliseconds after it has stopped holding requests.
   */
  async stop(grace: number): Promise<void> {
    // Closing immediately would reset connections whose next request is already in transit. First, every
    // response asks the client to close its connection. Then requests are held briefly, so that clients wait
    // for a response instead of reconnecting to a process that is about to stop.
    this.#asksToClose = true;
    await Bun.sleep(ASK_TO_CLOSE);
    const hold = Promise.withResolvers<void>();
    this.#hold = hold.promise;
    await this.#quiet();
    const finished = this.#server.stop();
    hold.resolve();
    await settlesWithin(finished, grace);
    await this.#server.stop(true);
  }

  /**
   * Resolves when no request has arrived for `QUIET`. Every active client then waits for a held request, and sends no
   * other one before its response.
   */
  async #quiet(): Promise<void> {
    const deadline = performance.now() + MAX_WAIT_FOR_QUIET;
    let before: number;
    do {
      before = this.#heldRequests;
      await Bun.sleep(QUIET);
      // On a busy machine, some connections may not have been accepted or read yet.
      for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate);
    } while (this.#heldRequests > before && performance.now() < deadline);
  }

  #routes({ api, basePath, baseLinks, routes, content, endpoints, paths }: Served) {
    const untilStopped = (serve: Handler) =>
      withDate((request, server) => {
        if (!this.#asksToClose) return serve(request, server);
        if (this.#hold) this.#heldRequests++;
        const response = whenReady(this.#hold, () => serve(request, server));
        return whenReady(response, (one) => withHeader(one, "Connection", "close")); // RFC 9112, section 9.6
      });
    const handler = (route: Route) => untilStopped((request, server) => api.serve(route, request, server));
    const unknown = handler(unknownRoute);
    const base: Handler = (request, server) =>
      whenReady(unknown(request, server), (response) => withHeader(response, "Link", baseLinks));
    return {
      ...Object.fromEntries([...routes].map(([pattern, route]) => [basePath + pattern, handler(route)])),
      ...Object.fromEntries([basePath, `${basePath}/`].map((path) => [path, base])),
      [`${basePath}/*`]: unknown,
      ...Object.fromEntries([...endpoints].map(([path, serve]) => [path, untilStopped(serve)])),
      ...Object.fromEntries(
        [...content].map(([path, one]) => [path, withDate((request) => serveContent(one, request, paths))]),
      ),
    };
  }
}

/** Adds `Date` to responses to HEAD, because the runtime does so only for other methods (RFC 9110, section 6.6.1). */
function withDate(handle: Handler): Handler {
  return (request, server) => {
    const response = handle(request, server);
    if (request.method !== "HEAD") return response;
    return whenReady(response, (one) => withHeader(one, "Date", new Date().toUTCString()));
  };
}

/** The same response, with one header set. */
function withHeader(response: Response, name: string, value: string): Response {
  response.headers.set(name, value);
  return response;
}

/** Why listening failed, in words for the operator. */
function listenReason(host: string, port: number, error: unknown): string {
  const { code, message } = error as { code?: string; message: string };
  if (code === "EADDRINUSE") return `Port ${port} on ${host} is in use. Set PETSTORE_PORT to another one.`;
  if (code === "EACCES") return `This user is not allowed to use port ${port} on ${host}.`;
  if (code === "EINVAL" || code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `${host} is no address of this machine. Set PETSTORE_HOST to 127.0.0.1, or to 0.0.0.0 for all its addresses.`;
  return `The service cannot listen on ${host}, port ${port}: ${message}.`;
}
