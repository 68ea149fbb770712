import { accessSync, constants, statSync } from "node:fs";
import { backupsIn } from "../app/store/backup-folder.ts";
import { engineOf } from "../app/store/engines.ts";
import type { StoreState } from "../app/store/store-state.ts";
import { baseAddress, baseSetting, rootOf } from "../app/web/base-address.ts";
import { type Config, isProduction } from "../config.ts";
import { endpointsWithoutKey } from "../domains/webhooks/secrets/endpoint-secrets.ts";
import { existingSecretKeys } from "../domains/webhooks/secrets/secret-keys.ts";
import { nearestFolder } from "../files/durable-files.ts";
import { FileError } from "../files/new-file.ts";
import { roomAt } from "../files/room.ts";
import type { ValkeyState } from "../limits/valkey/inspect.ts";
import { StorageUnavailable, StorageUnusable } from "../storage/errors.ts";
import { counted } from "../terminal/output.ts";
import { ANOTHER_PROGRAM, addressOfService, READINESS_DEADLINE, readiness } from "./health.ts";

/** The result of a check. */
export interface Finding {
  /** What was checked, such as `store`. */
  readonly check: string;
  readonly state: "ok" | "warning" | "failed";
  readonly message: string;
  /** What to do about it; absent if nothing must be done. */
  readonly advice?: string;
}

export function ok(check: string, message: string): Finding {
  return { check, state: "ok", message };
}

function warning(check: string, message: string, advice: string): Finding {
  return { check, state: "warning", message, advice };
}

export function failed(check: string, message: string, advice: string): Finding {
  return { check, state: "failed", message, advice };
}

/** How far clocks may differ, in milliseconds. */
const TOLERANCE = 2_000;

/** Another clock, and how far it is ahead of this machine's, in milliseconds. */
type OtherClock = Readonly<{ name: string; ahead: number }>;

/** Compares the clock of this machine with those of servers, and with the last change of the store. */
export function checkClock(now: number, others: readonly OtherClock[], lastChange: number): Finding {
  const daemon = "Run a time daemon, such as chrony, on each machine.";
  const time = new Date(now).toISOString();
  if (lastChange > now + TOLERANCE) {
    const message = `It is ${time}, but the last change of the store was at ${new Date(lastChange).toISOString()}.`;
    return warning("clock", message, `The clock is slow now, or it was fast before. ${daemon}`);
  }
  const wrong = others.filter(({ ahead }) => Math.abs(ahead) > TOLERANCE);
  if (wrong.length === 0) {
    const names = others.map(({ name }) => name).join(" and ");
    const message = names ? `${time}, the same as ${names}.` : `${time}. There is no other clock to compare it with.`;
    return ok("clock", message);
  }
  const difference = wrong.map(({ name, ahead }) => {
    const seconds = Math.round(Math.abs(ahead) / 1_000);
    return `${name} is ${seconds} s ${ahead > 0 ? "ahead" : "behind"}`;
  });
  return warning("clock", `It is ${time}; ${difference.join(", ")}.`, daemon);
}

/** How long a request to the base address may take, in milliseconds. */
const DEADLINE = 5_000;
/** A slower Valkey would noticeably delay each request, in milliseconds. */
const SLOW = 10;

