import { type Config, isProduction } from "../../config.ts";
import { StorageUnusable } from "../../storage/errors.ts";
import type { Restored } from "../../storage/sqlite/restore.ts";
import { type Engine, engineOf } from "./engines.ts";
import { claimStore, requireLocked } from "./serving-claim.ts";

/**
 * Replaces the store that the settings choose with a copy of a backup. The old store stays under another name. Rejects
 * with `StorageUnusable`, also if a process serves the store or has it open; then nothing was replaced.
 */
export async function restoreStore(config: Config, backup: string, now: Date): Promise<Restored> {
  const engine = engineOf(config);
  const claim = claimStore(config);
  try {
    requireLocked(claim, engine);
    const reason = await whyProductionOnly(config, engine);
    return engine.restore(backup, now, (contents) => {
      // A backup of production is accepted by all environments: `adopt` turns it into a store of theirs.
      if (contents.belongsToProduction !== false || reason === undefined) return;
      throw new StorageUnusable(`${backup} belongs to development or staging, but ${reason}. Nothing was replaced.`);
    });
  } finally {
    claim.release();
  }
}

/**
 * Why only a backup of production may be restored; undefined if any may. If `PETSTORE_ENV` is not set, the store to be
 * replaced decides. One that cannot be read may belong to production.
 */
async function whyProductionOnly(config: Config, engine: Engine): Promise<string | undefined> {
  if (config.environmentIsSet) return isProduction(config) ? "PETSTORE_ENV is production" : undefined;
  if (config.database) return undefined; // it takes no backups
  const { place } = engine;
  try {
    return (await engine.inspect())?.belongsToProduction ? `the store at ${place} belongs to production` : undefined;
  } catch {
    return `it is unknown whether the store at ${place} belongs to production: set PETSTORE_ENV to its environment`;
  }
}
