import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { ErrorDefinition, Failure } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import type { Rendered } from "../response/response.ts";
import type { RequestIdentity } from "./request-identity.ts";

const CIPHER = "aes-256-gcm";
const [KEY_BYTES, NONCE_BYTES, TAG_BYTES] = [32, 12, 16];

/**
 * A stored response: a failure, or a success that is already rendered, so that a replay is identical byte for byte. The
 * names of its fields must not change: the next release must read what this one stored.
 */
type StoredFields =
  | { readonly ready: Rendered }
  | { readonly failure: Pick<ErrorDefinition, "code" | "status"> & Omit<Failure, "error"> };

/** False for temporary failures (429 and 5xx), and for a 401, after which the client may retry with another key. */
export function mustBeStored(outcome: Rendered | Failure): boolean {
  if (!("error" in outcome)) return true;
  const { status } = outcome.error;
  return status < 500 && status !== 429 && status !== 401;
}

/** Serializes the response of an outcome for the store. It is encrypted if the request has a secret. */
export function serializeResponse(outcome: Rendered | Failure, { secret, keyDigest }: RequestIdentity): string {
  let fields: StoredFields;
  if ("error" in outcome) {
    const { error, ...rest } = outcome;
    fields = { failure: { code: error.code, status: error.status, ...rest } };
  } else fields = { ready: outcome };
  const text = JSON.stringify(fields);
  return secret === "" ? text : seal(text, secret, keyDigest);
}

/** Parses a stored response to a request of the operation. */
export function parseResponse(
  stored: string,
  { secret, keyDigest }: RequestIdentity,
  { errors }: Operation,
): Rendered | Failure {
  const text = secret === "" ? stored : unseal(stored, secret, keyDigest);
  const fields = JSON.parse(text) as StoredFields;
  if ("ready" in fields) return fields.ready;
  const { code, status, ...rest } = fields.failure;
  // An earlier release may have stored an error that this one no longer has.
  const error = errors.find((one) => one.code === code) ?? { code, status, meaning: "" };
  return { error, ...rest };
}

/**
 * Encrypts and authenticates a text with AES-256-GCM (NIST SP 800-38D). HKDF with SHA-256 (RFC 5869) derives
 * the key from the secret. `purpose` is public. A text sealed for one purpose cannot be opened for another.
 */
function seal(text: string, secret: string, purpose: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyFor(secret, purpose), nonce);
  return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64");
}

/** Opens what `seal` has sealed. Throws an error for another secret or purpose, and for a text that was changed. */
function unseal(sealed: string, secret: string, purpose: string): string {
  const bytes = Buffer.from(sealed, "base64");
  const decipher = createDecipheriv(CIPHER, keyFor(secret, purpose), bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString("utf8");
}

function keyFor(secret: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", purpose, KEY_BYTES));
}
