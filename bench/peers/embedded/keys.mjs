import { createHash } from "node:crypto";

/** How long a key that was found is taken as valid, in milliseconds. A revoked key stops working after that time. */
const FRESH = 1_000;
const CACHE_SIZE = 50_000;

/** API keys: looked up by their SHA-256, in memory first. */
export class KeyRing {
  #byDigest;
  #cache = new Map();

  constructor(store) {
    this.#byDigest = store.prepare(
      `SELECT k.id, k.account_id AS accountId, k.scopes, k.expires_at AS expiresAt, k.revoked_at AS revokedAt,
              a.per_minute AS perMinute, a.per_day AS perDay
       FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.digest = ?`,
    );
  }

  /** The key's owner and quota, or undefined if the key is not valid. */
  find(token) {
    const digest = createHash("sha256").update(token).digest("base64");
    const now = Date.now();
    const cached = this.#cache.get(digest);
    if (cached && now < cached.freshUntil) return cached.key;
    const key = this.#byDigest.get(digest);
    if (!key || key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now)) {
      this.#cache.delete(digest);
      return undefined;
    }
    if (this.#cache.size >= CACHE_SIZE) this.#cache.delete(this.#cache.keys().next().value);
    this.#cache.set(digest, { key, freshUntil: now + FRESH });
    return key;
  }
}
