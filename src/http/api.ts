import {
  type Failure,
  failure,
  internalError,
  invalidApiKey,
  keyBanned,
  overloaded,
  requestTimeout,
  storageUnavailable,
} from "../contract/errors.ts";
import type { Success, Write } from "../contract/operation.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracer } from "../telemetry/tracer.ts";
import type { Clock } from "../timing/clock.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import { answerFailure, answerOptions, answerSuccess } from "./answer.ts";
import type { BodyDrains } from "./body-drains.ts";
import type { ClientAddresses } from "./client-address.ts";
import { readClientRequestId } from "./client-request-id.ts";
import type { Deadlines } from "./deadlines.ts";
import type { Delays } from "./delays.ts";
import { Exchange, type Peers, type Route } from "./exchange.ts";
import type { Idempotency } from "./idempotency/idempotency.ts";
import type { Load } from "./load.ts";
import type { Abuse, Admission, Authenticator, Limiter, Usage } from "./ports.ts";
import type { RoutedRequest } from "./read-input.ts";
import { readInput, type StageServices, stageNames, stages } from "./stages.ts";

/** Seconds after which a client may try again that had no answer in time. */
const LATE_RETRY = 5;

export interface ApiServices {
  readonly authenticator: Authenticator;
  readonly limiter: Limiter;
  readonly usage: Usage;
  /** Runs what an operation changes. */
  readonly write: Write;
  /** Runs it for a request that may be sent again. */
  readonly retries: Idempotency;
  readonly addresses: ClientAddresses;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Undefined where traces are off. */
  readonly tracer: Tracer | undefined;
  readonly load: Load;
  readonly deadlines: Deadlines<Response>;
  readonly abuse: Abuse;
  /** Whether log lines of requests have the client's address. */
  readonly logsAddresses: boolean;
  /** True for a text that may hold an API key, which must not get into the log. */
  readonly mayHoldKey: (text: string) => boolean;
  readonly drains: BodyDrains;
  readonly delays: Delays;
  /** The failure to answer with for an error that a store threw; undefined for one that is unknown. */
  readonly explain: (error: unknown) => Failure | undefined;
}

/** Leads each request through the stages to its answer, and records it. */
export class Api {
  readonly #services: ApiServices;
  readonly #stageServices: StageServices;
  readonly #base: string;
  readonly #basePath: string;
  /** Request ids: a random part for the process, then a counter. */
  readonly #process = crypto.randomUUID().slice(0, 8);
  #count = 0;

