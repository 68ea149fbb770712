/** A span as a receiver reads it: attributes by name. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly status?: { readonly code: number };
}

interface Encoded {
  readonly resourceSpans: {
    readonly resource: { readonly attributes: readonly EncodedAttribute[] };
    readonly scopeSpans: {
      readonly spans: (Omit<ReceivedSpan, "attributes"> & { attributes: EncodedAttribute[] })[];
    }[];
  }[];
}

interface EncodedAttribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string };
}

function decode(attributes: readonly EncodedAttribute[]): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)] as const),
  );
}

/** A receiver of traces: OTLP over HTTP as JSON. */
export class TraceReceiver implements Disposable {
  readonly spans: ReceivedSpan[] = [];
  /** Attributes of the service that sent the last batch. */
  resource: Record<string, string | number> = {};
  /** Path and headers of each batch. */
  readonly batches: { readonly path: string; readonly headers: Headers; readonly text: string }[] = [];
  /** The status that it answers with. */
  status = 200;
  readonly #server: Bun.Server<undefined>;

  constructor(port = 0) {
    this.#server = Bun.serve({ hostname: "127.0.0.1", port, fetch: (request) => this.#take(request) });
  }

  get port(): number {
    return this.#server.port ?? 0;
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }

  async #take(request: Request): Promise<Response> {
    const text = await request.text();
    this.batches.push({ path: new URL(request.url).pathname, headers: request.headers, text });
    if (this.status !== 200) return new Response("", { status: this.status });
    for (const { resource, scopeSpans } of (JSON.parse(text) as Encoded).resourceSpans) {
      this.resource = decode(resource.attributes);
      for (const { spans } of scopeSpans) {
        for (const span of spans) this.spans.push({ ...span, attributes: decode(span.attributes) });
      }
    }
    return Response.json({});
  }
}
