import { resolve } from "node:path";
import { isNetwork } from "./http/client-address.ts";
import { parseValkeyUrl, type ValkeyAddress } from "./limits/valkey/valkey-url.ts";
import {
  oneOf,
  optionalSetting,
  readSettings,
  type Settings,
  setting,
  trueOrFalse,
  type Values,
} from "./settings/setting.ts";
import { type PostgresAddress, parsePostgresAddress } from "./storage/postgres/address.ts";
import { type LogLevel, logLevels } from "./telemetry/events.ts";
import { parseOtlpEndpoint, parseOtlpHeaders, type TraceSettings } from "./telemetry/otlp.ts";

const environments = ["development", "staging", "production"] as const;
export type Environment = (typeof environments)[number];

const addressForm = {
  expects: "an absolute http or https address that ends with /v1",
  parse: (text: string): string | undefined => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
    return isPlain && /^(\/[A-Za-z0-9._~-]+)*\/v1$/.test(url.pathname)
      ? url.origin + url.pathname // not its `href`, which keeps the `?` of an empty query
      : undefined;
  },
};

function parsePublicUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && /^https?:$/.test(url.protocol) && !url.username && !url.password ? url.href : undefined;
}

/** Every setting, once: its name, meaning, default and form. The reference is derived from it. */
export const settings = {
  PETSTORE_ENV: setting<Environment>({
    meaning:
      "What the service runs for. `development` makes an account, a key and sample animals on the first start; " +
      "`production` has live and test keys, the others have test keys only. A store remembers whether it belongs " +
      "to production, so commands do not need this setting.",
    fallback: "development",
    ...oneOf(environments),
  }),
  PETSTORE_HOST: setting<string>({
    meaning: "The address that the service listens on. `0.0.0.0` or `::` is every address of the machine.",
    fallback: "127.0.0.1",
    expects: "a host name or an IP address",
    parse: (text) => (/^[A-Za-z0-9.:_-]+$/.test(text) ? text : undefined),
  }),
  PETSTORE_PORT: setting<number>({
    meaning: "The port that it listens on. `0` takes any free one.",
    fallback: "8080",
    expects: "a whole number from 0 to 65535",
    parse: (text) => (/^(0|[1-9][0-9]{0,4})$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
  }),
  PETSTORE_DATA_DIR: setting<string>({
    meaning:
      "The folder of the embedded store. `serve` and `accounts create` make it if it is missing. " +
      "A relative path is resolved from the current folder; the default is in the project's folder.",
    fallback: "./data",
    expects: "the path of a folder",
    parse: (text) => (text.includes("\0") ? undefined : text),
  }),
  PETSTORE_DATABASE_URL: optionalSetting<PostgresAddress>({
    meaning:
      "The PostgreSQL database (15 or later) of a store that many processes share, in place of the embedded one. " +
      "With several hosts, the primary among them is used.",
    expects: "an address such as postgres://USER:PASSWORD@HOST:5432/DATABASE, or with HOST:5432,HOST:5432",
    parse: parsePostgresAddress,
    isSecret: true,
  }),
  PETSTORE_BASE_URL: optionalSetting<string>({
    meaning:
      "The base address of production, as clients see it; links in answers start with it. " +
      "Unset: `http://HOST:PORT/v1`, with a warning at the start in production.",
    ...addressForm,
  }),
  PETSTORE_STAGING_BASE_URL: optionalSetting<string>({
    meaning: "The base address of staging, as clients see it; used where `PETSTORE_ENV` is `staging`.",
    ...addressForm,
  }),
  PETSTORE_CONTACT_URL: optionalSetting<string>({
    meaning:
      "A page where users of the service get help; the OpenAPI document names it as contact. " +
      "Unset: the reference page of the service.",
    expects: "an absolute http or https address without credentials",
    parse: parsePublicUrl,
  }),
  PETSTORE_CONTACT_EMAIL: optionalSetting<string>({
    meaning: "An e-mail address for users of the service; the OpenAPI document names it.",
    expects: "an e-mail address such as support@example.org",
    parse: (text) => (/^[^\s@<>"]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/.test(text) ? text : undefined),
  }),
  PETSTORE_SECURITY_CONTACT: optionalSetting<readonly string[]>({
    meaning:
      "Where to report security problems of the service, the preferred address first, separated by commas; it is " +
      "published at `/.well-known/security.txt` (RFC 9116). Needs `PETSTORE_SECURITY_EXPIRES`.",
    expects: "addresses that start with mailto:, https: or tel:, separated by commas",
    parse: (text) => {
      const contacts = text.split(",").map((contact) => contact.trim());
      return contacts.every((contact) => /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+|tel:\+?[0-9-]+)$/.test(contact))
        ? contacts
        : undefined;
    },
  }),
  PETSTORE_SECURITY_EXPIRES: optionalSetting<string>({
    meaning:
      "The day (UTC) on which the security contact expires, at most a year ahead. From then " +
      "on `/.well-known/security.txt` returns 404, and each start logs `security_contact_expired`.",
    expects: "a day as YYYY-MM-DD",
    parse: (text) => {
      const day = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
      return day && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
        ? `${text}T00:00:00Z`
        : undefined;
    },
  }),
  PETSTORE_SECURITY_POLICY: optionalSetting<string>({
    meaning: "The page with the rules for security researchers; `security.txt` links to it.",
    expects: "an absolute http or https address without credentials",
    parse: parsePublicUrl,
  }),
  PETSTORE_VALKEY_URL: optionalSetting<ValkeyAddress>({
    meaning:
      "A Valkey or Redis server in which all processes share limits and bans: " +
      "`redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`, `rediss://` for TLS. Several hosts separated by commas, or " +
      "`?cluster=true` behind one, name a cluster. Unset: each process counts alone.",
    expects: "an address such as redis://127.0.0.1:6379",
    parse: parseValkeyUrl,
    isSecret: true,
  }),
  PETSTORE_TRUSTED_PROXIES: optionalSetting<readonly string[]>({
    meaning: "Addresses or networks of proxies whose `X-Forwarded-For` is believed, separated by commas.",
    expects: "a comma-separated list of IP addresses or networks such as 10.0.0.0/8",
    parse: (text) => {
      const networks = text.split(",").map((network) => network.trim());
      return networks.every(isNetwork) ? networks : undefined;
    },
  }),
  PETSTORE_LOG_LEVEL: setting<LogLevel>({
    meaning:
      "The least serious log lines that are written. Each request is a line at `info`; `debug` adds the settings.",
    fallback: "info",
    ...oneOf(logLevels),
  }),
  PETSTORE_LOG_ADDRESSES: setting<boolean>({
    meaning:
      "Whether log lines have the addresses of clients: an IPv4 address, or the first 64 bits of an IPv6 address.",
    fallback: "true",
    ...trueOrFalse,
  }),
  // Those of OpenTelemetry have the names of its specification, which operators set for all their services.
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalSetting<string>({
    meaning:
      "A receiver of traces that takes OTLP over HTTP as JSON, such as `http://127.0.0.1:4318`; they are sent to " +
      "`/v1/traces` below it. Unset: no traces.",
    expects: "an absolute http or https address without credentials, which belong into OTEL_EXPORTER_OTLP_HEADERS",
    parse: parseOtlpEndpoint,
    isSecret: true, // an address with credentials is refused, and must not be shown for that
  }),
  OTEL_EXPORTER_OTLP_HEADERS: optionalSetting<Readonly<Record<string, string>>>({
    meaning: "Headers for the receiver, such as its API key: `name=value,name=value`, percent-encoded.",
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
      "The fraction of requests to trace, unless the client's `traceparent` decides " +
      "(the sampler `parentbased_traceidratio`).",
    fallback: "1",
    expects: "a number from 0 to 1",
    parse: (text) => (/^(0|1|[01]?\.[0-9]+|1\.0+)$/.test(text) && Number(text) <= 1 ? Number(text) : undefined),
  }),
};

/** The settings, parsed. */
export interface Config {
  readonly environment: Environment;
  /** False where nobody said for what environment it is. */
  readonly environmentIsSet: boolean;
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** The database of the store; undefined for the embedded one. It holds a password. */
  readonly database: PostgresAddress | undefined;
  readonly baseUrl: string | undefined;
  readonly stagingBaseUrl: string | undefined;
  /** Where users of the service get help. */
  readonly contactUrl: string | undefined;
  readonly contactEmail: string | undefined;
  /** Where to report security problems; undefined for nowhere. */
  readonly security: SecurityContact | undefined;
  /** Where limits are counted together; undefined for this process alone. It may hold a password. */
  readonly valkey: ValkeyAddress | undefined;
  readonly trustedProxies: readonly string[];
  readonly logLevel: LogLevel;
  /** True if the log may hold addresses of clients. */
  readonly logAddresses: boolean;
  /** Where traces are sent; undefined for nowhere. The headers may hold a secret. */
  readonly traces: TraceSettings | undefined;
  /** The values of the settings that domains declare, by name: see `valuesOf`. */
  readonly declared: Readonly<Record<string, unknown>>;
}

/** True for the environment that customers use. */
export function isProduction({ environment }: Pick<Config, "environment">): boolean {
  return environment === "production";
}

/** What security.txt says (RFC 9116). */
export interface SecurityContact {
  /** URIs, the preferred one first. */
  readonly contacts: readonly string[];
  /** RFC 3339. */
  readonly expires: string;
  readonly policy: string | undefined;
}

/** Settings that cannot be used: a line for each. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * Reads the settings: those of this file, and those that domains declare. An empty text is the same as unset. Paths
 * that were written start at `folder`. Throws `ConfigError` with all faults.
 */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
  folder = process.cwd(),
  declared: Settings = {},
): Config {
  const own = readSettings(environment, { ...settings, ...declared });
  const { values } = own;
  const faults = [...own.faults];
  const contacts = values.PETSTORE_SECURITY_CONTACT;
  const expires = values.PETSTORE_SECURITY_EXPIRES;
  if (contacts && !environment["PETSTORE_SECURITY_EXPIRES"]) {
    faults.push("PETSTORE_SECURITY_CONTACT needs PETSTORE_SECURITY_EXPIRES, the day until which it is confirmed.");
  }
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  const tracesUrl = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  return {
    environment: values.PETSTORE_ENV,
    environmentIsSet: Boolean(environment["PETSTORE_ENV"]),
    host: values.PETSTORE_HOST,
    port: values.PETSTORE_PORT,
    dataDir: resolve(environment["PETSTORE_DATA_DIR"] ? folder : "", values.PETSTORE_DATA_DIR),
    database: values.PETSTORE_DATABASE_URL,
    baseUrl: values.PETSTORE_BASE_URL,
    stagingBaseUrl: values.PETSTORE_STAGING_BASE_URL,
    contactUrl: values.PETSTORE_CONTACT_URL,
    contactEmail: values.PETSTORE_CONTACT_EMAIL,
    security: contacts && expires ? { contacts, expires, policy: values.PETSTORE_SECURITY_POLICY } : undefined,
    valkey: values.PETSTORE_VALKEY_URL,
    trustedProxies: values.PETSTORE_TRUSTED_PROXIES ?? [],
    logLevel: values.PETSTORE_LOG_LEVEL,
    logAddresses: values.PETSTORE_LOG_ADDRESSES,
    traces:
      tracesUrl === undefined
        ? undefined
        : {
            url: tracesUrl,
            headers: values.OTEL_EXPORTER_OTLP_HEADERS ?? {},
            service: values.OTEL_SERVICE_NAME,
            ratio: values.OTEL_TRACES_SAMPLER_ARG,
          },
    declared: Object.fromEntries(Object.keys(declared).map((name) => [name, values[name as keyof typeof values]])),
  };
}

/**
 * The values of settings that a domain declares. One that the configuration was read without is at its fallback: had
 * the environment named it, reading would have failed.
 */
export function valuesOf<S extends Settings>({ declared }: Config, wanted: S): Values<S> {
  const values = Object.entries(wanted).map(([name, { fallback, parse }]) => [
    name,
    name in declared || fallback === "" ? declared[name] : parse(fallback),
  ]);
  return Object.fromEntries(values) as Values<S>;
}
