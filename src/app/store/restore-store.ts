import { type Config, isProduction } from "../../config.ts";
import { StorageUnusable } from "../../storage/errors.ts";
import type { Restored } from "../../storage/sqlite/restore.ts";
import { engineOf } from "./engines.ts";
import { claimStore } from "./serving-claim.ts";

/**
 * Replaces the store that the settings choose with a copy of a backup. The old store stays under another name. Rejects
 * with `StorageUnusable`, also if a process serves the store or has it open; then nothing was replaced.
 */
export async function restoreStore(config: Config, backup: string, now: Date): Promise<Restored> {
  const engine = engineOf(config);
  const claim = claimStore(config);
  try {
    if (claim.failure) throw new StorageUnusable(`The store cannot be locked: ${claim.failure.message}.`);
    const replacesProduction = !config.environmentIsSet && (await belongsToProduction(config));
    return engine.restore(backup, now, (contents) => {
      // A backup of production is accepted by all environments: `adopt` turns it into a store of theirs.
      if (contents.belongsToProduction !== false) return;
      if (!isProduction(config) && !replacesProduction) return;
      const owner = replacesProduction ? `the store at ${engine.place} belongs to` : "PETSTORE_ENV is";
      throw new StorageUnusable(
        `${backup} belongs to development or staging, but ${owner} production. Nothing was replaced.`,
      );
    });
  } finally {
    claim.release();
  }
}

/** True if the embedded store belongs to production. One that is missing or cannot be read does not. */
async function belongsToProduction(config: Config): Promise<boolean> {
  if (config.database) return false; // it takes no backups
  try {
    return (await engineOf(config).inspect())?.belongsToProduction ?? false;
  } catch {
    return false;
  }
}
