import type { Log, RequestLine } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracer } from "../telemetry/tracer.ts";
import type { CompiledOperation } from "./compiled-operation.ts";
import type { Exchange } from "./exchange.ts";
import type { RoutedRequest } from "./input/read-input.ts";
import { readClientRequestId } from "./input/request-headers.ts";
import type { RequestRecords, Usage } from "./interfaces.ts";

export interface ReportServices {
  readonly usage: Usage;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Undefined if tracing is off. */
  readonly tracer: Tracer | undefined;
  readonly records: RequestRecords;
  /** Whether log lines and records of requests have the client's address. */
  readonly logsAddresses: boolean;
  /** True for a text that may hold an API key, which must not get into the log. */
  readonly mayHoldKey: (text: string) => boolean;
}

export type ReportRequest = ReturnType<typeof requestReports>;

/** Returns what reports each finished request to usage, metrics, log, traces and request records. */
export function requestReports(services: ReportServices, base: string) {
  const baseUrl = new URL(base);

  function report(exchange: Exchange, { status }: Response): void {
    const duration = performance.now() - exchange.startedAt;
    const { caller, failed } = exchange;
    const isSimulated = hasSimulatedFailure(exchange);
    const { usage, metrics, log, tracer } = services;
    const operation = exchange.operation;
    if (caller) usage.count(caller, operation, status);
    metrics.request(operation?.name, isSimulated ? "simulated" : status, duration / 1000);
    if (failed && !isSimulated) metrics.failed(operation?.name, failed.error.code);
    if (failed || exchange.isWrite) recordRequest(exchange, status, duration);
    if (log.takesRequests || tracer) logRequest(exchange, status, duration);
  }

  /** Writes a request to log and traces, without what may be a key in its path, and without its query. */
  function logRequest(exchange: Exchange, status: number, duration: number): void {
    const { log, tracer, logsAddresses, mayHoldKey } = services;
    const { id, request, caller, startedAt } = exchange;
    const key = caller ?? exchange.failed?.key;
    const operation = exchange.operation;
    const served: RequestLine = {
      requestId: id,
      operation: operation?.name,
      method: request.method,
      status,
      durationMs: Math.round(duration * 1000) / 1000,
      clientRequestId: readClientRequestId(request.headers, mayHoldKey),
      code: exchange.failed?.error.code,
      resource: operation?.params && arePlain(request.params) ? request.params : undefined,
      created: exchange.created || undefined,
      simulated: exchange.simulation?.text,
      accountId: key?.accountId,
      keyId: key?.keyId,
      address: logsAddresses ? exchange.address : undefined,
    };
    log.request(served);
    tracer?.record(exchange, {
      ...served,
      // Without a key, nobody decides which requests are traced.
      traceparent: caller ? request.headers.get("traceparent") : null,
      route: operation && baseUrl.pathname + operation.path,
      path: exchange.compiled && recordedPath(exchange.compiled, request.params),
      base: baseUrl,
      startedAt,
      isSimulated: hasSimulatedFailure(exchange),
    });
  }

  function recordRequest(exchange: Exchange, status: number, duration: number): void {
    const { records, logsAddresses, mayHoldKey } = services;
    const { id, request, caller, admission, isReplay, failed, reportedStage } = exchange;
    const operation = exchange.operation;
    if (!records.accepts(caller ?? failed?.key ?? exchange.address, failed !== undefined)) return;
    const saysKey = failed && mayHoldKey(JSON.stringify([failed.message, failed.details]));
    records.add({
      id,
      clientRequestId: readClientRequestId(request.headers, mayHoldKey),
      caller,
      address: logsAddresses ? exchange.address : undefined,
      method: request.method,
      operation,
      path: exchange.compiled && recordedPath(exchange.compiled, request.params),
      status,
      failed: saysKey ? { error: failed.error, message: failed.error.meaning } : failed,
      stage: failed && reportedStage,
      admission,
      isReplay,
      duration,
    });
  }

  return report;
}

/** What the ids in a path look like. Anything else in a path may be a part of a key, sent there by mistake. */
const plainId = /^(-?\d{1,19}|[0-9a-f]{20}|[a-z]+_[0-9A-Za-z]{1,16}|we_[0-9a-f]{24})$/;

function arePlain(params: RoutedRequest["params"] = {}): boolean {
  return Object.values(params).every((id) => plainId.test(id));
}

/** The path of a request; undefined if it could contain part of a key. */
function recordedPath({ fillPath }: CompiledOperation, params: RoutedRequest["params"] = {}): string | undefined {
  return arePlain(params) ? fillPath(params) : undefined;
}

function hasSimulatedFailure({ failed, simulation }: Exchange): boolean {
  return failed !== undefined && failed === simulation?.failure;
}
