import { randomBytes } from "node:crypto";
import type { Clock } from "../timing/clock.ts";
import { settlesWithin } from "../timing/waiting.ts";
import type { Log, RequestLine } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { encodeAttributes, exporterTo, failedStatus, spanKind, type TraceSettings } from "./otlp.ts";

/** How long requests are buffered before they are sent, in milliseconds. */
const SEND_AFTER = 1_000;
/** The maximum number of requests in one batch. */
const BATCH = 512;
/** The maximum number of buffered requests, about 2 MB. Further ones are dropped and counted. */
const MAX_BUFFERED = 4_096;
/** How long a stopping service waits for the receiver, in milliseconds. */
const CLOSE_TIMEOUT = 1_000;

/** The methods that a trace shows by name (OpenTelemetry, semantic conventions for HTTP). */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]);

/** A request that has its response. */
export interface ServedRequest extends RequestLine {
  /** Its header of that name. */
  readonly traceparent: string | null;
  /** The pattern of its path, with that of the base address. */
  readonly route: string | undefined;
  /** Its path below the base address; undefined if it could hold a key, which clients put there by mistake. */
  readonly path: string | undefined;
  /** The base address of the service. */
  readonly base: URL;
  /** True for a simulated failure. */
  readonly isSimulated: boolean;
  /** Milliseconds of `performance.now`. */
  readonly startedAt: number;
}

/** A stage of a request that had to wait, in milliseconds of `performance.now`. */
interface Wait {
  readonly stage: string;
  readonly from: number;
  readonly to: number;
}

/** A request whose spans were not sent yet. */
interface Buffered extends ServedRequest {
  readonly parent: ReturnType<typeof parseTraceparent>;
  readonly waits: readonly Wait[];
  readonly endedAt: number;
  /** Its end by the wall clock, in unix milliseconds. */
  readonly endedAtWall: number;
}

/**
 * Records requests as OpenTelemetry spans and sends them in batches, after the responses. A request is a span. Each of
 * its stages that had to wait, such as for the store's commit or the client's body, is a child span.
 */
export class Tracer {
  readonly #export: ReturnType<typeof exporterTo>;
  readonly #ratio: number;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #waits = new WeakMap<object, Wait[]>();
  #buffered: Buffered[] = [];
  readonly #timer: Timer;
  #sending: Promise<void> | undefined;
  #isReceiverFailing = false;
  #dropped = 0;

