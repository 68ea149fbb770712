import { type Answer, answerOf, bodyOf } from "./answer.ts";
import { limitedSignal, sleep } from "./clock.ts";
import { deprecationOf, warnOfDeprecation } from "./deprecation.ts";
import { ConnectionError, type PetstoreError } from "./errors.ts";
import { Gate } from "./gate.ts";
import type { IdKind } from "./json.ts";
import { type Attempt, type CallOptions, type Options, readTarget, type Target } from "./options.ts";
import { type Page, Pages } from "./pages.ts";
import { type AnyOptions, type Call, callOf, makeRequest, type OperationRow } from "./request.ts";
import { linkOf, withResponse } from "./response.ts";

/** An attempt that takes longer counts as lost, in milliseconds. */
const LONGEST_ATTEMPT = 30_000;
/** The waits between attempts grow from the first to the second of these, in milliseconds. */
const FIRST_WAIT = 250;
const LONGEST_WAIT = 8_000;
const retriedStatuses: ReadonlySet<unknown> = new Set([408, 429, 502, 503, 504]);

/** One gate for each key, whichever client uses it. What costs no quota has one of its own. */
const gates = new Map<string, Gate>();

/** What all operations share: a call is sent until there is a response that no other attempt can better. */
export class Client<Ids extends IdKind> {
  readonly #options: Options<Ids>;
  readonly #target: Target;
  readonly #deprecated = new Set<string>();

  constructor(options: Options<Ids> = {}) {
    this.#options = options;
    this.#target = readTarget(options);
  }

  /** Gives a class a method for each operation. Its inputs are path parameters, body, query and options. */
  protected static define(operations: Readonly<Record<string, OperationRow>>): void {
    for (const [operation, row] of Object.entries(operations)) {
      const value = function (this: Client<IdKind>, ...inputs: unknown[]) {
        const call = callOf(operation, row, inputs);
        const [options] = inputs as [AnyOptions?];
        return row.includes("list") ? this.#list(call, options) : this.#call(call, options);
      };
      Object.defineProperty(this.prototype, operation, { value });
    }
  }

  #list(call: Call, options?: CallOptions): Pages<unknown> {
    return new Pages(async (cursor) => {
      const page = (await this.#call(
        { ...call, query: { ...call.query, ...(cursor && { cursor }) } },
        options,
      )) as Page<unknown>;
      const next = linkOf(page.$response.headers, "next");
      // Only the cursor is taken: no address in a response decides where the key is sent.
      const value = (next && new URL(next, this.#target.baseUrl).searchParams.get("cursor")) || undefined;
      return Object.defineProperty(page, "next", { value });
    });
  }

  async #call(call: Call, options: AnyOptions = {}): Promise<object> {
    const { clock } = this.#target;
    const { timeout = this.#options.timeout ?? 60_000, signal: parent } = options;
    const { operation } = call;
    const late = () =>
      new ConnectionError(`No response within ${timeout} ms.`, { code: "deadline_exceeded", operation });
    const { signal, end } = limitedSignal(clock, timeout, parent, late);
    try {
      const { info, body, error } = await this.#answer(call, options, clock.now() + timeout, signal);
      if (error) throw error;
      return withResponse(body, info);
    } finally {
      end();
    }
  }

  async #answer(call: Call, options: AnyOptions, deadline: number, signal: AbortSignal): Promise<Answer> {
    const { clock } = this.#target;
    const { operation } = call;
    const gate = this.#gate(call);
    const request = makeRequest(this.#target, call, options);
    let failures = 0;
    let mayBeDone = false; // by an attempt without a response
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#attempt({ operation, attempt }, gate, request, deadline, signal);
      if (!answer.error) return answer;
      const { info, error } = answer;
      const { status, code, retryAfter } = error;
      if (info && status === 404 && mayBeDone && call.method === "DELETE") return { info, body: {} };
      const isLimited = status === 429; // waits for a limit are the gate's, and no failures
      const isTransient = !info || retriedStatuses.has(status) || code === "idempotency_key_in_use";
      const wait = retryAfter ? retryAfter * 1000 : Math.random() * Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** failures);
      if (!isTransient || clock.now() + wait > deadline) return answer;
      if (isLimited) continue;
      if (failures++ >= (this.#options.retries ?? 4)) return answer;
      mayBeDone = true;
      await sleep(clock, wait, signal);
    }
  }

  /** Sends a request once, when its turn has come. Throws the reason of the signal, and what a hook throws. */
  async #attempt(
    attempt: Attempt,
    gate: Gate,
    requestOf: (signal: AbortSignal) => Request,
    deadline: number,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { fetch: send = fetch, onRequest, onResponse, onDeprecated = warnOfDeprecation, ids } = this.#options;
    const { operation } = attempt;
    const lost = (cause: unknown): PetstoreError => {
      signal.throwIfAborted();
      return new ConnectionError(
        `The service cannot be reached: ${cause}`,
        { code: "connection_failed", operation },
        cause,
      );
    };
    await gate.enter(operation, deadline, signal);
    const limited = limitedSignal(this.#target.clock, LONGEST_ATTEMPT, signal);
    let answer: Answer | undefined;
    try {
      const request = requestOf(limited.signal);
      await onRequest?.(request, attempt);
      const response = await send(request).catch(lost);
      if (response instanceof Error) return { error: response };
      await onResponse?.(response, attempt);
      const body = await bodyOf(response).catch(lost);
      if (body instanceof Error) return { error: body };
      answer = answerOf(response, body, operation, ids);
      const notice = deprecationOf(operation, response.headers);
      if (notice && !this.#deprecated.has(operation)) {
        this.#deprecated.add(operation);
        onDeprecated(notice);
      }
      return answer;
    } finally {
      limited.end();
      gate.leave(answer);
    }
  }

  #gate({ isFree }: Call): Gate {
    const { key, baseUrl, clock } = this.#target;
    const id = `${baseUrl} ${key} ${isFree}`;
    let gate = gates.get(id);
    if (!gate) gates.set(id, (gate = new Gate(clock)));
    return gate;
  }
}
