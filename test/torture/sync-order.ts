import { dirname } from "node:path";
import type { SystemCall } from "./system-calls.ts";

const writes = /^p?write(v|64|v2)?$/;
/** The file or folder that a call is about, by its descriptor. */
const pathOf = ({ args }: SystemCall) => /^\d+<([^>]*)>/.exec(args)?.[1];
const syncs = /^f(data)?sync$/;
const sends = /^(write|writev|sendto|sendmsg)$/;

/**
 * Checks the order of system calls for each acknowledged animal: written to the log of the store (its write-ahead log),
 * then synced to the disk, and only then answered with 201. Returns the violations. The names must be as strace writes
 * them: letters, digits and hyphens.
 */
export function syncOrderViolations(calls: readonly SystemCall[], names: readonly string[], wal: string): string[] {
  const walWrites = calls.filter((call) => writes.test(call.name) && pathOf(call) === wal);
  const walSyncs = syncsOf(calls, wal);
  const responses = responsesIn(calls);
  return names.flatMap((name) => {
    const response = responses.find(({ args }) => args.includes(name));
    if (!response) return `${name}: the trace has no response`;
    const write = walWrites.find(({ args }) => args.includes(name));
    if (!write || write.end >= response.begin) return `${name}: answered before it was written`;
    const isSynced = walSyncs.some(({ begin, end }) => begin > write.end && end < response.begin);
    return isSynced ? [] : `${name}: answered before it was synced`;
  });
}

/**
 * Checks each folder that was made: its entry in the folder above must be synced before anything is acknowledged.
 * Returns the violations.
 */
export function folderViolations(calls: readonly SystemCall[], folders: readonly string[]): string[] {
  const [response] = responsesIn(calls);
  return folders.flatMap((folder) => {
    const made = calls.find(
      ({ name, args, result }) => /^mkdir(at)?$/.test(name) && result === "0" && args.includes(`"${folder}"`),
    );
    if (!made || !response) return `${folder}: not made, or there is no response`;
    const isSynced = syncsOf(calls, dirname(folder)).some(({ begin, end }) => begin > made.end && end < response.begin);
    return isSynced ? [] : `${folder}: answered before it was synced`;
  });
}

function syncsOf(calls: readonly SystemCall[], path: string): SystemCall[] {
  return calls.filter((call) => syncs.test(call.name) && call.result === "0" && pathOf(call) === path);
}

function responsesIn(calls: readonly SystemCall[]): SystemCall[] {
  const isSocket = /^\d+<(socket|TCP)/;
  return calls.filter(({ name, args }) => sends.test(name) && isSocket.test(args) && args.includes("HTTP/1.1 201"));
}
