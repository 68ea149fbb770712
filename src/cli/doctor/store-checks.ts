import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { backupsIn } from "../../app/store/backup-folder.ts";
import { engineOf } from "../../app/store/engines.ts";
import { type Config, isProduction } from "../../config.ts";
import { endpointsWithoutKey } from "../../domains/webhooks/secrets/endpoint-secrets.ts";
import { openSecretKeys, SECRET_KEY_FILE } from "../../domains/webhooks/secrets/secret-keys.ts";
import { nearestFolder } from "../../files/folders.ts";
import { FileError } from "../../files/new-file.ts";
import { StorageUnavailable, StorageUnusable } from "../../storage/errors.ts";
import type { StoreState } from "../../storage/store-state.ts";
import { counted } from "../../terminal/amounts.ts";
import { type Finding, failed, ok, warning } from "./finding.ts";

const MIB = 1_048_576;
/** With less free space, in bytes, the disk may be full after some hours of a busy shop. */
const LITTLE_ROOM = 1_024 * MIB;
const NO_ROOM = 64 * MIB;

/** The findings about the store, and its state if it can be read. */
interface CheckedStore {
  readonly findings: readonly Finding[];
  readonly state: StoreState | undefined;
}

/** Checks the store that the settings choose, its schema and its environment. */
export async function checkStore(config: Config): Promise<CheckedStore> {
  const engine = engineOf(config);
  let state: StoreState | undefined;
  try {
    state = await engine.inspect();
  } catch (error) {
    if (!(error instanceof StorageUnusable || error instanceof StorageUnavailable)) throw error;
    const advice = config.database
      ? "Check that the server runs and that PETSTORE_DATABASE_URL is correct."
      : "Do what the message says. If the file is damaged, restore a backup: backups list shows them.";
    return { findings: [failed("store", error.message, advice)], state: undefined };
  }
  if (!state)
    return { findings: [ok("store", `There is none at ${engine.place} yet. The first start makes it.`)], state };
  const findings = [ok("store", `${engine.place}, ${state.engine}.`), schemaFinding(state)];
  const { belongsToProduction } = state;
  if (belongsToProduction !== undefined && belongsToProduction !== isProduction(config))
    findings.push(wrongOwner(config, state));
  return { findings, state };
}

function schemaFinding({ schema, knownSchema }: StoreState): Finding {
  if (schema === knownSchema) return ok("schema", `Version ${schema}, the version of this release.`);
  return warning(
    "schema",
    `Version ${schema}; this release uses ${knownSchema}.`,
    "The next start updates it. Take a backup first.",
  );
}

function wrongOwner({ environment, environmentIsSet }: Config, { belongsToProduction }: StoreState): Finding {
  const owner = belongsToProduction ? "production" : "development or staging";
  const message = `The store belongs to ${owner}, but PETSTORE_ENV is ${environment}${environmentIsSet ? "" : " (unset)"}.`;
  const advice = "Set PETSTORE_ENV to the value of the service of this store.";
  return environmentIsSet ? failed("environment", message, advice) : warning("environment", message, advice);
}

/** Checks whether the settings, or the folder of an embedded store, have the keys of all enabled webhook endpoints. */
export function checkSecretKeys(
  { database, dataDir }: Config,
  secretKeys: readonly Uint8Array[] | undefined,
  { newestSecrets }: StoreState,
): Finding {
  const hasFile = !database && existsSync(join(dataDir, SECRET_KEY_FILE)); // `openSecretKeys` would create a missing file
  const advice = "Set PETSTORE_SECRET_KEY to that of their service, or put its secret.key into the data folder.";
  try {
    const keys = openSecretKeys(secretKeys, hasFile ? dataDir : undefined);
    const endpoints = endpointsWithoutKey(newestSecrets, keys);
    if (endpoints === 0) return ok("secret key", "No enabled webhook endpoint lacks it.");
    const message = `It is missing for ${counted(endpoints, "enabled webhook endpoint")}. A process without it sends them nothing.`;
    return warning("secret key", message, advice);
  } catch (error) {
    if (error instanceof FileError) return failed("secret key", error.message, advice);
    throw error;
  }
}

/** Checks free space and permissions of the folders of the store and of backups. */
export function checkDisk({ database, dataDir, backups }: Config): Finding[] {
  if (database) return [ok("disk", "Not checked: the store is on a database server.")];
  const folders = new Set([dataDir, ...(backups.every === undefined ? [] : [backups.folder])]);
  return [...folders].map(folderFinding);
}

function folderFinding(folder: string): Finding {
  const there = nearestFolder(folder);
  if (!statSync(there).isDirectory()) return failed("disk", `${there} is not a folder.`, "Set another folder.");
  try {
    accessSync(there, constants.W_OK);
  } catch {
    return failed("disk", `${there} is not writable.`, "Allow the service's user to write there.");
  }
  const { bavail, bsize } = statfsSync(there);
  const room = bavail * bsize;
  const message = `${Math.floor(room / MIB).toLocaleString("en")} MiB free for ${folder}.`;
  if (room < NO_ROOM) return failed("disk", message, "Free space now: writes fail when the disk is full.");
  if (room < LITTLE_ROOM) return warning("disk", message, "Free space, or move the folder to a larger disk.");
  return ok("disk", message);
}

/** Checks the age of the newest backup of an embedded store. */
export function checkBackups({ database, backups: { every, folder } }: Config, now: number): Finding {
  if (database) return ok("backups", "PostgreSQL has its own tools: see docs/backups.md.");
  const [newest] = backupsIn(folder);
  const age = newest && `The newest one in ${folder} was taken at ${new Date(newest.takenAt).toISOString()}.`;
  if (every === undefined) {
    return warning("backups", age ?? "None are taken by the service.", "Set PETSTORE_BACKUP_EVERY, such as 6h.");
  }
  if (!newest) return ok("backups", `There is none in ${folder} yet. The service takes the first one when it runs.`);
  return now - newest.takenAt <= 2 * every
    ? ok("backups", age ?? "")
    : warning("backups", age ?? "", "Search the log for backup_failed, and take a backup with backups take.");
}
