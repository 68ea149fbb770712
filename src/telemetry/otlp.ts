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

/** The protocol's numbers for the kinds of spans, and for the status of one that failed. */
export const spanKind = { internal: 1, server: 2 } as const;
export const failedStatus = { code: 2 } as const;

/** Milliseconds that a receiver may take for a batch. */
const DEADLINE = 5_000;

/**
 * Returns a function that sends spans to a receiver: OTLP 1.x over HTTP, encoded as JSON. It resolves when the receiver
 * has taken them, and rejects with the reason why it has not.
 */
export function exporterTo({ url, headers }: TraceSettings): (spans: readonly object[]) => Promise<void> {
  const attributes = encodeAttributes({
    "service.name": "petstore",
    "service.version": version,
    "service.instance.id": randomUUID(),
  });
  return async (spans) => {
    const scopeSpans = [{ scope: { name: "petstore" }, spans }];
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify({ resourceSpans: [{ resource: { attributes }, scopeSpans }] }),
      signal: AbortSignal.timeout(DEADLINE),
      redirect: "error",
    });
    await response.arrayBuffer(); // otherwise its connection cannot be used again
    if (!response.ok) throw new Error(`The receiver of traces answered ${response.status}.`);
  };
}

/** The attributes of a span or a process. What is undefined is left out. */
export function encodeAttributes(attributes: Readonly<Record<string, string | number | undefined>>): object[] {
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
