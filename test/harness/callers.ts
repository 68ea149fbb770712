import { type Caller, shopNumber } from "../../src/contract/caller.ts";

/** A caller that has a valid key of a sandbox, and no scopes. */
export function callerWith(own: Partial<Caller> = {}): Caller {
  return {
    keyId: "key_1",
    digest: "",
    accountId: "acc_1",
    mode: "test",
    shop: shopNumber(1),
    scopes: new Set(),
    expiresAt: Number.POSITIVE_INFINITY,
    lastUsedAt: Number.NEGATIVE_INFINITY,
    bannedUntil: null,
    bans: 0,
    limitPerMinute: null,
    name: "till",
    isSuspended: false,
    perMinute: 60,
    perDay: 1_000,
    ...own,
  };
}
