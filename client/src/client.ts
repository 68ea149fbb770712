import { waitFor, within } from "./clock.ts";
import { deprecationOf, deprecationWarning } from "./deprecation.ts";
import { endable } from "./endable.ts";
import { ConnectionError } from "./errors.ts";
import { follow, readEvents } from "./events.ts";
import { type Gate, openGate } from "./gate.ts";
import type { IdKind } from "./json.ts";
import { type Logger, type Options, type OutgoingRequest, readTarget } from "./options.ts";
import { type Outcome, parseResponse, readText } from "./outcome.ts";
import { type Page, pagesOf } from "./pages.ts";
import { type AnyOptions, type Call, makeRequest } from "./request.ts";
import { infoOf, linkOf, type ResponseInfo, withResponse } from "./response.ts";

/** The timeout of one attempt, in milliseconds. */
const ATTEMPT_TIMEOUT = 30_000;
/** Limits of the random waits between attempts, in seconds: of the first, then doubled up to the largest. */
const FIRST_WAIT = 1 / 4;
const MAX_WAIT = 8;
/** The statuses that are retried. Undefined means that no response arrived. */
const retriedStatuses: ReadonlySet<unknown> = new Set([408, 429, 502, 503, 504, undefined]);

/** The part that all operations share: sends a call and retries it. */
export class Client<Ids extends IdKind> {
  readonly #call: (call: Call, options?: AnyOptions) => Promise<object>;

  constructor(options: Options<Ids> = {}) {
    this.#call = callerOf(options);
  }

  /**
   * Defines a method for each operation of a table. Each method takes the path parameters, the body, the query and the
   * options, in this order. A row has the path with `*` for parameters, the HTTP method, flags and the name. The flags are
   * `b` (body), `q` (query), `l` (list), `e` (event stream), and the quota unless it is the shop's: `f` (free) or `s`
   * (sandbox).
   * For example, `/pets GETql listPets` is a list with a query, on the quota of the shop.
   */
  protected static define(table: string): void {
    const rows = table.matchAll(/(\S+) ([A-Z]+)(\w*) (\w+)/g) as Iterable<[string, string, string, string, string]>;
    for (const [, path, method, flags, operation] of rows) {
      (this.prototype as unknown as Record<string, unknown>)[operation] = function (
        this: Client<IdKind>,
        ...inputs: unknown[]
      ) {
        const next = (part: string) => (flags.includes(part) ? inputs.shift() : undefined);
        const call: Call = {
          operation,
          method,
          path,
          params: inputs.splice(0, path.split("*").length - 1),
          body: next("b"),
          query: next("q") as object,
          quota: flags.replace(/[bqle]+/, ""),
        };
        const [options] = inputs as [AnyOptions?];
        if (flags.includes("e")) return this.#stream(call, options);
        return flags.includes("l") ? this.#list(call, options) : this.#call(call, options);
      };
    }
  }

  #stream(call: Call, options?: AnyOptions) {
    return endable(options?.signal, (signal) =>
      follow((lastEventId) => this.#call({ ...call, lastEventId }, { ...options, signal }) as Promise<never>),
    );
  }

  #list(call: Call, options?: AnyOptions) {
    return pagesOf(options?.signal, async (signal, cursor) => {
      const query = { ...call.query, ...(cursor && { cursor }) };
      const page = (await this.#call({ ...call, query }, { ...options, signal })) as Page<unknown>;
      // Uses only the cursor, so that a URL in a response cannot decide where the key is sent.
      const search = linkOf(page.$response.headers, "next")?.split("?")[1];
      const value = new URLSearchParams(search).get("cursor") ?? undefined;
      return Object.defineProperty(page, "next", { value });
    });
  }
}

