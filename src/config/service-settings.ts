import { isNetwork } from "../http/input/client-address.ts";
import { parseValkeyUrl, type ValkeyAddress } from "../limits/valkey/valkey-url.ts";
import { oneOf, optionalSetting, setting, trueOrFalse } from "../settings/setting.ts";
import { type PostgresAddress, parsePostgresAddress } from "../storage/postgres/address.ts";
import { type LogLevel, logLevels } from "../telemetry/log-events.ts";
import { parseOtlpEndpoint, parseOtlpHeaders } from "../telemetry/otlp.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../timing/clock.ts";

const environments = ["development", "staging", "production"] as const;
export type Environment = (typeof environments)[number];

/** The parts of a setting that is a base address. */
const baseAddress = {
  expects: "an absolute http or https address that ends with /v1",
  parse: (text: string): string | undefined => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
    return isPlain && /^(\/[A-Za-z0-9._~-]+)*\/v1$/.test(url.pathname)
      ? url.origin + url.pathname // not its `href`, which keeps the `?` of an empty query
      : undefined;
  },
};

/** The settings of the service itself: name, meaning, default and format. Domains declare more. */
export const settings = {
  PETSTORE_ENV: setting<Environment>({
    meaning:
      "The environment of the service. Only `production` has live keys. After the first start, commands need it only to " +
      "`restore` a store that cannot be read.",
    fallback: "development",
    ...oneOf(environments),
  }),
  PETSTORE_HOST: setting<string>({
    meaning: "The address to listen on. `0.0.0.0` or `::` is every address of the machine.",
    fallback: "127.0.0.1",
    expects: "a host name or an IP address",
    parse: (text) => (isHost(text) ? text : undefined),
  }),
  PETSTORE_PORT: setting<number>({
    meaning: "The port to listen on. `0` takes any free one.",
    fallback: "8080",
    expects: "a whole number from 0 to 65535",
    parse: (text) => (/^(0|[1-9][0-9]{0,4})$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
  }),
  PETSTORE_DATA_DIR: setting<string>({
    meaning:
      "The folder of the embedded store. A relative path starts at the current folder. Unset, with npm: `data` in the " +
      "project's folder.",
    fallback: "./data",
    expects: "the path of a folder",
    parse: (text) => (text.includes("\0") ? undefined : text),
  }),
  PETSTORE_DATABASE_URL: optionalSetting<PostgresAddress>({
    meaning: "The PostgreSQL database (15 or later) that many processes share, in place of the embedded store.",
    expects: "an address such as postgres://USER:PASSWORD@HOST:5432/DATABASE, or with HOST:5432,HOST:5432",
    parse: parsePostgresAddress,
    isSecret: true,
  }),
  PETSTORE_BACKUP_EVERY: optionalSetting<number>({
    meaning: "How often the service backs up the embedded store. Unset: never.",
    expects: "a whole number of minutes, hours or days such as 30m, 6h or 1d, from 1m to 31d",
    parse: parseInterval,
  }),
  PETSTORE_BACKUP_DIR: setting<string>({
    meaning: "The folder of these backups, better on another disk. A relative path starts at the data folder.",
    fallback: "backups",
    expects: "the path of a folder",
    parse: (text) => (text.includes("\0") ? undefined : text),
  }),
  PETSTORE_BACKUP_KEEP: setting<number>({
    meaning: "How many of these backups are kept.",
    fallback: "7",
    expects: "a whole number from 1 to 1000",
    parse: (text) => (/^[1-9][0-9]{0,3}$/.test(text) && Number(text) <= 1_000 ? Number(text) : undefined),
  }),
  PETSTORE_BASE_URL: optionalSetting<string>({
    meaning:
      "The base address as clients see it; links in responses start with it. Staging uses `PETSTORE_STAGING_BASE_URL`. " +
      "Unset: `http://HOST:PORT/v1`.",
    ...baseAddress,
  }),
  PETSTORE_STAGING_BASE_URL: optionalSetting<string>({
    meaning: "The same for staging. If both are set, the OpenAPI document lists both.",
    ...baseAddress,
  }),
  PETSTORE_VALKEY_URL: optionalSetting<ValkeyAddress>({
    meaning:
      "A Valkey or Redis server in which all processes share limits: " +
      "`redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`, `rediss://` for TLS. Several hosts separated by commas, or " +
      "`?cluster=true`, name a cluster.",
    expects: "an address such as redis://127.0.0.1:6379",
    parse: parseValkeyUrl,
    isSecret: true,
  }),
  PETSTORE_TRUSTED_PROXIES: optionalSetting<readonly string[]>({
    meaning: "The proxies whose `X-Forwarded-For` is believed.",
    expects: "a comma-separated list of IP addresses or networks such as 10.0.0.0/8",
    parse: (text) => {
      const networks = text.split(",").map((network) => network.trim());
      return networks.every(isNetwork) ? networks : undefined;
    },
  }),
  PETSTORE_LOG_LEVEL: setting<LogLevel>({
    meaning:
      "The least serious log lines that are written. `brief` is `info` without requests that succeeded within a second.",
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
  OTEL_TRACES_SAMPLER_ARG: setting<number>({
    meaning: "The fraction of requests to trace, unless the `traceparent` of a valid key's request decides.",
    fallback: "1",
    expects: "a number from 0 to 1",
    parse: (text) => (/^(0|1|[01]?\.[0-9]+)$/.test(text) && Number(text) <= 1 ? Number(text) : undefined),
  }),
};

/** True for the name or IP address of a host, which can be part of a base address. */
function isHost(text: string): boolean {
  return /^[A-Za-z0-9.:_-]+$/.test(text) && URL.canParse(`http://${text.includes(":") ? `[${text}]` : text}/`);
}

const unitsOfTime: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** The milliseconds of an interval such as `30m`; undefined for any other text. */
function parseInterval(text: string): number | undefined {
  const [, amount, unit = ""] = /^([1-9][0-9]{0,4})([mhd])$/.exec(text) ?? [];
  const interval = Number(amount) * (unitsOfTime[unit] ?? 0);
  return interval > 0 && interval <= 31 * DAY_MS ? interval : undefined;
}
