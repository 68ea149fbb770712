import type { Caller } from "../../contract/caller.ts";
import type { Limiter } from "../../http/interfaces.ts";
import { type Transaction, waitFor } from "../../storage/transaction.ts";
import type { ApiKey } from "./keys.ts";

/** Reads the ends of current bans by key, in Unix seconds. All keys belong to the caller's account. */
export type ReadBanEnds = (keys: readonly ApiKey[], caller: Caller) => Transaction<ReadonlyMap<string, number>>;

/** The bans in a limiter. They are read together, because a limiter on a server returns them in one round trip. */
export function banEndsFrom(limiter: Limiter): ReadBanEnds {
  return function* (keys, caller) {
    const looks = keys.map(
      async ({ id, mode }) => [id, (await limiter.limitStatus({ ...caller, keyId: id, mode })).banEnds] as const,
    );
    return new Map((yield* waitFor(Promise.all(looks))).flatMap(([id, end]) => (end === undefined ? [] : [[id, end]])));
  };
}