/** The codes of connections that nothing accepts. */
const absent = new Set<string | undefined>(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"]);

/** The state of Valkey; an error if it does not answer, undefined if none is set. */
export type SeenValkey = ValkeyState | Error | undefined;

export function checkValkey({ valkey, database }: Config, seen: SeenValkey): Finding {
  if (!valkey || !seen) {
    return database
      ? warning("valkey", "Not set. Each process counts limits on its own.", "Set PETSTORE_VALKEY_URL if several run.")
      : ok("valkey", "Not set. A single process does not need it.");
  }
  if (seen instanceof Error) {
    const advice =
      "Check that it runs, PETSTORE_VALKEY_URL, and the permissions of its user. " +
      "Without it, each process counts limits on its own.";
    return failed("valkey", `${valkey.shown}: ${seen.message}`, advice);
  }
  const { version, evictionPolicy, latency } = seen;
  const message = `${valkey.shown}, ${version}, answered in ${latency.toFixed(1)} ms.`;
  const [name = "", number = ""] = version.split(" ");
  if (name === "Redis" && Number.parseInt(number, 10) < 7)
    return failed("valkey", message, "Use Valkey or Redis 7 or later.");
  // The policies named volatile-… drop counts too: every key has an expiry.
  if (evictionPolicy !== "noeviction") {
    return warning("valkey", `${message} It may drop counts (${evictionPolicy}).`, "Set maxmemory-policy noeviction.");
  }
  if (latency > SLOW) return warning("valkey", message, "Each request waits for it. Run it closer to the service.");
  return ok("valkey", message);
}

export function checkProxies(config: Config): Finding {
  const { trustedProxies: proxies } = config;
  const all = proxies.filter((network) => /\/0+$/.test(network));
  if (all.length > 0) {
    const advice = "Set PETSTORE_TRUSTED_PROXIES to the addresses of your proxies.";
    return failed("proxies", `${all.join(", ")} trusts every client, so clients can fake their addresses.`, advice);
  }
  if (proxies.length > 0) return ok("proxies", `${proxies.join(", ")}.`);
  if (baseAddress(config, config.host, config.port).startsWith("https:")) {
    const advice = "Set PETSTORE_TRUSTED_PROXIES to the proxy. Otherwise all clients without a key share one limit.";
    return warning("proxies", "None is trusted, but the base address uses TLS, so there is a proxy.", advice);
  }
  return ok("proxies", "None is trusted.");
}

/** Checks whether the service runs here, and whether its base address leads to it. */
export async function checkAddress(config: Config): Promise<Finding[]> {
  const { environment } = config;
  const { host, port } = addressOfService(config);
  const base = baseAddress(config, host, port);
  const served = await readiness({ host, port }).catch((error: Error) => error);
  const service = checkService(served, `${host}, port ${port}`);
  if (environment !== "development" && base.startsWith("http:")) {
    const advice = `Set ${baseSetting(config)} to the https address that clients use. Links in responses start with it.`;
    return [service, warning("base address", `${base} has no TLS.`, advice)];
  }
  if (served instanceof Error) {
    const reason = isAbsence(served) ? "run" : "respond";
    return [service, ok("base address", `${base}. It was not tested, because the service does not ${reason}.`)];
  }
  const fault = await unreachable(base);
  if (fault === undefined) return [service, ok("base address", `${base} leads to the service.`)];
  const advice = "Check the name, the proxy and its certificate. A firewall may allow access only from outside.";
  return [service, warning("base address", `${base}: ${fault}.`, advice)];
}

/** Judges the response at the address of the service, or the error of the request. */
function checkService(served: string | Error, at: string): Finding {
  if (served instanceof Error) {
    if (isAbsence(served)) return ok("service", `It does not run: nothing responds at ${at}.`);
    const message =
      served.name === "AbortError" // its deadline
        ? `Connections to ${at} are not refused, but nothing responds within ${READINESS_DEADLINE / 1_000} s.`
        : `The request to ${at} failed: ${served.message}.`;
    return failed("service", message, "Check its process and its log.");
  }
  if (served === "ready") return ok("service", `It is ready at ${at}.`);
  if (served === ANOTHER_PROGRAM)
    return failed("service", `Another program responds at ${at}.`, "Stop it, or set another PETSTORE_PORT.");
  return failed("service", `It responds with ${served} at ${at}.`, "Check its log.");
}

/** True if nothing accepts connections there. */
function isAbsence({ code }: NodeJS.ErrnoException): boolean {
  return absent.has(code);
}

/** Why a base address does not lead to a service; undefined if it does. The request counts in no limit. */
async function unreachable(base: string): Promise<string | undefined> {
  const document = `${rootOf(base)}/openapi.json`;
  try {
    const signal = AbortSignal.timeout(DEADLINE);
    const { status, headers } = await fetch(document, { method: "HEAD", signal });
    if (status !== 200) return `${document} responds with ${status}`;
    return headers.get("content-type")?.includes("json") ? undefined : `${document} is not an OpenAPI document`;
  } catch (error) {
    return (error as Error).message.replace(/\.$/, "");
  }
}

const MIB = 1_048_576;
/** With less free space, in bytes, the disk may be full after some hours of a busy shop. */
const LITTLE_ROOM = 1_024 * MIB;
const NO_ROOM = 64 * MIB;
/** A store has about ten files, temporary ones included, and so has a backup. */
const FEW_FILES = 100;

/** Checks the store that the settings choose, its schema and its environment. Also returns its state if it can be read. */
export async function checkStore(config: Config) {
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
  const message = `Version ${schema}; this release uses ${knownSchema}.`;
  return warning("schema", message, "The next start updates it. Take a backup first.");
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
  const advice = "Set PETSTORE_SECRET_KEY to that of their service, or put its secret.key into the data folder.";
  try {
    const keys = existingSecretKeys(secretKeys, database ? undefined : dataDir);
    const endpoints = endpointsWithoutKey(newestSecrets, keys);
    if (endpoints === 0) return ok("secret key", "No enabled webhook endpoint lacks it.");
    const message = `It is missing for ${counted(endpoints, "enabled webhook endpoint")}. A service does not start without it.`;
    return failed("secret key", message, advice);
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
  const { bytes, files } = roomAt(there);
  const filesLeft = `${counted(files, "inode")} left for files in ${folder}.`;
  if (files < FEW_FILES) return failed("disk", filesLeft, "Delete other files on that disk.");
  const message = `${Math.floor(bytes / MIB).toLocaleString("en")} MiB free for ${folder} and its temporary files.`;
  if (bytes < NO_ROOM) return failed("disk", message, "Free space now: writes fail when the disk is full.");
  if (bytes < LITTLE_ROOM) return warning("disk", message, "Free space, or move the folder to a larger disk.");
  return ok("disk", message);
}

/** Checks the age of the newest backup of an embedded store. */
export function checkBackups({ database, dataDir, backups: { every, folder } }: Config, now: number): Finding {
  if (database) return ok("backups", "PostgreSQL has its own tools: see docs/backups.md.");
  const [newest] = backupsIn(folder);
  const [one, other] = [folder, dataDir].map((path) => statSync(nearestFolder(path)).dev);
  const place = one === other ? `${folder}, on the disk of the store,` : folder;
  const age = newest && `The newest one in ${place} was taken at ${new Date(newest.takenAt).toISOString()}.`;
  if (every === undefined) {
    return warning("backups", age ?? "None are taken by the service.", "Set PETSTORE_BACKUP_EVERY, such as 6h.");
  }
  if (!newest) return ok("backups", `There is none in ${place} yet. The service takes the first one when it runs.`);
  return now - newest.takenAt <= 2 * every
    ? ok("backups", age ?? "")
    : warning("backups", age ?? "", "Search the log for backup_failed, and take a backup with backups take.");
}
