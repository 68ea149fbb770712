import type { Caller } from "../../contract/caller.ts";
import { type Failure, failure, streamsExhausted, tooManyStreams } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import { MAX_STREAMS } from "../../contract/stream.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Clock } from "../../timing/clock.ts";
import { type Exchange, IDLE_TIMEOUT } from "../exchange.ts";
import type { Authenticator } from "../interfaces.ts";
import type { Unread } from "../response/response.ts";
import type { EncodedStream } from "./event-encoder.ts";
import { OpenStream, type StreamEnd } from "./open-stream.ts";

/** The maximum number of open streams per process. Tests may set another number. */
const MAX_TOTAL = 10_000;
/** How many seconds the connection of a client that has read too slowly may be idle after its stream has ended. */
const SLOW_IDLE_TIMEOUT = 1;
/** Milliseconds between checks of streams and keys. A change of keys is checked as soon as it is known. */
const CHECK_INTERVAL = 1_000;

interface Entry {
  readonly stream: OpenStream;
  readonly caller: Caller;
  /** Those that its caller must have. */
  readonly scopes: Operation["scopes"];
}

export interface StreamServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly authenticator: Authenticator;
  readonly unread: Unread;
}

/** The streams that are open in this process. */
export class Streams {
  readonly #services: StreamServices;
  readonly #maxTotal: number;
  readonly #open = new Set<Entry>();
  readonly #ofShop = new Map<number, number>();
  #events = 0;
  #slow = 0;
  #checkedAt = 0;
  /** `Authenticator.version` at the last check. */
  #keysVersion = 0;
  #isStopping = false;

  constructor(services: StreamServices, maxTotal = MAX_TOTAL) {
    this.#maxTotal = maxTotal;
    const { metrics } = (this.#services = services);
    metrics.gauge("petstore_streams", "Streams that are open.", () => this.#open.size);
    metrics.counter(
      "petstore_stream_events_total",
      "Events sent on streams, counted when the stream ends.",
      () => this.#events,
    );
    metrics.counter(
      "petstore_streams_slow_total",
      "Streams that were ended because their clients read too slowly.",
      () => this.#slow,
    );
  }

  /** Opens the stream of events that the handler of a request has returned, unless there are too many. */
  open(
    exchange: Exchange,
    caller: Caller,
    { name, scopes }: Operation,
    { source, encoder }: EncodedStream,
  ): OpenStream | Failure {
    const count = this.#ofShop.get(caller.shop) ?? 0;
    if (this.#open.size >= this.#maxTotal) {
      return failure(streamsExhausted, "This process has reached its maximum number of streams.");
    }
    if (count >= MAX_STREAMS) {
      const message = `The shop has ${count} open streams in this process. Close one, or share one.`;
      return failure(tooManyStreams, message);
    }
    const { clock, unread } = this.#services;
    const now = clock.monotonic();
    let stop: (() => void) | undefined;
    const stream = new OpenStream(encoder, caller.shop, source.position, unread, now, (reason) => {
      stop?.();
      this.#close(entry, exchange, name, reason, now);
    });
    const entry: Entry = { stream, caller, scopes };
    this.#open.add(entry);
    this.#ofShop.set(caller.shop, count + 1);
    exchange.setIdleTimeout(0);
    stop = source.start(stream);
    if (!stream.isOpen) stop();
    if (this.#isStopping) stream.close("shutdown");
    return stream;
  }

  /** Ends streams that are due and sends keep-alives on the others. Call it about every 100 ms. */
  sweep(): void {
    const { clock, authenticator } = this.#services;
    const now = clock.monotonic();
    const { version } = authenticator;
    if (now - this.#checkedAt < CHECK_INTERVAL && version === this.#keysVersion) return;
    this.#checkedAt = now;
    this.#keysVersion = version;
    for (const { stream } of this.#open) stream.sweep(now);
    for (const entries of Map.groupBy(this.#open, ({ caller }) => caller.keyId).values()) void this.#checkKey(entries);
  }

  /** Ends all streams. Later ones end immediately. */
  stop(): void {
    this.#isStopping = true;
    for (const { stream } of this.#open) stream.close("shutdown");
  }

  /** Ends the streams of a key that is no longer valid for them. While the store does not respond, they continue. */
  async #checkKey(entries: readonly Entry[]): Promise<void> {
    const [first] = entries as [Entry];
    try {
      const current = await this.#services.authenticator.authenticateAgain(first.caller);
      for (const { stream, caller, scopes } of entries) {
        if (!current || "error" in current) stream.close("key_invalid");
        // Whichever notices a reset first ends the stream: this check or its source.
        else if (current.shop !== caller.shop) stream.endLog();
        else if (current.isSuspended || !scopes.every((scope) => current.scopes.has(scope)))
          stream.close("key_invalid");
      }
    } catch {
      // The next sweep tries again. Requests that hit the same failure log it.
    }
  }

  #close(entry: Entry, exchange: Exchange, operation: string, reason: StreamEnd, since: number): void {
    const { caller, stream } = entry;
    this.#open.delete(entry);
    const left = (this.#ofShop.get(caller.shop) ?? 1) - 1;
    if (left === 0) this.#ofShop.delete(caller.shop);
    else this.#ofShop.set(caller.shop, left);
    if (reason === "slow_client") this.#slow++;
    // The connection of a client that reads nothing must not stay open.
    if (reason !== "client_closed")
      exchange.setIdleTimeout(reason === "slow_client" ? SLOW_IDLE_TIMEOUT : IDLE_TIMEOUT);
    const { events, bytes } = stream.counts;
    this.#events += events;
    this.#services.log.info("stream_ended", {
      requestId: exchange.id,
      operation,
      accountId: caller.accountId,
      keyId: caller.keyId,
      reason,
      seconds: Math.round((this.#services.clock.monotonic() - since) / 1000),
      events,
      bytes,
    });
  }
}
