import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
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

/** Deletes all but the newest backups of a folder. Returns those that it deleted. */
export function deleteOldBackups(folder: string, keep: number): Backup[] {
  const old = backupsIn(folder).slice(keep);
  for (const { file } of old) rmSync(file, { force: true });
  return old;
}

/** Deletes the unfinished files of killed backups: those that were not written for an hour. */
export function deleteUnfinished(folder: string): void {
  for (const name of namesIn(folder)) {
    if (!/^petstore-.*\.db\.unfinished-[\w-]+$/.test(name)) continue;
    const file = join(folder, name);
    const changedAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
    if (changedAt !== undefined && Date.now() - changedAt >= HOUR_MS) rmSync(file, { force: true });
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // taking a backup into it reports the reason
  }
}
