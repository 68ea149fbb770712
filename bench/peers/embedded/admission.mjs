import { KeyRing } from "./keys.mjs";
import { Limits } from "./limits.mjs";

const QUOTA_OF_ADDRESS = { perMinute: 60, perDay: 1_000 };

/** Decides which requests are processed: those with a valid key whose account has requests left. */
export class Admission {
  #keys;
  #limits = new Limits();

  constructor(store) {
    this.#keys = new KeyRing(store);
  }

  /** The caller or the refusal, and the headers that say so. Requests without a valid key count for their address. */
  decide(authorization, addressOf) {
    const token = /^bearer +(.*)$/i.exec(authorization ?? "")?.[1];
    const caller = token === undefined ? undefined : this.#keys.find(token);
    const { admitted, limit, remaining, reset, retryAfter } = caller
      ? this.#limits.admit(caller.accountId, caller)
      : this.#limits.admit(`address ${addressOf()}`, QUOTA_OF_ADDRESS);
    const headers = { "X-RateLimit-Limit": limit, "X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": reset };
    if (!admitted) {
      headers["Retry-After"] = retryAfter;
      return { headers, refusal: [429, "rate_limit_exceeded", "The requests of the current window are used up."] };
    }
    if (!caller) {
      headers["WWW-Authenticate"] = `Bearer realm="petstore"${token === undefined ? "" : ', error="invalid_token"'}`;
      return { headers, refusal: [401, "invalid_api_key", "The API key is missing or not valid."] };
    }
    return { headers, caller };
  }
}
