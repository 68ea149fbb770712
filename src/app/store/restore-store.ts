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
    const required = await requiredOwner(config, engine);
    return engine.restore(backup, now, ({ belongsToProduction: owner }) => {
      if (owner === undefined || !required || owner === required.isProduction) return;
      const actual = owner ? "production" : "development or staging";
      throw new StorageUnusable(`${backup} belongs to ${actual}, but ${required.reason}. Nothing was replaced.`);
    });
  } finally {
    claim.release();
  }
}

/** Whether a backup must be of production, and why. */
interface RequiredOwner {
  readonly isProduction: boolean;
  readonly reason: string;
}

/**
 * Whose backups may be restored; undefined if any may. If `PETSTORE_ENV` is not set, the store to be replaced decides.
 * One that cannot be read may belong to production.
 */
async function requiredOwner(config: Config, engine: Engine): Promise<RequiredOwner | undefined> {
  if (config.environmentIsSet)
    return { isProduction: isProduction(config), reason: `PETSTORE_ENV is ${config.environment}` };
  if (config.database) return undefined; // it takes no backups
  const { place } = engine;
  try {
    const owner = (await engine.inspect())?.belongsToProduction;
    if (owner === undefined) return undefined;
    return {
      isProduction: owner,
      reason: `the store at ${place} belongs to ${owner ? "production" : "development or staging"}`,
    };
  } catch {
    const reason = `it is unknown whether the store at ${place} belongs to production: set PETSTORE_ENV to its environment`;
    return { isProduction: true, reason };
  }
}
