import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { asFileError } from "../../files/new-file.ts";
import { deleteChecksum } from "../../storage/sqlite/backup-checksum.ts";
import { HOUR_MS } from "../../timing/clock.ts";

/** A backup in the folder of backups. */
export interface Backup {
  readonly file: string;
  /** When it was taken, in Unix milliseconds. */
  readonly takenAt: number;
  readonly bytes: number;
  /** Tells the store that it is of: see `StoreState.mark`. */
  readonly mark: string | undefined;
}

/** `petstore-2026-11-22T08-10-00-000Z-1f3a09c2.db`: sorts by time, and is valid on every file system. */
const form = /^petstore-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z(?:-([0-9a-f]{8}))?\.db$/;

/** The name of a backup that is taken now. */
export function backupName(now: Date, mark: string | undefined): string {
  return `petstore-${now.toISOString().replaceAll(/[:.]/g, "-")}${mark === undefined ? "" : `-${mark}`}.db`;
}

/**
 * The backups in a folder, the newest first. Those from the future are last: they were taken before the clock was set
 * back. Other files are ignored; a folder that cannot be read has none.
 */
export function backupsIn(folder: string, now = Date.now()): Backup[] {
  const isFuture = ({ takenAt }: Backup) => Number(takenAt > now);
  return namesIn(folder)
    .flatMap((name) => {
      const [, day, hour, minute, second, fraction, mark] = form.exec(name) ?? [];
      if (day === undefined) return [];
      const file = join(folder, name);
      const takenAt = Date.parse(`${day}T${hour}:${minute}:${second}.${fraction}Z`);
      return [{ file, takenAt, mark, bytes: statSync(file, { throwIfNoEntry: false })?.size ?? 0 }];
    })
    .toSorted((a, b) => isFuture(a) - isFuture(b) || b.takenAt - a.takenAt);
}

/** The files that were deleted, and the reasons why others could not be. */
export type Deletion = Readonly<Record<"deleted" | "failures", readonly string[]>>;

/** Those of one store. */
export function ownBackups(backups: readonly Backup[], mark: string | undefined): Backup[] {
  return backups.filter((backup) => backup.mark === mark);
}

/** Deletes all but the newest backups of a store in a folder. Those of others may be all that is left of them. */
export function deleteOldBackups(folder: string, mark: string | undefined, keep: number): Deletion {
  const old = ownBackups(backupsIn(folder), mark).slice(keep);
  const deletion = deleteFiles(old.map(({ file }) => file));
  for (const file of deletion.deleted) deleteChecksum(file);
  return deletion;
}

/** Deletes the unfinished files of killed backups: those that were not written for an hour. */
export function deleteUnfinished(folder: string): Deletion {
  const unfinished = namesIn(folder).filter((name) => /^petstore-.*\.db\.unfinished-[\w-]+$/.test(name));
  return deleteFiles(unfinished.map((name) => join(folder, name)).filter(isAbandoned));
}

function isAbandoned(file: string): boolean {
  const changedAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  return changedAt !== undefined && Date.now() - changedAt >= HOUR_MS;
}

/** Continues after a file that cannot be deleted, such as one that the operator has protected. */
function deleteFiles(files: readonly string[]): Deletion {
  const deleted: string[] = [];
  const failures: string[] = [];
  for (const file of files) {
    try {
      rmSync(file, { force: true });
      deleted.push(file);
    } catch (error) {
      failures.push((asFileError(error, file) as Error).message);
    }
  }
  return { deleted, failures };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // taking a backup into it reports the reason
  }
}
