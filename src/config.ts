import { resolve } from "node:path";
import { publicSettings } from "./config/public-settings.ts";
import { storeSettings } from "./config/store-settings.ts";
import { telemetrySettings } from "./config/telemetry-settings.ts";
import { isNetwork } from "./http/input/client-address.ts";
import { parseValkeyUrl, type ValkeyAddress } from "./limits/valkey/valkey-url.ts";
import { oneOf, optionalSetting, readSettings, type Settings, setting, type Values } from "./settings/setting.ts";
import type { PostgresAddress } from "./storage/postgres/address.ts";
import type { LogLevel } from "./telemetry/log-events.ts";
import type { TraceSettings } from "./telemetry/otlp.ts";

const environments = ["development", "staging", "production"] as const;
export type Environment = (typeof environments)[number];

/** The settings of the service itself: name, meaning, default and format. Domains declare more. */
export const settings = {
  PETSTORE_ENV: setting<Environment>({
    meaning:
      "The environment of the service. Only `production` has live keys. Commands need it only until the first start: then " +
      "the store remembers whether it is for production. `restore` needs it if the store that it replaces cannot be " +
      "read.",
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
  ...storeSettings,
  ...publicSettings,
  PETSTORE_VALKEY_URL: optionalSetting<ValkeyAddress>({
    meaning:
      "A Valkey or Redis server in which all processes share limits and bans: " +
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
  ...telemetrySettings,
};

/** True for the name or IP address of a host, which can be part of a base address. */
function isHost(text: string): boolean {
  return /^[A-Za-z0-9.:_-]+$/.test(text) && URL.canParse(`http://${text.includes(":") ? `[${text}]` : text}/`);
}

/** The settings, parsed. */
export interface Config {
  readonly environment: Environment;
  /** False if the environment was not set. */
  readonly environmentIsSet: boolean;
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** The database of the store; undefined for the embedded one. It holds a password. */
  readonly database: PostgresAddress | undefined;
  readonly backups: BackupSettings;
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
  /** True if the log and the records of requests may hold addresses of clients. */
  readonly logAddresses: boolean;
  /** Where traces are sent; undefined for nowhere. The headers may hold a secret. */
  readonly traces: TraceSettings | undefined;
  /** The values of the settings that domains declare, by name: see `valuesOf`. */
  readonly declared: Readonly<Record<string, unknown>>;
}

/** The backup schedule and folder. */
export interface BackupSettings {
  /** In milliseconds; undefined for never. */
  readonly every: number | undefined;
  readonly folder: string;
  /** The number of backups to keep. */
  readonly keep: number;
}

/** True for the environment that customers use. */
export function isProduction({ environment }: Pick<Config, "environment">): boolean {
  return environment === "production";
}

/** The content of security.txt (RFC 9116). */
export interface SecurityContact {
  /** URIs, the preferred one first. */
  readonly contacts: readonly string[];
  /** RFC 3339. */
  readonly expires: string;
  readonly policy: string | undefined;
}

/** The settings are invalid. The message has a line for each fault. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * Reads the settings of this file and those in `declared` from environment variables. An empty variable counts as unset.
 * If `PETSTORE_DATA_DIR` is set to a relative path, it starts at `folder`; its default starts at the current folder.
 * Throws `ConfigError` with all faults.
 */
export function readConfig(
  variables: Readonly<Record<string, string | undefined>>,
  folder = process.cwd(),
  declared: Settings = {},
): Config {
  const read = readSettings(variables, { ...settings, ...declared });
  const { values } = read;
  const faults = [...read.faults];
  const contacts = values.PETSTORE_SECURITY_CONTACT;
  const expires = values.PETSTORE_SECURITY_EXPIRES;
  if (contacts && !variables["PETSTORE_SECURITY_EXPIRES"]) {
    faults.push("PETSTORE_SECURITY_CONTACT needs PETSTORE_SECURITY_EXPIRES, the day on which it expires.");
  }
  if (values.PETSTORE_BACKUP_EVERY && values.PETSTORE_DATABASE_URL) {
    faults.push("PETSTORE_BACKUP_EVERY is for the embedded store. PostgreSQL has its own tools for backups.");
  }
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  const dataDir = resolve(variables["PETSTORE_DATA_DIR"] ? folder : "", values.PETSTORE_DATA_DIR);
  const tracesUrl = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  return {
    environment: values.PETSTORE_ENV,
    environmentIsSet: Boolean(variables["PETSTORE_ENV"]),
    host: values.PETSTORE_HOST,
    port: values.PETSTORE_PORT,
    dataDir,
    database: values.PETSTORE_DATABASE_URL,
    backups: {
      every: values.PETSTORE_BACKUP_EVERY,
      folder: resolve(dataDir, values.PETSTORE_BACKUP_DIR),
      keep: values.PETSTORE_BACKUP_KEEP,
    },
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
 * The values of settings that a domain declares. A setting that was not passed to `readConfig` has its default:
 * `readConfig` rejects `PETSTORE_` variables that nobody declares, so it cannot have been set.
 */
export function valuesOf<S extends Settings>({ declared }: Config, wanted: S): Values<S> {
  const values = Object.entries(wanted).map(([name, { fallback, parse }]) => [
    name,
    name in declared || fallback === "" ? declared[name] : parse(fallback),
  ]);
  return Object.fromEntries(values) as Values<S>;
}
