import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { nearestFolder } from "./folders.ts";

/** Explains why this process has no access to the files of a store, and how to fix it. Undefined if access is fine. */
export function accessFault(file: string): string | undefined {
  const folder = dirname(file);
  const nearest = nearestFolder(folder);
  for (const path of [nearest, file, `${file}-wal`, `${file}-shm`]) {
    const code = denial(path, path === nearest ? constants.W_OK | constants.X_OK : constants.R_OK | constants.W_OK);
    const start = `The store at ${file} cannot be opened: ${path}`;
    if (code === "EROFS") {
      return `${start} is on a file system that is mounted read-only. Mount it for writing, or use another data folder.`;
    }
    if (code !== "EACCES" && code !== "EPERM") continue;
    const { uid, mode } = statSync(path);
    const user = process.getuid?.() ?? uid;
    if (uid === user) {
      return `${start} has the permissions 0${(mode & 0o777).toString(8)}, by which its owner may not write there. Run: chmod u+rwX ${path}`;
    }
    const repair = nearest === folder ? `chown -R ${user} ${folder}` : `mkdir -p ${folder} && chown ${user} ${folder}`;
    return (
      `${start} belongs to user ${uid}, and the service runs as user ${user}, who may not write there. ` +
      `Run as root: ${repair}. Or use another data folder.`
    );
  }
  return undefined;
}

function denial(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}
