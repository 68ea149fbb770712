import { resolve } from "node:path";
import { settings } from "./config/service-settings.ts";
import { readSettings, type Settings, type SettingValues } from "./settings/setting.ts";

/** The settings, parsed. */
export type Config = Readonly<ReturnType<typeof readConfig>>;

/** True for the environment that customers use. */
export function isProduction({ environment }: Pick<Config, "environment">): boolean {
  return environment === "production";
}

/** The settings are invalid. The message has a line for each fault. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * Reads the settings of the service and those in `declared` from environment variables. An empty variable counts as
 * unset. If `PETSTORE_DATA_DIR` is set to a relative path, it starts at `folder`; its default starts at the current
 * folder. Throws `ConfigError` with all faults.
 */
export function readConfig(
  variables: Readonly<Record<string, string | undefined>>,
  folder = process.cwd(),
  declared: Settings = {},
) {
  const read = readSettings(variables, { ...settings, ...declared });
  const { values } = read;
  const faults = [...read.faults];
  if (values.PETSTORE_BACKUP_EVERY && values.PETSTORE_DATABASE_URL) {
    faults.push("PETSTORE_BACKUP_EVERY is for the embedded store. PostgreSQL has its own tools for backups.");
  }
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  const dataDir = resolve(variables["PETSTORE_DATA_DIR"] ? folder : "", values.PETSTORE_DATA_DIR);
  const {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: headers = {},
    OTEL_TRACES_SAMPLER_ARG: ratio,
  } = values;
  return {
    environment: values.PETSTORE_ENV,
    /** False if the environment was not set. */
    environmentIsSet: Boolean(variables["PETSTORE_ENV"]),
    host: values.PETSTORE_HOST,
    port: values.PETSTORE_PORT,
    dataDir,
    /** The database of the store; undefined for the embedded one. It holds a password. */
    database: values.PETSTORE_DATABASE_URL,
    /** The backup schedule, in milliseconds, undefined for never; the folder; and the number of backups to keep. */
    backups: {
      every: values.PETSTORE_BACKUP_EVERY,
      folder: resolve(dataDir, values.PETSTORE_BACKUP_DIR),
      keep: values.PETSTORE_BACKUP_KEEP,
    },
    baseUrl: values.PETSTORE_BASE_URL,
    stagingBaseUrl: values.PETSTORE_STAGING_BASE_URL,
    /** Where limits are counted together; undefined for this process alone. It may hold a password. */
    valkey: values.PETSTORE_VALKEY_URL,
    trustedProxies: values.PETSTORE_TRUSTED_PROXIES ?? [],
    logLevel: values.PETSTORE_LOG_LEVEL,
    /** True if the log and the records of requests may hold addresses of clients. */
    logAddresses: values.PETSTORE_LOG_ADDRESSES,
    /** Where traces are sent; undefined for nowhere. The headers may hold a secret. */
    traces: url === undefined ? undefined : { url, headers, ratio },
    /** The values of the settings that domains declare, by name: see `valuesOf`. */
    declared: Object.fromEntries(
      Object.keys(declared).map((name): [string, unknown] => [name, values[name as keyof typeof values]]),
    ),
  };
}

/**
 * The values of settings that a domain declares. A setting that was not passed to `readConfig` has its default:
 * `readConfig` rejects `PETSTORE_` variables that nobody declares, so it cannot have been set.
 */
export function valuesOf<S extends Settings>({ declared }: Config, wanted: S): SettingValues<S> {
  const values = Object.entries(wanted).map(([name, { fallback, parse }]) => [
    name,
    name in declared || fallback === "" ? declared[name] : parse(fallback),
  ]);
  return Object.fromEntries(values) as SettingValues<S>;
}
