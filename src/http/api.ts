import type { Caller } from "../contract/caller.ts";
import {
  type Failure,
  failure,
  internalError,
  invalidApiKey,
  requestTimeout,
  storageUnavailable,
} from "../contract/errors.ts";
import type { Write } from "../contract/handler.ts";
import type { RequestStage } from "../contract/request-stages.ts";
import type { Clock } from "../timing/clock.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import type { BodyDrains } from "./body-drains.ts";
import { addressOf } from "./client-address.ts";
import type { Deadlines } from "./deadlines.ts";
import type { Delays } from "./delays.ts";
import { Exchange, type Peers, type Route } from "./exchange.ts";
import type { Idempotency } from "./idempotency/idempotency.ts";
import type { Admission, Authenticator, Limiter } from "./interfaces.ts";
import type { LoadShedder } from "./load-shedder.ts";
import type { RoutedRequest } from "./read-input.ts";
import { refuseAtOverload } from "./refuse-at-overload.ts";
import { type ReportServices, RequestReports } from "./request-reports.ts";
import { failureResponse, optionsResponse, successResponse } from "./response.ts";
import { type StageServices, stageNames, stages } from "./stages.ts";
import type { Streams } from "./streams.ts";

/** The `Retry-After` of a request for which the store was too slow, in seconds. */
const LATE_RETRY = 5;

export interface ApiServices extends ReportServices {
  readonly authenticator: Authenticator;
  readonly limiter: Limiter;
  /** Runs the change of an operation. */
  readonly write: Write;
  /** Runs the change of a request with an `Idempotency-Key`. */
  readonly idempotency: Idempotency;
  readonly clock: Clock;
  readonly shedder: LoadShedder;
  readonly deadlines: Deadlines<Response>;
  readonly drains: BodyDrains;
  readonly delays: Delays;
  readonly streams: Streams;
  /** The failure for an error that a store threw; undefined for an unknown error. Never rejects. */
  readonly failureFor: (
    error: unknown,
    caller: Caller | undefined,
    isWrite: boolean,
  ) => MaybePromise<Failure | undefined>;
}

/** Runs the stages of each request, sends its response, and reports it. */
export class Api {
  readonly #services: ApiServices;
  readonly #stageServices: StageServices;
  readonly #reports: RequestReports;
  readonly #base: string;
  /** Request ids: a random part for the process, then a counter. */
  readonly #process = crypto.randomUUID().slice(0, 8);
  #count = 0;

