import { type Config, isProduction, valuesOf } from "../config.ts";
import type { Write } from "../contract/handler.ts";
import { errorsOf } from "../contract/operation-properties.ts";
import { openCallerParts, type ServedDomain } from "../domains/callers.ts";
import type { Host } from "../domains/domain.ts";
import { keySettings } from "../domains/keys/keys.settings.ts";
import { InFlightControls } from "../http/in-flight-controls.ts";
import type { LoadLimits } from "../http/overload/load-limits.ts";
import type { InStep } from "../http/server.ts";
import { Tracer } from "../telemetry/tracer.ts";
import { domains } from "./domains.ts";
import { openAbuseLog } from "./open-abuse-log.ts";
import { openIdempotency } from "./open-idempotency.ts";
import type { RunningLimiter } from "./open-limiter.ts";
import { scheduleDeletion } from "./schedule-deletion.ts";
import { serveOperations } from "./serve-operations.ts";
import { hasExpired } from "./web/well-known.ts";

export interface ServiceOptions {
  readonly domains?: readonly ServedDomain[];
  /** Set if other processes share the port: returns the metrics of all, and makes them stop in step. */
  readonly shared?: { readonly metricsOfAll: () => Promise<string>; readonly inStep: InStep } | undefined;
  /** When requests are queued or refused; if absent, the service's own limits. */
  readonly loadLimits?: LoadLimits;
  /** The most open streams; if absent, the service's own limit. */
  readonly maxStreams?: number | undefined;
}

/** What `openService` opens and other parts use. */
export type Service = ReturnType<typeof openService>;

/**
 * Opens all that requests need besides the store and the limiter, and listens. `stopping` is aborted when the service
 * begins to stop. Throws `ListenError`.
 */
export function openService(
  config: Config,
  host: Host,
  limits: RunningLimiter,
  stopping: AbortSignal,
  { domains: served = domains, shared, loadLimits, maxStreams }: ServiceOptions,
) {
  const { storage, generation, clock, log, metrics, limiter } = host;
  const { PETSTORE_CELL: cell } = valuesOf(config, keySettings);
  const callers = openCallerParts(host, { isProduction: isProduction(config), cell });
  const { accounts, keys, authenticator, usage, records } = callers;
  const abuse = openAbuseLog(config, host, keys, limits);
  const tracer = config.traces && new Tracer(config.traces, host);
  const controls = new InFlightControls({ ...host, authenticator }, loadLimits, maxStreams);
  // The cast is safe: handlers of domains yield only steps of transactions.
  const write = storage.write.bind(storage) as Write;
  const idempotency = openIdempotency(host, write);
  const operations = served.flatMap((domain) => domain.operations);
  const bound = served.flatMap((domain) =>
    domain.open({ ...host, callers, operations }, valuesOf(config, domain.settings ?? {})),
  );
  // Successes, and faults of the service: what error rates and alerts are made of. Other failures appear as they happen.
  for (const operation of operations) {
    const faults = errorsOf(operation).filter(({ status }) => status >= 500);
    const statuses = [operation.response.status, ...faults.map(({ status }) => status)];
    metrics.expect(
      operation.name,
      statuses,
      faults.map(({ code }) => code),
    );
  }
  scheduleDeletion(host, callers, served);
  const { shedder, deadlines, drains, delays, streams, unread } = controls;
  const { server, base, docs, webConsole } = serveOperations(config, bound, {
    storage,
    generation,
    services: {
      authenticator,
      limiter,
      usage,
      records,
      write,
      idempotency,
      clock,
      log,
      metrics,
      tracer,
      shedder,
      deadlines,
      abuse,
      drains,
      delays,
      streams,
      unread,
    },
    monitoring: {
      checkStore: () => storage.check(),
      isStopping: () => stopping.aborted,
      metrics: () => shared?.metricsOfAll() ?? metrics.expose(),
    },
    isShared: shared !== undefined,
  });
  if (config.security && hasExpired(config.security, clock)) log.warn("security_contact_expired");
  return { accounts, keys, abuse, tracer, controls, server, base, docs, webConsole };
}
