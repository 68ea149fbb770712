import { closeSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { CryptoHasher } from "bun";
import { StorageUnusable } from "../errors.ts";

/** Bytes that are read at once. */
const PIECE = 1024 * 1024;

/** The file next to a backup with its SHA-256, which `sha256sum --check` reads too. */
function checksumFile(backup: string): string {
  return `${backup}.sha256`;
}

export function noteChecksum(backup: string, checksum: string): void {
  writeFileSync(checksumFile(backup), `${checksum}  ${basename(backup)}\n`);
}

export function deleteChecksum(backup: string): void {
  rmSync(checksumFile(backup), { force: true });
}

/** Throws `StorageUnusable` if a backup is not as it was written. One without a checksum passes. */
export function requireUnchanged(backup: string): void {
  const noted = notedChecksum(backup);
  if (noted === undefined || noted === checksumOf(backup)) return;
  throw new StorageUnusable(`${backup} is damaged: its bytes are not those that were written, see ${backup}.sha256.`);
}

function notedChecksum(backup: string): string | undefined {
  try {
    return readFileSync(checksumFile(backup), "utf8").slice(0, 64);
  } catch {
    return undefined;
  }
}

export function checksumOf(file: string): string {
  const descriptor = openSync(file, "r");
  try {
    const hasher = new CryptoHasher("sha256");
    const piece = Buffer.allocUnsafe(PIECE);
    for (let length = 1; length > 0; ) {
      length = readSync(descriptor, piece);
      hasher.update(piece.subarray(0, length));
    }
    return hasher.digest("hex");
  } finally {
    closeSync(descriptor);
  }
}
