import { randomBytes } from "node:crypto";
import type { Caller } from "../contract/caller.ts";
import { type Failure, failure, internalError, requestTimeout, storageUnavailable } from "../contract/errors.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import { turns } from "../timing/turns.ts";
import type { Deadlines } from "./deadlines.ts";
import { Exchange, type Peers, type Route } from "./exchange.ts";
import type { BodyDrains } from "./input/body-drains.ts";
import type { ClientAddresses } from "./input/client-address.ts";
import type { RoutedRequest } from "./input/read-input.ts";
import { type ReportRequest, type ReportServices, requestReports } from "./request-reports.ts";
import { failureResponse, optionsResponse } from "./response/response.ts";
import { overloadedNow, runStages, type StageServices, type Stages } from "./stages.ts";

/** The `Retry-After` of a request for which the store was too slow, in seconds. */
const LATE_RETRY = 5;

/** The length of a request id. It is random, so that it shows nothing of other requests. */
const ID_LENGTH = 20;
/** How many ids are made at once, which costs less. */
const IDS = 500;

export interface ApiServices extends StageServices, ReportServices {
  readonly deadlines: Deadlines<Response>;
  readonly drains: BodyDrains;
  readonly addresses: ClientAddresses;
  /** The failure for an error that a store threw; undefined for an unknown error. Never rejects. */
  readonly failureFor: (
    error: unknown,
    caller: Caller | undefined,
    isWrite: boolean,
  ) => MaybePromise<Failure | undefined>;
}

/** True for what a browser sends before a request to another site (Fetch standard, section 4.8). It has no key. */
function isPreflight({ headers }: Request): boolean {
  return headers.has("access-control-request-method");
}

/** Runs the stages of each request, sends its response, and reports it. */
export class Api {
  readonly #services: ApiServices;
  readonly #report: ReportRequest;
  /** The next request ids, one after the other. */
  #ids = "";
  #used = 0;

  constructor(services: ApiServices, base: string) {
    this.#services = services;
    this.#report = requestReports(services, base);
  }

  /** Serves one request of a route. Never rejects: an error becomes a response. */
  serve(route: Route, request: RoutedRequest, peers: Peers): MaybePromise<Response> {
    const exchange = new Exchange(request, route, this.#newId(), peers, this.#services.addresses);
    if (request.method === "OPTIONS" && (route.allow !== "" || isPreflight(request))) {
      return this.#serveOptions(exchange);
    }
    const response = this.#run(exchange, runStages(exchange, this.#services), exchange.startedAt);
    if (response) return response;
    exchange.pending = this.#services.deadlines.register(() => this.#expire(exchange));
    return exchange.pending.result;
  }

  #newId(): string {
    if (this.#used === this.#ids.length) {
      this.#ids = randomBytes((IDS * ID_LENGTH) / 2).toString("hex");
      this.#used = 0;
    }
    return this.#ids.slice(this.#used, (this.#used += ID_LENGTH));
  }

  /** The response to a request that has waited too long. Its later stages do not run. */
  #expire(exchange: Exchange): MaybePromise<Response> {
    const { metrics } = this.#services;
    const stage = exchange.reportedStage;
    if (stage === "shedLoad") return this.#fail(exchange, overloadedNow);
    metrics.timedOut(stage === "readInput" ? "body" : "store");
    if (stage === "readInput")
      return this.#fail(exchange, failure(requestTimeout, "The body of the request did not arrive in time."));
    const change = exchange.isWrite && stage === "handle" ? " The change may still be done." : "";
    const message = `The store did not respond in time.${change}`;
    return this.#fail(exchange, failure(storageUnavailable, message, { retryAfter: LATE_RETRY }));
  }

  /**
   * Runs the stages until one must wait; returns undefined then: the response is pending. `value` is what the last one
   * has waited for, until `since`. The shop of the request pays for the time.
   */
  #run(exchange: Exchange, stages: Stages, since: number, value?: unknown): MaybePromise<Response> | undefined {
    try {
      const { done, value: result } = stages.next(value as never);
      if (!done) return this.#wait(exchange, stages, result);
      if (result instanceof Promise) return result;
      return result instanceof Response ? this.#finish(exchange, result) : this.#fail(exchange, result);
    } catch (error) {
      return whenReady(this.#failureOf(exchange, error), (failed) => this.#fail(exchange, failed));
    } finally {
      turns.charge(exchange.payer, since);
    }
  }

  /** Continues when the promise of a stage has settled. */
  #wait(exchange: Exchange, stages: Stages, promise: Promise<unknown>): undefined {
    const { shedder, metrics, tracer } = this.#services;
    const stage = exchange.reportedStage;
    const awaitsBody = stage === "readInput";
    const awaitsStoreOrLimiter = !awaitsBody && stage !== "shedLoad";
    const from = performance.now();
    const shop = exchange.payer;
    if (awaitsStoreOrLimiter) shedder.wait(shop);
    const goOn = (next: (now: number) => MaybePromise<Response> | undefined) => {
      const to = performance.now();
      if (awaitsStoreOrLimiter) shedder.endWait(shop);
      if (!awaitsBody) metrics.waited(stage, (to - from) / 1000);
      tracer?.waited(exchange, stage, from, to);
      this.#resume(exchange, () => next(to));
    };
    void promise.then(
      (value) => goOn((now) => this.#run(exchange, stages, now, value)),
      (error) => whenReady(this.#failureOf(exchange, error), (failed) => goOn(() => this.#fail(exchange, failed))),
    );
  }

  /** Continues with `next`, unless the request was late and its response has been replaced. */
  #resume({ pending }: Exchange, next: () => MaybePromise<Response> | undefined): void {
    const { deadlines } = this.#services;
    if (!pending?.isOpen) return;
    try {
      const response = next();
      if (response) deadlines.settle(pending, response);
    } catch (error) {
      deadlines.settle(pending, Promise.reject(error)); // the server sends a generic 500
    }
  }

  #fail(exchange: Exchange, failed: Failure): MaybePromise<Response> {
    const isReusable = this.#services.drains.drain(exchange.request, failed);
    return whenReady(isReusable, (reusable) => this.#respondWithFailure(exchange, failed, !reusable));
  }

  #respondWithFailure(exchange: Exchange, failed: Failure, closesConnection: boolean): MaybePromise<Response> {
    const { admission, compiled } = exchange;
    exchange.failed = failed;
    if (exchange.reportedStage === "shedLoad") this.#services.metrics.shed();
    if (admission)
      return this.#finish(exchange, failureResponse(exchange, compiled, admission, failed, closesConnection));
    // The request was not counted, because it was refused at overload or a store failed first. So the headers show the
    // window of its address.
    const standIn = this.#services.limiter.peekAddress(exchange.address);
    return whenReady(standIn, (peeked) =>
      this.#finish(exchange, failureResponse(exchange, compiled, peeked, failed, closesConnection)),
    );
  }

  /** Reports the request. A simulated delay comes before its response. */
  #finish(exchange: Exchange, response: Response): MaybePromise<Response> {
    this.#report(exchange, response);
    const delay = exchange.simulation?.delay;
    return delay ? delay.then(() => response) : response;
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
    const admission = this.#services.limiter.peekAddress(exchange.address);
    return whenReady(admission, (peeked) => this.#finish(exchange, optionsResponse(exchange, peeked)));
  }
}
