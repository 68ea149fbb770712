import { Deadlines } from "./deadlines.ts";
import { BodyDrains } from "./input/body-drains.ts";
import { type LoadLimits, LoadShedder } from "./load-shedder.ts";
import { Unread } from "./response/large-body.ts";
import { Delays } from "./simulation/simulate.ts";
import { type StreamServices, Streams } from "./streams/streams.ts";

/** The time between two checks of load, deadlines and streams, in milliseconds. */
const CHECK_INTERVAL = 100;

/** What limits requests in flight: load, deadlines, drained bodies, delays, streams and what is unread. One timer drives them all. */
export class InFlightControls {
  readonly shedder: LoadShedder;
  readonly deadlines: Deadlines<Response>;
  readonly drains: BodyDrains;
  readonly delays: Delays;
  readonly streams: Streams;
  readonly unread = new Unread();
  #timer: Timer | undefined;

  /** If `limits` is absent, the service's own limits apply. */
  constructor(services: Omit<StreamServices, "unread">, limits?: LoadLimits, maxStreams?: number) {
    const { clock, metrics } = services;
    this.shedder = new LoadShedder(clock, limits);
    this.deadlines = new Deadlines(clock);
    this.drains = new BodyDrains(clock);
    this.delays = new Delays(clock);
    this.streams = new Streams({ ...services, unread: this.unread }, maxStreams);
    metrics.gauge("petstore_requests_pending", "Requests without a response yet.", () => this.deadlines.size);
    metrics.gauge(
      "petstore_requests_waiting",
      "Requests that wait for the store, the limiter or a later turn.",
      () => this.shedder.waiting,
    );
  }

  /** Starts the timer. */
  start(): void {
    this.#timer = setInterval(() => {
      this.deadlines.sweep();
      this.drains.sweep();
      this.delays.sweep();
      this.streams.sweep();
    }, CHECK_INTERVAL);
  }

  /** Stops the timer. Call it when the last request has its response. */
  stop(): void {
    clearInterval(this.#timer);
  }
}
