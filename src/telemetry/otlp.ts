import { randomUUID } from "node:crypto";
import { version } from "./version.ts";

/** Where traces are sent, and what is in them. */
export interface TraceSettings {
  /** The receiver's address for traces. */
  readonly url: string;
  /** Sent with each batch. They may hold a secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** The fraction of requests to trace, from 0 to 1, unless the client decides. */
  readonly ratio: number;
}

/** The protocol's numbers for the kinds of spans. */
export const spanKind = { internal: 1, server: 2 } as const;

/** One timed piece of work. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: (typeof spanKind)[keyof typeof spanKind];
  /** Unix nanoseconds. */
  readonly start: bigint;
  readonly end: bigint;
  /** What is undefined is left out. */
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly isError: boolean;
}

/** Milliseconds that a receiver may take for a batch. */
const DEADLINE = 5_000;
/** The protocol's number for the status of a span that failed. */
const ERROR = 2;

/** Sends spans to a receiver: OTLP 1.x over HTTP, encoded as JSON. */
export class OtlpExporter {
  readonly #settings: TraceSettings;
  readonly #resource: object;

  constructor(settings: TraceSettings) {
    this.#settings = settings;
    this.#resource = {
      attributes: encodeAttributes({
        "service.name": "petstore",
        "service.version": version,
        "service.instance.id": randomUUID(),
      }),
    };
  }

  /** Resolves when the receiver has taken them. Rejects with the reason why it has not. */
  async send(spans: readonly Span[]): Promise<void> {
    const scopeSpans = [{ scope: { name: "petstore" }, spans: spans.map(encodeSpan) }];
    const response = await fetch(this.#settings.url, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...this.#settings.headers },
      body: JSON.stringify({ resourceSpans: [{ resource: this.#resource, scopeSpans }] }),
      signal: AbortSignal.timeout(DEADLINE),
      redirect: "error",
    });
    await response.arrayBuffer(); // otherwise its connection cannot be used again
    if (!response.ok) throw new Error(`The receiver of traces answered ${response.status}.`);
  }
}

function encodeSpan({ parentSpanId, start, end, attributes, isError, ...span }: Span): object {
  return {
    ...span,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(end),
    attributes: encodeAttributes(attributes),
    ...(isError ? { status: { code: ERROR } } : {}),
  };
}

function encodeAttributes(attributes: Span["attributes"]): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [{ key, value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value } }],
  );
}

/** Appends `/v1/traces` to the address of a receiver (OpenTelemetry, "OTLP exporter"); undefined if it is not valid. */
export function parseOtlpEndpoint(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  return isPlain ? `${url.origin}${url.pathname.replace(/\/$/, "")}/v1/traces` : undefined;
}

/** Headers as `name=value,name=value`, values percent-encoded where they need it. */
export function parseOtlpHeaders(text: string): Record<string, string> | undefined {
  const pairs = text.split(",").map((pair) => /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(.*?)\s*$/.exec(pair));
  try {
    const headers = new Headers(pairs.map((pair) => [pair?.[1] ?? "", decodeURIComponent(pair?.[2] ?? "")]));
    return Object.fromEntries(headers);
  } catch {
    return undefined;
  }
}