  constructor(settings: TraceSettings, { clock, log, metrics }: { clock: Clock; log: Log; metrics: Metrics }) {
    this.#export = exporterTo(settings);
    this.#ratio = settings.ratio;
    this.#clock = clock;
    this.#log = log;
    this.#timer = setInterval(() => void this.#send(), SEND_AFTER).unref();
    metrics.gauge("petstore_traces_waiting", "Requests whose spans are not sent yet.", () => this.#buffered.length);
    metrics.counter("petstore_traces_dropped_total", "Requests whose spans were dropped.", () => this.#dropped);
  }

  /** Notes that a stage of the request has waited from one moment to another, of `performance.now`. */
  waited(request: object, stage: string, from: number, to: number): void {
    this.#waits.getOrInsertComputed(request, () => []).push({ stage, from, to });
  }

  /** Records a request, unless the sampling decision of its client, or chance, excludes it. */
  record(request: object, served: ServedRequest): void {
    const parent = parseTraceparent(served.traceparent);
    if (!(parent ? parent.isSampled : Math.random() < this.#ratio)) return;
    if (this.#buffered.length >= MAX_BUFFERED) {
      this.#dropped++;
      return;
    }
    const waits = this.#waits.get(request) ?? [];
    this.#buffered.push({ ...served, parent, waits, endedAt: performance.now(), endedAtWall: this.#clock.now() });
    if (this.#buffered.length >= BATCH && !this.#isReceiverFailing) void this.#send(BATCH);
  }

  /** Sends the buffered requests, for at most `CLOSE_TIMEOUT`. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const sendRest = async () => {
      await this.#sending;
      await this.#send();
    };
    await settlesWithin(sendRest(), CLOSE_TIMEOUT);
  }

  /** Sends batches while at least so many requests are buffered. A batch that the receiver does not accept is dropped. */
  #send(least = 1): Promise<void> {
    const sendBatches = async () => {
      do await this.#sendBatch(this.#buffered.splice(0, BATCH));
      while (this.#buffered.length >= least && !this.#isReceiverFailing);
    };
    if (this.#buffered.length > 0) {
      this.#sending ??= sendBatches().finally(() => {
        this.#sending = undefined;
      });
    }
    return this.#sending ?? Promise.resolve();
  }

  async #sendBatch(batch: readonly Buffered[]): Promise<void> {
    try {
      await this.#export(batch.flatMap(spansOf));
      if (this.#isReceiverFailing) this.#log.info("traces_delivered_again");
      this.#isReceiverFailing = false;
    } catch (error) {
      this.#dropped += batch.length;
      if (!this.#isReceiverFailing) this.#log.warn("traces_not_delivered", { reason: (error as Error).message });
      this.#isReceiverFailing = true;
    }
  }
}

/** The span of a request, and one for each of its waits, in the form of the protocol. */
function spansOf({ parent, waits, endedAt, endedAtWall, startedAt, ...served }: Buffered): object[] {
  const traceId = parent?.traceId ?? randomBytes(16).toString("hex");
  const spanId = randomBytes(8).toString("hex");
  /** Unix nanoseconds, back from the wall clock at the end, because that clock may be set while a request is served. */
  const at = (moment: number) =>
    String(BigInt(Math.round(endedAtWall)) * 1_000_000n - BigInt(Math.round((endedAt - moment) * 1e6)));
  const { base, route, address } = served;
  const isKnown = methods.has(served.method);
  const method = isKnown ? served.method : "_OTHER";
  const isError = served.status >= 500 && !served.isSimulated;
  return [
    {
      traceId,
      spanId,
      parentSpanId: parent?.spanId,
      name: [isKnown ? method : "HTTP", route].filter(Boolean).join(" "),
      kind: spanKind.server,
      startTimeUnixNano: at(startedAt),
      endTimeUnixNano: at(endedAt),
      attributes: encodeAttributes({
        "http.request.method": method,
        "http.request.method_original": isKnown ? undefined : served.method,
        "http.route": route,
        "url.scheme": base.protocol.slice(0, -1),
        "url.path": base.pathname + (served.path ?? "/REDACTED"),
        "server.address": base.hostname,
        "server.port": Number(base.port || (base.protocol === "https:" ? 443 : 80)),
        "client.address": address,
        "http.response.status_code": served.status,
        "error.type": isError ? String(served.status) : undefined,
        "petstore.operation": served.operation,
        "petstore.request.id": served.requestId,
        "petstore.request.client_id": served.clientRequestId,
        "petstore.error.code": served.code,
        "petstore.error.simulated": served.isSimulated ? "true" : undefined,
        "petstore.account.id": served.accountId,
        "petstore.key.id": served.keyId,
      }),
      status: isError ? failedStatus : undefined,
    },
    ...waits.map(({ stage, from, to }) => ({
      traceId,
      spanId: randomBytes(8).toString("hex"),
      parentSpanId: spanId,
      name: stage,
      kind: spanKind.internal,
      startTimeUnixNano: at(from),
      endTimeUnixNano: at(to),
      attributes: [],
    })),
  ];
}

const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads a client's place in a trace, and whether it records that, from a header `traceparent` (W3C Trace Context, section
 * 3.2). Undefined for none and for one that is not
 * valid, which starts a new trace (section 4.3). A later version may have further fields at its end.
 */
export function parseTraceparent(header: string | null) {
  const [, version, traceId = "", spanId = "", flags = "", more] = form.exec(header ?? "") ?? [];
  if (version === undefined || (version === "00" && more !== undefined)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
