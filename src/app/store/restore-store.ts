import { type Config, isProduction } from "../../config.ts";
import { StorageUnusable } from "../../storage/errors.ts";
import type { Restored } from "../../storage/sqlite/restore.ts";
import { engineOf } from "./engines.ts";
import { claimStore } from "./serving-claim.ts";

/**
 * Replaces the store that the settings choose with a copy of a backup. The old store stays under another name. Throws
 * `StorageUnusable`, also if a process serves the store or has it open; then nothing was replaced.
 */
export function restoreStore(config: Config, backup: string, now: Date): Restored {
  const claim = claimStore(config);
  try {
    if (claim.failure) throw new StorageUnusable(`The store cannot be locked: ${claim.failure.message}.`);
    return engineOf(config).restore(backup, now, ({ belongsToProduction }) => {
      // A backup of production is accepted by all environments: `adopt` turns it into a store of theirs.
      if (belongsToProduction !== false || !isProduction(config)) return;
      throw new StorageUnusable(
        `${backup} belongs to development or staging, but PETSTORE_ENV is production. Nothing was replaced.`,
      );
    });
  } finally {
    claim.release();
  }
}
