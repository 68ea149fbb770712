import { statSync } from "node:fs";
import { resolve } from "node:path";
import { migrations } from "../app/schema.ts";
import {
  type Backup,
  backupName,
  backupsIn,
  type Deletion,
  deleteOldBackups,
  deleteUnfinished,
} from "../app/store/backup-folder.ts";
import { engineOf } from "../app/store/engines.ts";
import type { Config } from "../config.ts";
import { timestampOf } from "../contract/schemas.ts";
import { makeFolder, nearestFolder } from "../files/durable-files.ts";
import { roomFault } from "../files/room.ts";
import { StorageUnusable } from "../storage/errors.ts";
import { type Contents, verifyBackup } from "../storage/sqlite/verify.ts";
import { CommandFailed, type Report } from "../terminal/command.ts";
import { counted, table } from "../terminal/output.ts";
import type { ProgramCommand } from "./program-command.ts";

const takeBackup: ProgramCommand = {
  name: "backups take",
  summary: "Copy the store into a new file, also while the service runs.",
  example: "backups take --file /backups/petstore-today.db",
  description:
    "The copy is a consistent snapshot of the store, and is verified as `backups verify` does it. Without --file, it is\n" +
    "written to PETSTORE_BACKUP_DIR, and the oldest backups of the store there are deleted until PETSTORE_BACKUP_KEEP are\n" +
    "left. Those of another store, or taken before a restore, stay.",
  options: { file: { value: "FILE", meaning: "The file to create, in any folder. Then nothing is deleted." } },
  run: ({ options: { file } }, { config, folder }) =>
    file === undefined ? takeInFolder(config) : take(config, resolve(folder, file)),
};

const listBackups: ProgramCommand = {
  name: "backups list",
  summary: "List the backups in the folder of backups, the newest first.",
  example: "backups list",
  run: (_, { config }) => {
    const found = backupsIn(config.backups.folder);
    const rows = found.map(({ file, takenAt, bytes }) => [timestampOf(takenAt), String(bytes), file]);
    return {
      json: found.map(({ file, takenAt, bytes }) => ({ file, takenAt: timestampOf(takenAt), bytes })),
      text: found.length > 0 ? table(["TAKEN AT", "BYTES", "FILE"], rows) : nothingIn(config),
    };
  },
};

const verifyBackups: ProgramCommand = {
  name: "backups verify",
  summary: "Verify every backup in the folder of backups, or one file.",
  example: "backups verify --file /backups/petstore-today.db",
  description: "The exit status is 1 if one is damaged or there is none. Backups are not changed.",
  options: { file: { value: "FILE", meaning: "A backup in another folder." } },
  run: ({ options: { file } }, { config, folder }) => {
    const files = file === undefined ? backupsIn(config.backups.folder) : [{ file: resolve(folder, file) }];
    const results = files.map(verify);
    return {
      json: results,
      text: results.length > 0 ? results.map(lineOf).join("\n") : nothingIn(config),
      hasFailed: results.length === 0 || results.some(({ fault }) => fault !== undefined),
    };
  },
};

export const backupsCommands: readonly ProgramCommand[] = [takeBackup, listBackups, verifyBackups];

/** Takes a backup into the folder of backups, and deletes what is too old there. */
async function takeInFolder(config: Config): Promise<Report> {
  const { folder, keep } = config.backups;
  try {
    makeFolder(folder);
  } catch (error) {
    const reason = roomFault(nearestFolder(folder)) ?? (error as Error).message;
    throw new CommandFailed("backup_failed", `The folder ${folder} cannot hold backups: ${reason}.`);
  }
  const mark = (await engineOf(config).inspect())?.mark;
  const unfinished = deleteUnfinished(folder);
  return take(config, resolve(folder, backupName(new Date(), mark)), () => {
    const { deleted, failures } = deleteOldBackups(folder, mark, keep);
    return { deleted, failures: [...unfinished.failures, ...failures] };
  });
}

/** Takes a backup into a file, then deletes others. One that cannot be deleted does not make the new one useless. */
function take(config: Config, file: string, deleteOthers = (): Deletion => ({ deleted: [], failures: [] })): Report {
  const contents = engineOf(config).backup(file);
  const { size: bytes } = statSync(file);
  const { deleted, failures } = deleteOthers();
  return {
    json: { file, bytes, ...contents, deleted },
    text: `Wrote ${bytes} bytes to ${file}: ${describeContents(contents)}.`,
    ...(failures.length > 0 && {
      warning: { code: "old_backup_not_deleted", message: `Old backups were not deleted: ${failures.join(" ")}` },
    }),
  };
}

function verify({ file }: Pick<Backup, "file">) {
  try {
    return { file, contents: verifyBackup(file, migrations) };
  } catch (error) {
    if (error instanceof StorageUnusable) return { file, fault: error.message };
    throw error;
  }
}

function lineOf({ file, contents, fault }: ReturnType<typeof verify>): string {
  return contents ? `${file} is intact: ${describeContents(contents)}.` : (fault ?? "");
}

/** The contents of a backup, in words. */
export function describeContents({ rows }: Contents): string {
  const all = Object.values(rows).reduce((sum, count) => sum + count, 0);
  return `${counted(rows["pets"] ?? 0, "animal")}, ${counted(all, "row")} in all`;
}

function nothingIn({ backups }: Config): string {
  return `There is no backup in ${backups.folder}. PETSTORE_BACKUP_DIR sets the folder.`;
}
