import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { linkTarget, nearestFolder } from "../../files/durable-files.ts";
import { roomFault } from "../../files/room.ts";

/** Explains why this process cannot use the files of a store, and how to fix it. Undefined if nothing is wrong. */
export function accessFault(file: string): string | undefined {
  const folder = dirname(file);
  const nearest = nearestFolder(folder);
  const fault = kindFault(file, nearest);
  if (fault !== undefined) return fault;
  for (const path of [nearest, file, `${file}-wal`, `${file}-shm`]) {
    const code = denial(path, path === nearest ? constants.W_OK | constants.X_OK : constants.R_OK | constants.W_OK);
    const start = beginning(file, path);
    if (code === "EROFS") {
      return `${start} is on a file system that is mounted read-only. Mount it for writing, or use another data folder.`;
    }
    if (code !== "EACCES" && code !== "EPERM") continue;
    if (!existsSync(path)) continue; // behind a link, where this user may not look
    const { uid, mode } = statSync(path);
    const user = process.getuid?.() ?? uid;
    if (uid === user) {
      return `${start} has the permissions 0${(mode & 0o777).toString(8)}, so its owner cannot write there. Run: chmod u+rwX ${path}`;
    }
    const repair = nearest === folder ? `chown -R ${user} ${folder}` : `mkdir -p ${folder} && chown ${user} ${folder}`;
    return (
      `${start} belongs to user ${uid}, and the service runs as user ${user}, who may not write there. ` +
      `Run as root: ${repair}. Or use another data folder.`
    );
  }
  const full = roomFault(nearest);
  return full && `The store at ${file} cannot be opened: ${full}. Delete other files there, then start again.`;
}

/** Explains that the store or its folder is a link that leads nowhere. Undefined if it is not. */
export function linkFault(file: string): string | undefined {
  for (const path of [dirname(file), file]) {
    const target = denial(path, constants.F_OK) === "ENOENT" ? linkTarget(path) : undefined;
    if (target === undefined) continue;
    return `${beginning(file, path)} is a link to ${target}, which is missing. Mount its disk, or change the link.`;
  }
  return undefined;
}

/** Explains that a file is where a folder should be, or the other way round. */
function kindFault(file: string, nearest: string): string | undefined {
  const advice = "Use another data folder.";
  if (!statSync(nearest).isDirectory()) return `${beginning(file, nearest)} is not a folder. ${advice}`;
  const isFolder = existsSync(file) && statSync(file).isDirectory();
  return isFolder ? `${beginning(file, file)} is a folder. ${advice}` : undefined;
}

function beginning(file: string, path: string): string {
  return `The store at ${file} cannot be opened: ${path}`;
}

function denial(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}
