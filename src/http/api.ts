import type { Caller } from "../contract/caller.ts";
import {
  type Failure,
  failure,
  internalError,
  invalidApiKey,
  requestTimeout,
  storageUnavailable,
} from "../contract/errors.ts";
import { type RequestStage, requestStages } from "../contract/requests.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import type { Deadlines } from "./deadlines.ts";
import { Exchange, type Peers, type Route } from "./exchange.ts";
import type { BodyDrains } from "./input/body-drains.ts";
import { addressOf } from "./input/client-address.ts";
import type { RoutedRequest } from "./input/read-input.ts";
import type { Admission } from "./interfaces.ts";
import { type ReportServices, RequestReports } from "./request-reports.ts";
import { failureResponse, optionsResponse, successResponse } from "./response/response.ts";
import { refuseAtOverload, type StageServices, stages } from "./stages.ts";

/** The `Retry-After` of a request for which the store was too slow, in seconds. */
const LATE_RETRY = 5;

/** The length of a request id. It is random, so that it shows nothing of other requests. */
const ID_BYTES = 10;

export interface ApiServices extends StageServices, ReportServices {
  readonly deadlines: Deadlines<Response>;
  readonly drains: BodyDrains;
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
  readonly #reports: RequestReports;
  readonly #base: string;
  /** Random bytes for the next request ids. Getting many at once costs less. */
  readonly #random = Buffer.alloc(ID_BYTES * 500);
  #used = this.#random.length;

  /** `base` is the base address, without a slash at the end. */
  constructor(services: ApiServices, base: string) {
    this.#services = services;
    this.#base = base;
    this.#reports = new RequestReports(services, base);
  }

  /** Serves one request of a route. Never rejects: an error becomes a response. */
  serve(route: Route, request: RoutedRequest, peers: Peers): MaybePromise<Response> {
    return this.#respond(new Exchange(request, route, this.#newId(), performance.now(), peers));
  }

  #newId(): string {
    if (this.#used === this.#random.length) {
      crypto.getRandomValues(this.#random);
      this.#used = 0;
    }
    return this.#random.toString("hex", this.#used, (this.#used += ID_BYTES));
  }

  #respond(exchange: Exchange): MaybePromise<Response> {
    if (exchange.request.method === "OPTIONS" && exchange.route.allow !== "") return this.#serveOptions(exchange);
    const response = this.#run(exchange, 0);
    if (response) return response;
    exchange.pending = this.#services.deadlines.register(() => this.#expire(exchange));
    return exchange.pending.result;
  }

  /** The response to a request that has waited too long. */
  #expire(exchange: Exchange): MaybePromise<Response> {
    const { metrics } = this.#services;
    if (exchange.stage === "shedLoad") return this.#fail(exchange, refuseAtOverload(exchange));
    metrics.timedOut(exchange.awaitsBody ? "body" : "store");
    if (exchange.awaitsBody)
      return this.#fail(exchange, failure(requestTimeout, "The body of the request did not arrive in time."));
    // Later stages of a late request do not run.
    const change = exchange.isWrite && exchange.stage === "handle" ? " The change may still be done." : "";
    const message = `The store did not respond in time.${change}`;
    return this.#fail(exchange, failure(storageUnavailable, message, { retryAfter: LATE_RETRY }));
  }

  /** Runs the stages from number `from` on. Returns undefined if a stage must wait: the response is then pending. */
  #run(exchange: Exchange, from: number): MaybePromise<Response> | undefined {
    let index = from;
    try {
      for (; index < stages.length; index++) {
        const outcome = stages[index]?.(exchange, this.#services);
        if (outcome instanceof Promise) {
          this.#wait(exchange, index, outcome);
          return undefined;
        }
        if (outcome) return this.#failIn(index, exchange, outcome);
      }
      return this.#reports.report(
        exchange,
        successResponse(exchange, exchange.admission as Admission, this.#base, this.#services.unread),
      );
    } catch (error) {
      return whenReady(this.#failureOf(exchange, error), (failed) => this.#failIn(index, exchange, failed));
    }
  }

  /** Continues when stage number `index` no longer waits. */
  #wait(exchange: Exchange, index: number, outcome: Promise<Failure | undefined>): void {
    const { shedder, metrics, tracer } = this.#services;
    const stage = requestStages[index] as RequestStage;
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
    if (!pending?.isOpen) return;
    try {
      const response = failed ? this.#fail(exchange, failed) : this.#run(exchange, next);
      if (response) deadlines.settle(pending, response);
    } catch (error) {
      deadlines.settle(pending, Promise.reject(error)); // the server sends a generic 500
    }
  }

  #failIn(index: number, exchange: Exchange, failed: Failure): MaybePromise<Response> {
    exchange.stage = requestStages[index] ?? "handle"; // past the last stage, rendering the result of `handle` has failed
    return this.#fail(exchange, failed);
  }

  #fail(exchange: Exchange, failed: Failure): MaybePromise<Response> {
    if (exchange.authFailure?.error === invalidApiKey)
      this.#services.abuse.invalidKey(addressOf(exchange, this.#services.addresses));
    // Before the body is drained: that can take seconds, and by then a key that was limited can be banned.
    if (exchange.admission) this.#reports.countDenial(exchange, exchange.admission, failed);
    const isReusable = this.#services.drains.drain(exchange.request, failed);
    return whenReady(isReusable, (reusable) => this.#respondWithFailure(exchange, failed, !reusable));
  }

  #respondWithFailure(exchange: Exchange, failed: Failure, closesConnection: boolean): MaybePromise<Response> {
    const { admission } = exchange;
    exchange.failed = failed;
    if (exchange.stage === "shedLoad") this.#services.metrics.shed();
    if (admission)
      return this.#reports.report(exchange, failureResponse(exchange, admission, failed, closesConnection));
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
      // A shop that was reset or deleted during the request is not a failure of the store.
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
