import { optionalSetting, setting } from "../settings/setting.ts";
import { type PostgresAddress, parsePostgresAddress } from "../storage/postgres/address.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../timing/clock.ts";

const unitsOfTime: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** The milliseconds of an interval such as `30m`; undefined for any other text. */
function parseInterval(text: string): number | undefined {
  const [, amount, unit = ""] = /^([1-9][0-9]{0,4})([mhd])$/.exec(text) ?? [];
  const interval = Number(amount) * (unitsOfTime[unit] ?? 0);
  return interval > 0 && interval <= 31 * DAY_MS ? interval : undefined;
}

/** Where the store is, and its backups. */
export const storeSettings = {
  PETSTORE_DATA_DIR: setting<string>({
    meaning:
      "The folder of the embedded store, which `serve` and `accounts create` make if it is missing. A relative path " +
      "starts at the current folder. Unset, with npm: `data` in the project's folder.",
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
};
