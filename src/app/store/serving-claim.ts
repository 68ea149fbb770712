import type { Config } from "../../config.ts";
import { StorageUnusable } from "../../storage/errors.ts";
import { StoreServed } from "../../storage/sqlite/serving-lock.ts";
import type { OpenStorage } from "../../storage/storage.ts";
import { type Engine, engineOf } from "./engines.ts";

/** A process's claim to serve the store. */
export type ServingClaim = ReturnType<typeof claimStore>;

/**
 * Claims the store that the settings choose for this process, if only one process may serve it. Throws
 * `StorageUnusable` if another process serves it.
 */
export function claimStore(config: Config) {
  const engine = engineOf(config);
  try {
    const lock = engine.lock?.();
    return {
      /** Publishes the base URL of this process, and where it listens, for others. */
      announce: (address: string, host: string, port: number) =>
        lock?.announce({ pid: process.pid, address, host, port }),
      release: () => lock?.release(),
    };
  } catch (error) {
    if (error instanceof StoreServed) throw storeServed(engine, error);
    // Other processes can serve the store too.
    return { failure: error as Error, announce: () => {}, release: () => {} }; // opening the store may report the reason
  }
}

function storeServed({ place, setting }: Engine, error: StoreServed): StorageUnusable {
  const { pid, address } = error.by ?? {};
  const who = [pid && `process ${pid}`, address].filter(Boolean).join(", ");
  return new StorageUnusable(
    `The store at ${place} is served by another process${who && `: ${who}`}. Stop that one first, or set another ${setting}.`,
    { cause: error },
  );
}

/** Throws `StorageUnusable` if the claim could not lock the store. */
export function requireLocked({ failure }: ServingClaim, { place }: Engine): void {
  if (failure) throw new StorageUnusable(`The store at ${place} cannot be locked: ${failure.message}.`);
}

/**
 * Opens the store that the settings choose, which no other process may have open, and migrates an older schema. Until
 * `release`, no service can start on an embedded store. Rejects with `StorageUnusable`, also if there is none.
 */
export async function openUnused(config: Config): Promise<{ storage: OpenStorage; release: () => void }> {
  const engine = engineOf(config);
  await engine.requireNotInUse();
  const claim = claimStore(config);
  try {
    requireLocked(claim, engine);
    await engine.requireNotInUse(); // again: now that it is claimed, no other process can start to serve it
    return { storage: await engine.open({ create: false, mayMigrate: true }), release: () => claim.release() };
  } catch (error) {
    claim.release();
    throw error;
  }
}
