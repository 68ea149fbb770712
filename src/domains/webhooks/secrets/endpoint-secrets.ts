import { randomBytes } from "node:crypto";
import { StorageUnusable } from "../../../storage/errors.ts";
import { query } from "../../../storage/statement.ts";
import type { ReadableStorage } from "../../../storage/storage.ts";
import { all } from "../../../storage/transaction.ts";
import { DAY_MS } from "../../../timing/clock.ts";
import { existingSecretKeys, type SecretKeys } from "./secret-keys.ts";
import { deriveKeys, type SigningKeys } from "./signatures.ts";

/** How long a replaced secret stays valid, in milliseconds. */
const OVERLAP = DAY_MS;

/** One version of an endpoint's secret. The secret is derived from these values and is not stored. */
export interface SecretVersion {
  readonly version: number;
  /** The id of the key that it is derived from. */
  readonly keyId: string;
  /** When it ends, in Unix milliseconds of real time; null for the newest one. */
  readonly endsAt: number | null;
}

/** The id of a new endpoint. It is random because secrets are derived from it: no two endpoints may ever share one. */
export function newEndpointId(): string {
  return `we_${randomBytes(12).toString("hex")}`;
}

/** The secret versions of a new endpoint. */
export function firstVersion({ current }: SecretKeys): readonly SecretVersion[] {
  return [{ version: 1, keyId: current.id, endsAt: null }];
}

/**
 * The versions after a rotation: the new one, the previous one, which ends a day later, and those before it that have
 * not ended. If the response to a rotation is lost, the next one must not end the secret that the receiver has.
 */
export function rotated(versions: readonly SecretVersion[], { current }: SecretKeys, now: number): SecretVersion[] {
  const [newest, ...older] = versions as readonly [SecretVersion, ...SecretVersion[]];
  const next = { version: newest.version + 1, keyId: current.id, endsAt: null };
  return [next, { ...newest, endsAt: now + OVERLAP }, ...older.filter(({ endsAt }) => endsAt !== null && endsAt > now)];
}

/** The signing keys of the newest version; undefined if its secret key is lost. */
export function currentKeys(
  endpointId: string,
  [newest]: readonly SecretVersion[],
  secretKeys: SecretKeys,
): SigningKeys | undefined {
  return newest && keysOfVersion(endpointId, newest, secretKeys);
}

function keysOfVersion(
  endpointId: string,
  { version, keyId }: SecretVersion,
  secretKeys: SecretKeys,
): SigningKeys | undefined {
  const key = secretKeys.find(keyId);
  return key && deriveKeys(key, endpointId, version);
}

/** The number of enabled endpoints whose newest secret is derived from a key that is not among these. */
export function endpointsWithoutKey(found: readonly NewestSecrets[], secretKeys: SecretKeys | undefined): number {
  const lacking = found.filter(({ newest }) => !secretKeys?.find(/"keyId":"([0-9a-f]+)/.exec(newest)?.[1] ?? ""));
  return lacking.reduce((sum, { endpoints }) => sum + Number(endpoints), 0);
}

/**
 * The number of enabled endpoints for each newest secret. `newest` is the start of the column `secrets`, long enough for the
 * version and the key id of the newest secret.
 */
export type NewestSecrets = { newest: string; endpoints: bigint };
export const newestSecrets = query<[], NewestSecrets>(
  `SELECT substr(secrets, 1, 48) AS newest, count(*) AS endpoints FROM webhook_endpoints
   WHERE state = 'enabled' GROUP BY newest`,
);

/**
 * Rejects with `StorageUnusable` if enabled endpoints need a key that this process lacks: as the leader, it would send them
 * nothing. The arguments are those of `openSecretKeys`.
 */
export async function requireSecretKeys(
  storage: ReadableStorage,
  listed: readonly Uint8Array[] | undefined,
  folder: string | undefined,
): Promise<void> {
  const found = await storage.read(all(newestSecrets));
  const endpoints = endpointsWithoutKey(found, existingSecretKeys(listed, folder));
  if (endpoints === 0) return;
  throw new StorageUnusable(
    `The key of the secrets of ${endpoints === 1 ? "an enabled webhook endpoint" : `${endpoints} enabled webhook endpoints`} ` +
      `is missing. Set PETSTORE_SECRET_KEY to that of their service${folder === undefined ? "" : ", or put its secret.key into the data folder"}. ` +
      "If the key is lost, pause them (webhooks list, webhooks pause), and let their owners replace the secrets.",
  );
}

/** The signing keys of all valid versions, the newest first; empty if all their secret keys are lost. */
export function validKeys(
  endpointId: string,
  versions: readonly SecretVersion[],
  secretKeys: SecretKeys,
  now: number,
): readonly SigningKeys[] {
  return versions
    .filter(({ endsAt }) => endsAt === null || endsAt > now)
    .flatMap((version) => keysOfVersion(endpointId, version, secretKeys) ?? []);
}
