import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { migrations } from "../app/schema.ts";
import { STORE_FILE } from "../app/store/engines.ts";
import { webhookSettings } from "../domains/webhooks/webhooks.settings.ts";
import { type MoveResult, moveTables } from "../storage/move-tables.ts";
import { type PostgresAddress, parsePostgresAddress } from "../storage/postgres/address.ts";
import { PostgresTarget } from "../storage/postgres/postgres-target.ts";
import { SqliteSource } from "../storage/sqlite/sqlite-source.ts";
import { realStoreFile } from "../storage/sqlite/store-files.ts";
import { UsageError } from "../terminal/command.ts";
import { counted, pace } from "../terminal/output.ts";
import { Progress } from "../terminal/progress.ts";
import type { ProgramCommand } from "./program-command.ts";

export const migrateStore: ProgramCommand = {
  name: "migrate-store",
  summary: "Move the whole store from a data folder to PostgreSQL.",
  example: "migrate-store --from ./data --to postgres://petstore@db.internal:5432/petstore",
  description:
    "Stop the service first. Everything is moved, read back and compared, or nothing is moved. The old store does not\n" +
    "change, but the service refuses it afterwards. Set PETSTORE_DATABASE_URL to start on the new one. Without the\n" +
    "options, the settings name both stores.",
  options: {
    from: { meaning: "The data folder, or the file of the store in it.", value: "FOLDER" },
    to: { meaning: "An empty database: postgres://USER@HOST:PORT/DATABASE.", value: "ADDRESS" },
  },
  run: async ({ options }, { config, folder, settings, showStatus, stop }) => {
    const from = options["from"] === undefined ? config.dataDir : resolve(folder, options["from"]);
    const to = options["to"] === undefined ? config.database : parsePostgresAddress(options["to"]);
    if (options["from"] !== undefined && parsePostgresAddress(options["from"])) {
      throw new UsageError("A store in PostgreSQL cannot be moved: --from must be a data folder.");
    }
    if (!to) throw new UsageError("--to must be an address such as postgres://USER:PASSWORD@HOST:5432/DATABASE.");
    const progress = new Progress(showStatus, "row");
    try {
      const { tables, wasThere } = await moveStore(from, to, stop, progress);
      const moved = wasThere ? {} : tables;
      const rows = Object.values(moved).reduce((sum, count) => sum + count, 0);
      const { seconds } = progress;
      const { webhook_endpoints: endpoints = 0 } = tables; // after a failed run too, which printed no warning
      return {
        json: { to: to.shown, wasThere, rows, tables: moved, seconds },
        text: wasThere
          ? `${to.shown} has all of it already.`
          : `Moved ${counted(rows, "row")} to ${to.shown} ${pace(rows, seconds)}, and compared all of them.`,
        ...(endpoints > 0 &&
          !settings(webhookSettings).PETSTORE_SECRET_KEY && {
            warning: {
              code: "secret_key_missing",
              message:
                `The store has ${counted(endpoints, "webhook endpoint")}. Before the start, set PETSTORE_SECRET_KEY to ` +
                "the content of secret.key in the old data folder. Otherwise it does not start.",
            },
          }),
      };
    } finally {
      progress.end();
    }
  },
};

/**
 * Moves the embedded store at this path, a folder or the file itself, to a database. No other process can use either
 * while it runs. Afterwards the embedded store is refused. Rejects with `StorageUnusable` or `StorageUnavailable`; then
 * nothing was moved, unless the message says so.
 */
async function moveStore(
  from: string,
  to: PostgresAddress,
  stop: AbortSignal,
  progress: Progress,
): Promise<MoveResult> {
  const isFolder = existsSync(from) && statSync(from).isDirectory();
  const source = SqliteSource.open(realStoreFile(isFolder ? join(from, STORE_FILE) : from), migrations);
  try {
    const target = await PostgresTarget.open(to, migrations);
    const emptyStore = SqliteSource.newInMemory(migrations); // to check that the target is empty
    try {
      const totalRows = source.count();
      const result = await moveTables(source, target, {
        emptyStore,
        stop,
        onProgress: ({ work, rows }) => progress.report(work, rows, rows / totalRows),
      });
      source.markMoved(to.shown);
      return result;
    } finally {
      emptyStore.close();
      target.close();
    }
  } finally {
    source.close();
  }
}