  /** `base` is the base address, without a slash at the end. */
  constructor(services: ApiServices, base: string) {
    this.#services = services;
    this.#base = base;
    this.#reports = new RequestReports(services, new URL(base).pathname);
    this.#stageServices = {
      authenticator: services.authenticator,
      shedder: services.shedder,
      limiter: services.limiter,
      clock: services.clock,
      write: services.write,
      idempotency: services.idempotency,
      delays: services.delays,
      streams: services.streams,
      addressOf: (exchange) => addressOf(exchange, services.addresses),
    };
  }

  /** Serves one request of a route. Never rejects: an error becomes a response. */
  serve(route: Route, request: RoutedRequest, peers: Peers): MaybePromise<Response> {
    const { shedder } = this.#services;
    const id = `${this.#process}-${(++this.#count).toString(36)}`;
    const exchange = new Exchange(request, route, id, performance.now(), peers);
    exchange.isExcess = shedder.begin(exchange.startedAt, exchange.isWrite);
    const turn = shedder.turnFor(exchange.startedAt, exchange);
    return turn ? turn.then(() => this.#respond(exchange)) : this.#respond(exchange);
  }

  #respond(exchange: Exchange): MaybePromise<Response> {
    if (exchange.request.method === "OPTIONS" && exchange.route.allow !== "") return this.#serveOptions(exchange);
    const response = this.#run(exchange, 0);
    if (response) return response;
    exchange.pending = this.#services.deadlines.register(() => this.#expire(exchange));
    return exchange.pending.response;
  }

  /** The response to a request that has waited too long. */
  #expire(exchange: Exchange): MaybePromise<Response> {
    if (exchange.stage === "shedLoad") return this.#fail(exchange, refuseAtOverload(exchange, this.#services.shedder));
    this.#services.metrics.timedOut(exchange.awaitsBody ? "body" : "store");
    return this.#fail(
      exchange,
      exchange.awaitsBody
        ? failure(requestTimeout, "The body of the request did not arrive in time.")
        : failure(
            storageUnavailable,
            `The store did not respond in time.${exchange.isWrite ? " The change may still be done." : ""}`,
            { retryAfter: LATE_RETRY },
          ),
    );
  }

  /** Runs the stages from number `from` on. Returns undefined if a stage must wait: the response is then pending. */
  #run(exchange: Exchange, from: number): MaybePromise<Response> | undefined {
    let index = from;
    try {
      for (; index < stages.length; index++) {
        const outcome = stages[index]?.(exchange, this.#stageServices);
        if (outcome instanceof Promise) {
          this.#wait(exchange, index, outcome);
          return undefined;
        }
        if (outcome) return this.#failIn(index, exchange, outcome);
      }
      return this.#reports.report(exchange, successResponse(exchange, exchange.admission as Admission, this.#base));
    } catch (error) {
      return whenReady(this.#failureOf(exchange, error), (failed) => this.#failIn(index, exchange, failed));
    }
  }

  /** Continues when stage number `index` no longer waits. */
  #wait(exchange: Exchange, index: number, outcome: Promise<Failure | undefined>): void {
    const { shedder, metrics, tracer } = this.#services;
    const stage = stageNames[index] as RequestStage;
    exchange.stage = stage;
    const awaitsBody = stage === "readInput";
    exchange.awaitsBody = awaitsBody;
    const awaitsStore = !awaitsBody && stage !== "shedLoad";
    const isTimed = !awaitsBody || tracer !== undefined; // otherwise not needed, and reading the clock takes time
    const from = isTimed ? performance.now() : 0;
    const shop = exchange.caller?.shop;
    if (awaitsStore) shedder.wait(shop);
    const goOn = (failed: Failure | undefined) => {
      const to = isTimed ? performance.now() : 0;
      if (awaitsStore) shedder.endWait(shop);
      if (!awaitsBody) metrics.waited(stage, (to - from) / 1000);
      tracer?.waited(exchange, stage, from, to);
      this.#resume(exchange, index + 1, failed);
    };
    void outcome.then(goOn, (error) => whenReady(this.#failureOf(exchange, error), goOn));
  }

  /** Continues at stage number `next`, unless the request was late and its response has been replaced. */
  #resume(exchange: Exchange, next: number, failed: Failure | undefined): void {
    const { deadlines } = this.#services;
    const { pending } = exchange;
    if (!pending || !deadlines.isOpen(pending)) return;
    try {
      const response = failed ? this.#fail(exchange, failed) : this.#run(exchange, next);
      if (response) deadlines.settle(pending, response);
    } catch (error) {
      deadlines.settle(pending, Promise.reject(error)); // the server sends a generic 500
    }
  }

  #failIn(index: number, exchange: Exchange, failed: Failure): MaybePromise<Response> {
    exchange.stage = stageNames[index] ?? "handle"; // past the last stage, rendering the result of `handle` has failed
    return this.#fail(exchange, failed);
  }

  #fail(exchange: Exchange, failed: Failure): MaybePromise<Response> {
    if (exchange.authFailure?.error === invalidApiKey)
      this.#services.abuse.invalidKey(addressOf(exchange, this.#services.addresses));
    const isReusable = this.#services.drains.drain(exchange.request, failed);
    return whenReady(isReusable, (reusable) => this.#respondWithFailure(exchange, failed, !reusable));
  }

  #respondWithFailure(exchange: Exchange, failed: Failure, closesConnection: boolean): MaybePromise<Response> {
    const { admission } = exchange;
    exchange.failed = failed;
    if (exchange.stage === "shedLoad") this.#services.metrics.shed();
    if (admission) {
      this.#reports.countDenial(exchange, admission, failed);
      return this.#reports.report(exchange, failureResponse(exchange, admission, failed, closesConnection));
    }
    // The request was not counted, because it was refused at overload or a store failed first. So the headers show the
    // window of its address.
    const standIn = this.#services.limiter.peekAddress(addressOf(exchange, this.#services.addresses));
    return whenReady(standIn, (peeked) =>
      this.#reports.report(exchange, failureResponse(exchange, peeked, failed, closesConnection)),
    );
  }

  /** The failure for an unexpected error. The service continues, and the response reveals nothing internal. */
  #failureOf(exchange: Exchange, error: unknown): MaybePromise<Failure> {
    const { failureFor, log } = this.#services;
    return whenReady(failureFor(error, exchange.caller, exchange.isWrite), (known) => {
      // An error that the client's own request caused is not a failure of the store.
      if (known && known.error !== storageUnavailable) return known;
      if (known) log.failing("storage_unavailable", error, { requestId: exchange.id });
      else log.error("request_failed", error, { requestId: exchange.id });
      return known ?? failure(internalError, `An internal error. It is logged as ${exchange.id}.`);
    });
  }

  #serveOptions(exchange: Exchange): MaybePromise<Response> {
    const admission = this.#services.limiter.peekAddress(addressOf(exchange, this.#services.addresses));
    return whenReady(admission, (peeked) => this.#reports.report(exchange, optionsResponse(exchange, peeked)));
  }
}
