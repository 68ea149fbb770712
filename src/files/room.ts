import { randomUUID } from "node:crypto";
import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Less free space than this, in bytes, is too little for the files that SQLite makes when it opens a store. */
const TOO_LITTLE = 65_536;

/** The free bytes, and how many more files there may be, on the disk of a folder that exists. */
export function roomAt(folder: string): { readonly bytes: number; readonly files: number } {
  const { bavail, bsize, files, ffree } = statfsSync(folder);
  return { bytes: bavail * bsize, files: files === 0 ? Number.POSITIVE_INFINITY : ffree }; // some count no files
}

/** Says that the disk of a folder is full, or its inodes, of which every file needs one, or the quota of this user. */
export function roomFault(folder: string): string | undefined {
  const { bytes, files } = roomAt(folder);
  if (bytes < TOO_LITTLE) return `the disk of ${folder} is full`;
  if (files === 0) return `the disk of ${folder} has no inode left, which a new file needs`;
  return isOverQuota(folder) ? `the disk quota of this user for ${folder} is used up` : undefined;
}

/** Only a write tells: what is free on the disk does not show quotas. */
function isOverQuota(folder: string): boolean {
  const file = join(folder, `room-${randomUUID()}`);
  try {
    const descriptor = openSync(file, "wx");
    try {
      writeSync(descriptor, new Uint8Array(TOO_LITTLE), 0, TOO_LITTLE, 0);
    } finally {
      closeSync(descriptor);
      rmSync(file);
    }
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EDQUOT";
  }
}
