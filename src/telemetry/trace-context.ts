/** The client's place in a trace, from its header `traceparent`. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The client's span: 16 hexadecimal digits. */
  readonly spanId: string;
  /** False if the client does not record the trace. */
  readonly isSampled: boolean;
}

const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads a header `traceparent` (W3C Trace Context, section 3.2). Undefined for none and for one that is not
 * valid, which starts a new trace (section 4.3). A later version may have further fields at its end.
 */
export function parseTraceparent(header: string | null): TraceContext | undefined {
  const [, version, traceId = "", spanId = "", flags = "", more] = form.exec(header ?? "") ?? [];
  if (version === undefined || (version === "00" && more !== undefined)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
