import { readFileSync } from "node:fs";

/**
 * For how long a process has waited so far for a processor that others had, in milliseconds; 0 where
 * the system does not tell. On a busy machine it can be most of the time that something takes.
 */
export function waitedForProcessor(pid: number): number {
  return scheduled(pid, 1);
}

/** For how long a process has had a processor so far, in milliseconds; 0 where the system does not tell. */
export function hadProcessor(pid: number): number {
  return scheduled(pid, 0);
}

function scheduled(pid: number, field: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[field]) / 1_000_000;
  } catch {
    return 0;
  }
}
