import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { asFileError } from "../../files/new-file.ts";
import { HOUR_MS } from "../../timing/units.ts";

/** A backup in the folder of backups. */
export interface Backup {
  readonly file: string;
  /** When it was taken, in Unix milliseconds. */
  readonly takenAt: number;
  readonly bytes: number;
}

/** `petstore-2026-11-22T08-10-00-000Z.db`: sorts by time, and is valid on every file system. */
const form = /^petstore-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z\.db$/;

/** The name of a backup that is taken now. */
export function backupName(now: Date): string {
  return `petstore-${now.toISOString().replaceAll(/[:.]/g, "-")}.db`;
}

/**
 * The backups in a folder, the newest first. Those from the future are last: they were taken before the clock was set
 * back. Other files are ignored; a folder that cannot be read has none.
 */
export function backupsIn(folder: string, now = Date.now()): Backup[] {
  const isFuture = ({ takenAt }: Backup) => Number(takenAt > now);
  return namesIn(folder)
    .flatMap((name) => {
      const [, day, hour, minute, second, fraction] = form.exec(name) ?? [];
      if (day === undefined) return [];
      const file = join(folder, name);
      const takenAt = Date.parse(`${day}T${hour}:${minute}:${second}.${fraction}Z`);
      return [{ file, takenAt, bytes: statSync(file, { throwIfNoEntry: false })?.size ?? 0 }];
    })
    .toSorted((a, b) => isFuture(a) - isFuture(b) || b.takenAt - a.takenAt);
}

/** The files that were deleted, and the reasons why others could not be. */
export interface Deletion {
  readonly deleted: readonly string[];
  readonly failures: readonly string[];
}

/** Deletes all but the newest backups of a folder. */
export function deleteOldBackups(folder: string, keep: number): Deletion {
  const old = backupsIn(folder).slice(keep);
  return deleteFiles(old.map(({ file }) => file));
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
