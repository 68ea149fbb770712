import type { SystemCall } from "./system-calls.ts";

const writes = /^p?write(v|64|v2)?$/;
const syncs = /^f(data)?sync$/;
const sends = /^(write|writev|sendto|sendmsg)$/;

/**
 * Looks in a trace for the way of each animal that was acknowledged: written to the log of the store
 * (its write-ahead log), then synced to the disk, and only then answered with 201. Returns what is
 * not so. The names have to be as strace writes them: letters, digits and hyphens.
 */
export function syncOrderViolations(calls: readonly SystemCall[], names: readonly string[], wal: string): string[] {
  const isOnWal = ({ args }: SystemCall) => args.slice(0, args.indexOf(">")).endsWith(`<${wal}`);
  const walWrites = calls.filter((call) => writes.test(call.name) && isOnWal(call));
  const walSyncs = calls.filter((call) => syncs.test(call.name) && call.result === "0" && isOnWal(call));
  const answers = calls.filter(({ name, args }) => sends.test(name) && /^\d+<(socket|TCP)/.test(args));
  return names.flatMap((name) => {
    const answer = answers.find(({ args }) => args.includes("HTTP/1.1 201") && args.includes(name));
    if (!answer) return `${name}: the trace has no answer`;
    const write = walWrites.find(({ args }) => args.includes(name));
    if (!write || write.end >= answer.begin) return `${name}: answered before it was written`;
    const isSynced = walSyncs.some(({ begin, end }) => begin > write.end && end < answer.begin);
    return isSynced ? [] : `${name}: answered before it was synced`;
  });
}