  /** `base` is the base address, without a slash at the end. */
  constructor(services: ApiServices, base: string) {
    this.#services = services;
    this.#base = base;
    this.#basePath = new URL(base).pathname;
    this.#stageServices = {
      authenticator: services.authenticator,
      limiter: services.limiter,
      clock: services.clock,
      write: services.write,
      retries: services.retries,
      delays: services.delays,
      addressOf: (exchange) => this.#addressOf(exchange),
    };
  }

  /** Serves one request of a route. Never rejects: what goes wrong becomes an answer. */
  serve(route: Route, request: RoutedRequest, peers: Peers): MaybePromise<Response> {
    const { load } = this.#services;
    const id = `${this.#process}-${(++this.#count).toString(36)}`;
    const exchange = new Exchange(request, route, id, performance.now(), peers);
    if (load.begin(exchange.startedAt, exchange.isWrite)) return this.#refuse(exchange);
    const turn = load.turnFor(exchange.startedAt, exchange);
    return turn ? turn.then(() => this.#answer(exchange)) : this.#answer(exchange);
  }

  #answer(exchange: Exchange): MaybePromise<Response> {
    if (exchange.request.method === "OPTIONS" && exchange.route.allow !== "") return this.#serveOptions(exchange);
    const answer = this.#run(exchange, 0);
    if (answer) return answer;
    exchange.pending = this.#services.deadlines.register(() => this.#expire(exchange));
    return exchange.pending.answer;
  }

  /** Decided before anything is done for the request, and before it is counted. */
  #refuse(exchange: Exchange): MaybePromise<Response> {
    this.#services.metrics.shed();
    const retryAfter = this.#services.load.retryAfter();
    const message = `The service has more to do than it can. Try again in ${retryAfter} seconds.`;
    return this.#fail(exchange, failure(overloaded, message, { retryAfter }));
  }

  /** The answer to a request that has waited too long. */
  #expire(exchange: Exchange): MaybePromise<Response> {
    this.#services.metrics.timedOut(exchange.awaitsBody ? "body" : "store");
    return this.#fail(
      exchange,
      exchange.awaitsBody
        ? failure(requestTimeout, "The body of the request did not arrive in time.")
        : failure(storageUnavailable, "The store did not answer in time. What was asked for may still be done.", {
            retryAfter: LATE_RETRY,
          }),
    );
  }

  /** Runs the stages from number `from` on. Gives nothing if a stage has to wait: the answer is then pending. */
  #run(exchange: Exchange, from: number): MaybePromise<Response> | undefined {
    try {
      for (let index = from; index < stages.length; index++) {
        const outcome = stages[index]?.(exchange, this.#stageServices);
        if (outcome instanceof Promise) {
          this.#wait(exchange, index, outcome);
          return undefined;
        }
        if (outcome) return this.#fail(exchange, outcome);
      }
      return this.#record(exchange, answerSuccess(exchange, exchange.admission as Admission, this.#base));
    } catch (error) {
      return this.#fail(exchange, this.#failureOf(exchange, error));
    }
  }

  /** Goes on when stage number `index` no longer has to wait. */
  #wait(exchange: Exchange, index: number, outcome: Promise<Failure | undefined>): void {
    const { load, metrics, tracer } = this.#services;
    const awaitsBody = stages[index] === readInput;
    const stage = stageNames[index] ?? "";
    const isTimed = !awaitsBody || tracer !== undefined; // reading the clock costs as much as a look-up
    const from = isTimed ? performance.now() : 0;
    exchange.awaitsBody = awaitsBody;
    if (!awaitsBody) load.wait();
    const goOn = (failed: Failure | undefined) => {
      const to = isTimed ? performance.now() : 0;
      if (!awaitsBody) {
        load.endWait();
        metrics.waited(stage, (to - from) / 1000);
      }
      tracer?.waited(exchange, stage, from, to);
      this.#resume(exchange, index + 1, failed);
    };
    void outcome.then(goOn, (error) => goOn(this.#failureOf(exchange, error)));
  }

  /** Goes on at stage number `next`, unless the request has been answered because it took too long. */
  #resume(exchange: Exchange, next: number, failed: Failure | undefined): void {
    const { deadlines } = this.#services;
    const { pending } = exchange;
    if (!pending || !deadlines.isOpen(pending)) return;
    try {
      const answer = failed ? this.#fail(exchange, failed) : this.#run(exchange, next);
      if (answer) deadlines.settle(pending, answer);
    } catch (error) {
      deadlines.settle(pending, Promise.reject(error)); // the server has a last resort
    }
  }

  #fail(exchange: Exchange, failed: Failure): MaybePromise<Response> {
    if (exchange.authFailure?.error === invalidApiKey) this.#services.abuse.invalidKey(this.#addressOf(exchange));
    const isClear = this.#services.drains.clear(exchange.request, failed);
    return whenReady(isClear, (keeps) => this.#giveFailure(exchange, failed, !keeps));
  }

  #giveFailure(exchange: Exchange, failed: Failure, closes: boolean): MaybePromise<Response> {
    const { admission } = exchange;
    exchange.failed = failed;
    if (admission) {
      this.#countDenial(exchange, admission, failed);
      return this.#record(exchange, answerFailure(exchange, admission, failed, closes));
    }
    // A store failed before the request was counted: its address's window stands in for the headers.
    const standIn = this.#services.limiter.peekAddress(this.#addressOf(exchange));
    return whenReady(standIn, (peeked) => this.#record(exchange, answerFailure(exchange, peeked, failed, closes)));
  }

  /** The failure for an error that no stage foresaw: the service goes on, and nothing internal is shown. */
  #failureOf(exchange: Exchange, error: unknown): Failure {
    const { explain, log } = this.#services;
    const explained = explain(error);
    if (explained) log.failing("storage_unavailable", error, { requestId: exchange.id });
    else log.error("request_failed", error, { requestId: exchange.id });
    return explained ?? failure(internalError, `The service failed. The failure is logged as ${exchange.id}.`);
  }

  #serveOptions(exchange: Exchange): MaybePromise<Response> {
    const admission = this.#services.limiter.peekAddress(this.#addressOf(exchange));
    return whenReady(admission, (peeked) => this.#record(exchange, answerOptions(exchange, peeked)));
  }

  #countDenial(exchange: Exchange, admission: Admission, failed: Failure): void {
    if (admission.verdict === "admitted") return;
    if (failed.error === keyBanned) {
      this.#services.metrics.limited("ban");
      if (exchange.caller) this.#services.abuse.banned(exchange.caller, admission);
    } else this.#services.metrics.limited(exchange.caller ? "account" : "address");
  }

  #record(exchange: Exchange, response: Response): MaybePromise<Response> {
    const duration = performance.now() - exchange.startedAt;
    const { caller, failed, simulation } = exchange;
    const isSimulated = simulation !== undefined && isAskedFor(exchange);
    const { usage, metrics, log, tracer } = this.#services;
    const operation = exchange.operation?.operation;
    if (caller) usage.count(caller, operation, response.status);
    metrics.request(operation?.name, isSimulated ? "simulated" : response.status, duration / 1000);
    if (failed && !isSimulated) metrics.failed(operation?.name, failed.error.code);
    if (log.takesRequests || tracer) this.#tell(exchange, response.status, duration);
    return simulation?.delay ? simulation.delay.then(() => response) : response;
  }

  /** Tells log and traces of a request. Its path and its query are told nobody: clients put keys there by mistake. */
  #tell(exchange: Exchange, status: number, duration: number): void {
    const { log, tracer, logsAddresses, mayHoldKey } = this.#services;
    const { id, request, caller, startedAt } = exchange;
    const operation = exchange.operation?.operation;
    const served = {
      id,
      clientRequestId: readClientRequestId(request.headers.get("x-request-id"), mayHoldKey),
      operation: operation?.name,
      method: request.method,
      status,
      code: exchange.failed?.error.code,
      account: caller?.accountId,
      key: caller?.keyId,
      created: operation?.answer.status === 201 ? idOf(exchange.success) : undefined,
      resource: operation?.params && request.params,
      address: logsAddresses ? this.#addressOf(exchange) : undefined,
      simulated: exchange.simulation?.text,
      duration,
    };
    log.request(served);
    tracer?.record(exchange, {
      ...served,
      traceparent: request.headers.get("traceparent"),
      route: operation && this.#basePath + operation.path,
      startedAt,
      isSimulated: isAskedFor(exchange),
    });
  }

  #addressOf(exchange: Exchange): string {
    const { addresses } = this.#services;
    return (exchange.address ??= addresses.of(
      exchange.peer?.address ?? "",
      addresses.readsForwardedFor ? exchange.request.headers.get("x-forwarded-for") : null,
    ));
  }
}

/** True if the request failed because it asked for it. */
function isAskedFor({ failed, simulation }: Exchange): boolean {
  return failed !== undefined && failed === simulation?.failure;
}

/** The id of the resource in an answer, if it has one. */
function idOf(success: Success | undefined): string | number | bigint | undefined {
  const body = success && "body" in success ? success.body : undefined;
  return (body as { readonly id?: string | number | bigint } | undefined)?.id;
}
