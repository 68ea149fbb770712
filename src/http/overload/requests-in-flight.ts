import { Deadlines } from "../deadlines.ts";
import { BodyDrains } from "../input/body-drains.ts";
import { Delays } from "../simulation/delays.ts";
import { type StreamServices, Streams } from "../streams/streams.ts";
import type { LoadLimits } from "./load-limits.ts";
import { LoadShedder } from "./load-shedder.ts";

/** The time between two checks of load, deadlines and streams, in milliseconds. */
const CHECK_INTERVAL = 100;

/**
 * Tracks requests in flight: their number, their deadlines, the bodies of refused ones, simulated delays, and open
 * streams.
 */
export class RequestsInFlight {
  readonly shedder: LoadShedder;
  readonly deadlines: Deadlines<Response>;
  readonly drains: BodyDrains;
  readonly delays: Delays;
  readonly streams: Streams;
  #checks: Timer | undefined;

  /** If `limits` is absent, the service's own limits apply. */
  constructor(services: StreamServices, limits?: LoadLimits, maxStreams?: number) {
    const { clock, log, metrics } = services;
    this.shedder = new LoadShedder(clock, limits, (isOverloaded) => {
      if (isOverloaded) log.warn("overload_started");
      else log.info("overload_ended");
    });
    this.deadlines = new Deadlines(clock);
    this.drains = new BodyDrains(clock);
    this.delays = new Delays(clock);
    this.streams = new Streams(services, maxStreams);
    metrics.gauge("petstore_requests_pending", "Requests without a response yet.", () => this.deadlines.size);
    metrics.gauge(
      "petstore_bodies_draining",
      "Bodies of refused requests that are read and discarded.",
      () => this.drains.size,
    );
    metrics.gauge("petstore_responses_delayed", "Responses that test keys asked to delay.", () => this.delays.size);
    metrics.gauge(
      "petstore_requests_waiting",
      "Requests that wait for the store or the limiter.",
      () => this.shedder.waiting,
    );
    metrics.gauge("petstore_overloaded", "1 while requests are refused.", () => Number(this.shedder.isOverloaded));
  }

  /** Starts the checks. */
  start(): void {
    this.#checks = setInterval(() => {
      this.shedder.sample();
      this.deadlines.sweep();
      this.drains.sweep();
      this.delays.sweep();
      this.streams.sweep();
    }, CHECK_INTERVAL);
  }

  /** Stops the checks. Call it when the last request has its response. */
  stop(): void {
    clearInterval(this.#checks);
  }
}