/** Returns the function that calls operations with these options. */
function callerOf(options: Options): (call: Call, options?: AnyOptions) => Promise<object> {
  const target = readTarget(options);
  const { baseUrl, clock } = target;
  /** One for each quota. */
  const gates = new Map<string, Gate>();
  const deprecated = new Set<string>();

  /**
   * Sends a request once; `limited` ends it. Throws the abort reason of the call, and errors of hooks. A stream continues
   * after the timeout of its call. Only the signal of the caller ends it.
   */
  async function send(
    request: OutgoingRequest,
    { operation, lastEventId }: Call,
    attempt: number,
    limited: AbortSignal,
    { call: signal, caller = signal }: { readonly call: AbortSignal; readonly caller?: AbortSignal | undefined },
  ): Promise<Outcome> {
    const { fetch: sendRequest = fetch, onRequest, onResponse, onDeprecated, ids } = options;
    await onRequest?.(request, { operation, attempt });
    const { url, method, headers, body } = request;
    let response: Response;
    let text: string | undefined;
    let isStream: boolean;
    try {
      // Following a redirect could send the key to another host.
      const init = { method, headers: Object.fromEntries(headers), body, redirect: "manual", signal: limited } as const;
      response = (await sendRequest(url, init)) as Response;
      isStream = lastEventId !== undefined && response.ok;
      if (!isStream) text = await readText(response);
    } catch (cause) {
      signal.throwIfAborted();
      // Node says what happened in the cause, whose message can be empty.
      const { message, code } = ((cause as Error).cause ?? cause) as Error & { code?: string };
      const problem = `No connection to ${baseUrl}: ${message || code || cause}`;
      return { error: new ConnectionError(problem, { code: "connection_failed", operation }, cause) };
    }
    await onResponse?.(response, { operation, attempt });
    const notice = deprecationOf(operation, response.headers);
    if (notice && !deprecated.has(operation)) {
      deprecated.add(operation);
      if (onDeprecated) onDeprecated(notice);
      else (options.logger ?? console).warn?.(deprecationWarning(notice));
    }
    if (isStream) return { info: infoOf(response), body: readEvents(response, clock, ids, caller) };
    return parseResponse(response, text, operation, clock.now(), ids);
  }

  return (call, callOptions = {}) => {
    const { timeout = options.timeout ?? 60_000 } = callOptions;
    const { operation, quota } = call;
    let gate = gates.get(quota);
    if (!gate) gates.set(quota, (gate = openGate(clock, quota)));
    const deadline = clock.now() + timeout;

    return within(
      clock,
      timeout,
      callOptions.signal,
      async (signal) => {
        const requestOf = makeRequest(target, call, callOptions);
        for (let attempt = 1, failures = 0, mayBeDone: boolean | undefined; ; attempt++) {
          const started = clock.now();
          const { info, body, error } = await gate(operation, deadline, signal, () =>
            within(clock, ATTEMPT_TIMEOUT, signal, (limited) =>
              send(requestOf(), call, attempt, limited, { call: signal, caller: callOptions.signal }),
            ),
          );
          const log = (level: keyof Logger, next = "") =>
            options.logger?.[level]?.(
              `petstore: ${operation}, attempt ${attempt}: ${info?.status ?? ""} ${error?.code ?? ""} in ${clock.now() - started} ms, request ${info?.requestId}${next}`,
            );
          if (!error) {
            log("debug");
            return withResponse(body, info);
          }
          const { status, code, retryAfter } = error;
          // An earlier attempt may have deleted it although its response was lost.
          if (call.method === "DELETE" && status === 404 && mayBeDone) return withResponse({}, info as ResponseInfo);
          const wait = 1000 * (retryAfter ?? Math.random() * Math.min(MAX_WAIT, FIRST_WAIT * 2 ** failures));
          const isTransient = retriedStatuses.has(status) || code === "idempotency_key_in_use";
          const isLimited = status === 429 && code !== "too_many_streams"; // the gate waits; this is no failure
          // A stream that was open reconnects until its timeout.
          const isLast = !isLimited && failures++ >= (callOptions.retries ?? options.retries ?? 4) && !call.lastEventId;
          if (!isTransient || clock.now() + wait > deadline || isLast) {
            log("error");
            throw error;
          }
          log("warn", `, again in ${Math.ceil(wait)} ms`);
          if (isLimited) continue;
          mayBeDone ||= code !== "overloaded"; // which means that nothing was done
          await waitFor(clock, wait, signal);
        }
      },
      () => new ConnectionError(`No response within ${timeout} ms.`, { code: "deadline_exceeded", operation }),
    );
  };
}
