import type { Config } from "../../config.ts";
import { clearNotedBan } from "../../domains/keys/noted-bans.store.ts";
import { ClockReader, realSeconds } from "../../limits/clock-reading.ts";
import { liftBan } from "../../limits/lifted-bans.store.ts";
import { LimitStore } from "../../limits/limits.store.ts";
import type { Decision } from "../../limits/valkey/decision.ts";
import { OPERATOR_TIMEOUT } from "../../limits/valkey/valkey.ts";
import type { Storage } from "../../storage/storage.ts";
import type { LimitedKey, StoreAccess } from "../../terminal/command.ts";
import { type Clock, systemClock } from "../../timing/clock.ts";
import { connectCounts } from "../open-limiter.ts";
import { requireEnvironment } from "./check-environment.ts";
import { engineOf } from "./engines.ts";

/** The store that the settings choose, for commands. */
export function storeAccess(config: Config): StoreAccess {
  return {
    open: (observer) => engineOf(config).open({ create: false, mayMigrate: false, observer }),
    openOrCreate: () => engineOf(config).open({ create: true, mayMigrate: false }),
    folderToCreate: () => engineOf(config).folderToCreate(),
    requireEnvironment: (storage) => requireEnvironment(storage, config),
    banEnds: (storage, keys) => readBanEnds(config, storage, systemClock, keys),
    liftBan: (storage, key) => liftBanOf(config, storage, systemClock, key),
  };
}

/** Keys in one query to the server. */
const KEY_BATCH = 100;

/**
 * When the current bans end, in Unix seconds, by key. They are in the store, where the service writes a ban before it
 * responds with it, or on the server of PETSTORE_VALKEY_URL, which is queried for each of `keys`. Rejects if that server
 * does not answer.
 */
async function readBanEnds(
  { valkey }: Config,
  storage: Storage,
  clock: Clock,
  keys: readonly LimitedKey[],
): Promise<ReadonlyMap<string, number>> {
  const stored = await new LimitStore(storage).banEnds(new ClockReader(clock).now());
  if (valkey === undefined) return stored;
  const ends = new Map<string, number>();
  const counts = await connectCounts(valkey, { command: OPERATOR_TIMEOUT });
  try {
    for (let start = 0; start < keys.length; start += KEY_BATCH) {
      const questions = keys.slice(start, start + KEY_BATCH).map((caller) => ({
        owner: caller.accountId, // with `kind`, the name of the hash that has the shop's counts
        kind: caller.mode,
        caller,
        quota: { perMinute: 1, perDay: 1 }, // affects only the windows, which are not used here
        requests: 0, // reads the state and counts nothing
      }));
      for (const ofOneCall of counts.splitIntoCalls(questions, ({ owner }) => owner)) {
        const decisions = await counts.decide(ofOneCall);
        for (const [index, { caller }] of ofOneCall.entries()) {
          const end = endOfBan(decisions[index], stored.get(caller.keyId));
          if (end !== undefined) ends.set(caller.keyId, end);
        }
      }
    }
  } finally {
    counts.close();
  }
  return ends;
}

/**
 * The end of a key's ban. If the server does not know the shop, the stored ban counts: the next request of the shop
 * restores it.
 */
function endOfBan(decision: Decision | undefined, stored: number | undefined): number | undefined {
  if (!decision) return stored;
  return decision.now < decision.banEnds ? realSeconds(decision.banEnds, decision.ahead) : undefined;
}

/**
 * Lifts the ban of a key: running processes notice it within a second. It also deletes the key's strikes, and its next
 * ban counts as the first. Rejects if the server of PETSTORE_VALKEY_URL does not answer; then it can be called again.
 */
async function liftBanOf(
  { valkey }: Config,
  storage: Storage,
  clock: Clock,
  { keyId, ...shop }: LimitedKey,
): Promise<void> {
  const counts = valkey && (await connectCounts(valkey, { command: OPERATOR_TIMEOUT }));
  try {
    await counts?.forgetKey(shop, keyId);
    await storage.write(function* () {
      yield* liftBan(shop, keyId, clock.now());
      yield* clearNotedBan(keyId);
    });
    // Again: if the server lost its data in between, a process may have restored the ban from the store.
    await counts?.forgetKey(shop, keyId);
  } finally {
    counts?.close();
  }
}
