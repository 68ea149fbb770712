import { oneOf, optionalSetting, setting, trueOrFalse } from "../settings/setting.ts";
import { type LogLevel, logLevels } from "../telemetry/log-events.ts";
import { parseOtlpEndpoint, parseOtlpHeaders } from "../telemetry/otlp.ts";

/** The settings of logs, metrics and traces. */
export const telemetrySettings = {
  PETSTORE_LOG_LEVEL: setting<LogLevel>({
    meaning:
      "The least serious log lines that are written. Requests are `info`; `debug` adds the settings. `brief` " +
      "is `info` without requests that succeeded within a second.",
    fallback: "info",
    ...oneOf(logLevels),
  }),
  PETSTORE_LOG_ADDRESSES: setting<boolean>({
    meaning: "Whether log lines and request records have clients' addresses (of IPv6, the first 64 bits).",
    fallback: "true",
    ...trueOrFalse,
  }),
  // Those of OpenTelemetry have the names of its specification, which operators set for all their services.
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalSetting<string>({
    meaning:
      "A receiver of traces (OTLP over HTTP as JSON), such as `http://127.0.0.1:4318`; they are sent to `/v1/traces` " +
      "below it. Unset: no traces.",
    expects: "an absolute http or https address without credentials; put those in OTEL_EXPORTER_OTLP_HEADERS",
    parse: parseOtlpEndpoint,
    isSecret: true, // the message that refuses an address must not show credentials in it
  }),
  OTEL_EXPORTER_OTLP_HEADERS: optionalSetting<Readonly<Record<string, string>>>({
    meaning: "Headers for the receiver, such as its API key, percent-encoded.",
    expects: "name=value, more of them separated by commas",
    isSecret: true,
    parse: parseOtlpHeaders,
  }),
  OTEL_SERVICE_NAME: setting<string>({
    meaning: "The name of the service in its traces.",
    fallback: "petstore",
    expects: "a name",
    parse: (text) => text,
  }),
  OTEL_TRACES_SAMPLER_ARG: setting<number>({
    meaning:
      "The fraction of requests to trace, unless the `traceparent` of a valid key's request decides " +
      "(the sampler `parentbased_traceidratio`).",
    fallback: "1",
    expects: "a number from 0 to 1",
    parse: (text) => (/^(0|1|[01]?\.[0-9]+)$/.test(text) && Number(text) <= 1 ? Number(text) : undefined),
  }),
};
