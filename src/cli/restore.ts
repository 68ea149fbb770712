import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Engine, engineOf } from "../app/store/engines.ts";
import { claimStore, openUnused, requireLocked } from "../app/store/serving-claim.ts";
import { type Config, isProduction } from "../config.ts";
import { SECRET_KEY_FILE } from "../domains/webhooks/secrets/secret-keys.ts";
import { webhookSettings } from "../domains/webhooks/webhooks.settings.ts";
import { StorageUnusable } from "../storage/errors.ts";
import { endGeneration } from "../storage/generation.ts";
import type { Restored } from "../storage/sqlite/restore.ts";
import { all } from "../storage/transaction.ts";
import { confirm, type ParsedArguments, type Report, UsageError, yesOption } from "../terminal/command.ts";
import { counted } from "../terminal/output.ts";
import { describeContents } from "./backups.ts";
import type { ProgramCommand, ProgramContext } from "./program-command.ts";

export const restore: ProgramCommand = {
  name: "restore",
  summary: "Replace the embedded store with a backup, or announce that the database was restored.",
  example: "restore /backups/petstore-today.db --yes",
  description:
    "Stop the service first. The backup is verified and copied. The old store and its write-ahead log stay in the same\n" +
    "folder, under names that end in the time. A backup of a newer release is refused; one of an older release gets the\n" +
    "new schema at the next start. Production and the other environments refuse backups of each other. Afterwards, revoke again all\n" +
    "keys that were revoked since the backup.\n\n" +
    "For a store in PostgreSQL, restore the database with its own tools first, and give no FILE. Then earlier cursors are\n" +
    "refused, and webhooks of new events are not taken for earlier ones.",
  args: ["[FILE]"],
  options: yesOption,
  run: async (given, context) => {
    const { config, folder } = context;
    const { place } = engineOf(config);
    const [name] = given.args;
    if (name === undefined) return announceRestore(place, given, context);
    const file = resolve(folder, name);
    // A store in PostgreSQL is refused, so there is nothing to confirm.
    if (!config.database) await confirm(`This replaces the store at ${place} with ${file}.`, given, context);
    const { contents, replaced } = await restoreStore(config, file, new Date());
    const { webhook_endpoints: endpoints = 0 } = contents.rows;
    const keyFile = join(config.dataDir, SECRET_KEY_FILE);
    const needsKey = endpoints > 0 && !existsSync(keyFile) && !context.settings(webhookSettings).PETSTORE_SECRET_KEY;
    const kept = replaced === undefined ? "" : ` The old store is now ${replaced}.`;
    return {
      json: { place, file, ...contents, replaced: replaced ?? null },
      text: `Restored ${file} to ${place}: ${describeContents(contents)}.${kept}`,
      ...(needsKey && {
        warning: {
          code: "secret_key_missing",
          message:
            `The store has ${counted(endpoints, "webhook endpoint")}. Before the start, put the secret.key of its ` +
            `service at ${keyFile}, or set PETSTORE_SECRET_KEY. Otherwise it does not start.`,
        },
      }),
    };
  },
};

/** Ends the generation of a database that was restored without this program. */
async function announceRestore(place: string, given: ParsedArguments, context: ProgramContext): Promise<Report> {
  if (!context.config.database) throw new UsageError("restore needs FILE, a backup of the embedded store.");
  await confirm(`This makes all cursors of ${place} invalid.`, given, context);
  const { storage, release } = await openUnused(context.config);
  try {
    await storage.write(() => all(endGeneration));
    return { json: { place }, text: `The next start treats ${place} as restored.` };
  } finally {
    await storage.close();
    release();
  }
}

/**
 * Replaces the store that the settings choose with a copy of a backup. The old store stays under another name. Rejects
 * with `StorageUnusable`, also if a process serves the store or has it open; then nothing was replaced.
 */
async function restoreStore(config: Config, backup: string, now: Date): Promise<Restored> {
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

/**
 * Whether a backup must be of production, and why; undefined if any may be restored. If `PETSTORE_ENV` is not set, the store to be replaced decides.
 * One that cannot be read may belong to production.
 */
async function requiredOwner(config: Config, engine: Engine) {
  if (config.environmentIsSet)
    return { isProduction: isProduction(config), reason: `PETSTORE_ENV is ${config.environment}` };
  if (config.database) return undefined; // it takes no backups
  const { place } = engine;
  try {
    const owner = (await engine.inspect())?.belongsToProduction;
    const reason = `the store at ${place} belongs to ${owner ? "production" : "development or staging"}`;
    return owner === undefined ? undefined : { isProduction: owner, reason };
  } catch {
    const reason = `it is unknown whether the store at ${place} belongs to production: set PETSTORE_ENV to its environment`;
    return { isProduction: true, reason };
  }
}
