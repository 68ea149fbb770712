import { createHash } from "node:crypto";

/** How long a key that was found is taken as valid, in milliseconds. A revoked key stops working after that time. */
const FRESH = 1_000;
const CACHE_SIZE = 50_000;

const BY_DIGEST = `
  SELECT k.id, k.account_id AS "accountId", a.per_minute AS "perMinute"
  FROM api_keys k JOIN accounts a ON a.id = k.account_id
  WHERE k.digest = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2)`;

/** API keys: looked up by their SHA-256, in memory first. */
export class KeyRing {
  #pool;
  #cache = new Map();

  constructor(pool) {
    this.#pool = pool;
  }

  /** The key's owner and quota, or undefined if the key is not valid. Concurrent requests share one query. */
  find(token) {
    const digest = createHash("sha256").update(token).digest("base64");
    const now = Date.now();
    const cached = this.#cache.get(digest);
    if (cached && now < cached.freshUntil) return cached.key;
    const key = this.#pool
      .query({ name: "key", text: BY_DIGEST, values: [digest, now] })
      .then(({ rows: [found] }) => {
        if (!found) this.#cache.delete(digest);
        return found;
      })
      .catch((error) => {
        this.#cache.delete(digest);
        throw error;
      });
    if (this.#cache.size >= CACHE_SIZE) this.#cache.delete(this.#cache.keys().next().value);
    this.#cache.set(digest, { key, freshUntil: now + FRESH });
    return key;
  }
}
