import { createHash, createHmac, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from "node:crypto";
import type { SecretKey } from "./secret-keys.ts";

const SEED_BYTES = 32;
/** The bytes before the seed of an ed25519 key in PKCS #8 (RFC 8410, section 7). */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

/** The signing keys of one version of an endpoint's secret. */
export interface SigningKeys {
  /** For `v1`: the receiver has it too. */
  readonly shared: Uint8Array;
  /** For `v1a`: only the service has it. */
  readonly own: KeyObject;
}

/**
 * Derives the keys of an endpoint. The same arguments always give the same keys, so no key is stored. The own key
 * cannot be derived from the shared one: otherwise a receiver could sign as the service. The endpoint's id must be
 * unique in the whole store, and must never be reused.
 */
export function deriveKeys({ bytes }: SecretKey, endpointId: string, version: number): SigningKeys {
  const name = `${version}:${endpointId}`;
  const seed = hkdfSync("sha256", bytes, "", `petstore webhook v1a:${name}`, SEED_BYTES);
  return signingKeys(createHmac("sha256", bytes).update(`petstore webhook v1:${name}`).digest(), new Uint8Array(seed));
}

/** The keys of a shared secret and the seed of an ed25519 key. */
export function signingKeys(shared: Uint8Array, seed: Uint8Array): SigningKeys {
  const own = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: "der", type: "pkcs8" });
  return { shared, own };
}

/** The secret in the form in which a receiver gets it, once. */
export function shownSecret({ shared }: SigningKeys): string {
  return `whsec_${Buffer.from(shared).toString("base64")}`;
}

/** The public key that verifies `v1a` signatures. */
export function shownPublicKey({ own }: SigningKeys): string {
  const { x = "" } = createPublicKey(own).export({ format: "jwk" });
  return `whpk_${Buffer.from(x, "base64url").toString("base64")}`;
}

/**
 * The message id of an event at an endpoint: the same in every delivery. It contains no full stop, which
 * separates the parts of the signed text. `shop` names the shop and the generation of its store.
 */
export function messageId(endpointId: string, shop: string, eventId: bigint): string {
  const digest = createHash("sha256").update(`${shop}:${eventId}:${endpointId}`).digest();
  return `msg_${digest.subarray(0, 18).toString("base64url")}`;
}

/**
 * The headers of Standard Webhooks 1.0.0 for a message that is sent at `now`, in Unix milliseconds. It is signed with
 * every version of the secret that is valid, the newest first: receivers accept a message if one signature is right.
 */
export function signedHeaders(id: string, body: string, now: number, versions: readonly SigningKeys[]) {
  const timestamp = String(Math.floor(now / 1000));
  const text = Buffer.from(`${id}.${timestamp}.${body}`);
  const signatures = versions.flatMap(({ shared, own }) => [
    `v1,${createHmac("sha256", shared).update(text).digest("base64")}`,
    `v1a,${sign(null, text, own).toString("base64")}`,
  ]);
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}
