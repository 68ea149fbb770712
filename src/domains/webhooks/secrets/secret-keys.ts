import { createHmac, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { FileError, readOrCreate } from "../../../files/new-file.ts";
import { parseSecretKeys } from "../webhooks.settings.ts";

/** The name of the key's file in the folder of an embedded store. */
export const SECRET_KEY_FILE = "secret.key";
const BYTES = 32;

/** A key from which secrets are derived. */
export interface SecretKey {
  /** Identifies the key and reveals nothing about it, so that it can be stored with what is derived from the key. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** The secret keys of the service. A webhook secret can be derived again only from the same key. */
export class SecretKeys {
  /** The key for new secrets. */
  readonly current: SecretKey;
  readonly #byId: ReadonlyMap<string, SecretKey>;

  /** The first key is the one for new secrets. */
  constructor(first: Uint8Array, ...others: readonly Uint8Array[]) {
    this.current = named(first);
    this.#byId = new Map([this.current, ...others.map(named)].map((key) => [key.id, key]));
  }

  /** Undefined if the key is no longer listed: what was derived from it is lost. */
  find(id: string): SecretKey | undefined {
    return this.#byId.get(id);
  }
}

/**
 * The keys of the setting. If it is unset, the key in the folder of the embedded store, which is created if it is
 * missing. Undefined if there is neither. Throws `FileError` if the file cannot be used.
 */
export function openSecretKeys(listed: readonly Uint8Array[] = [], folder: string | undefined): SecretKeys | undefined {
  const [first, ...others] = listed;
  if (first) return new SecretKeys(first, ...others);
  return folder === undefined ? undefined : new SecretKeys(keyIn(join(folder, SECRET_KEY_FILE)));
}

/** Like `openSecretKeys`, but creates no key. */
export function existingSecretKeys(
  listed: readonly Uint8Array[] | undefined,
  folder: string | undefined,
): SecretKeys | undefined {
  const hasFile = folder !== undefined && existsSync(join(folder, SECRET_KEY_FILE));
  return openSecretKeys(listed, hasFile ? folder : undefined);
}

function keyIn(file: string): Uint8Array {
  const text = readOrCreate(file, () => `${randomBytes(BYTES).toString("base64")}\n`);
  const [key, ...others] = parseSecretKeys(text.trim()) ?? [];
  if (key && others.length === 0) return key;
  throw new FileError(
    `${file} does not hold a secret key. Put the file back from a backup, or set PETSTORE_SECRET_KEY. If it is ` +
      "removed, a new one is made at the next start, and every webhook endpoint needs a new secret.",
  );
}

function named(bytes: Uint8Array): SecretKey {
  const id = createHmac("sha256", bytes).update("petstore: name of the secret key").digest("hex").slice(0, 16);
  return { id, bytes };
}
