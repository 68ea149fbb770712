import type { Caller, Limiter } from "../../http/ports.ts";

/** Knows which keys are banned. */
export interface KeyBans {
  /** When the bans end that hold now, in unix seconds, by key. All keys are of the caller's account. */
  endsOf(keyIds: readonly string[], caller: Caller): Promise<ReadonlyMap<string, number>>;
}

/** The bans that a limiter knows of. Asked all at once: a limiter on a server answers them in one round trip. */
export function limiterBans(limiter: Limiter): KeyBans {
  return {
    endsOf: async (keyIds, caller) => {
      const looks = keyIds.map(async (keyId) => [keyId, (await limiter.peek({ ...caller, keyId })).banEnds] as const);
      return new Map((await Promise.all(looks)).flatMap(([keyId, end]) => (end === undefined ? [] : [[keyId, end]])));
    },
  };
}
