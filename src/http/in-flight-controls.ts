import { Deadlines } from "./deadlines.ts";
import { BodyDrains } from "./input/body-drains.ts";
import { type LoadLimits, LoadShedder } from "./load-shedder.ts";
import { Unread } from "./response/response.ts";
import { openDelays } from "./simulation/simulate.ts";
import { type StreamServices, Streams } from "./streams/streams.ts";

/** The time between two checks of deadlines and streams, in milliseconds. */
const CHECK_INTERVAL = 100;

export type InFlightControls = ReturnType<typeof openControls>;

/**
 * Opens what limits requests in flight: load, deadlines, drained bodies, delays, streams and what is unread. One timer
 * drives them. If `limits` is absent, the service's own limits apply.
 */
export function openControls(services: Omit<StreamServices, "unread">, limits?: LoadLimits, maxStreams?: number) {
  const { clock, metrics } = services;
  const shedder = new LoadShedder(limits);
  const deadlines = new Deadlines<Response>(clock);
  const drains = new BodyDrains(clock);
  const delays = openDelays(clock);
  const unread = new Unread();
  const streams = new Streams({ ...services, unread }, maxStreams);
  metrics.gauge("petstore_requests_pending", "Requests without a response yet.", () => deadlines.size);
  metrics.gauge(
    "petstore_requests_waiting",
    "Requests that wait for the store, the limiter or a later turn.",
    () => shedder.waiting,
  );
  let timer: Timer | undefined;
  return {
    shedder,
    deadlines,
    drains,
    delays,
    unread,
    streams,
    start: () => {
      timer = setInterval(() => {
        for (const timed of [deadlines, drains, delays, streams]) timed.sweep();
      }, CHECK_INTERVAL);
    },
    /** Stops the timer. Call it when the last request has its response. */
    stop: () => clearInterval(timer),
  };
}
