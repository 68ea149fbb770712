import { readdirSync, readFileSync } from "node:fs";

/**
 * How long a process has waited so far for a CPU that others used, in milliseconds; 0 if the system does
 * not report it. On a busy machine this can be most of a duration.
 */
export function runQueueDelayOf(pid: number): number {
  return schedstat(`${pid}`, 1);
}

/** How long the main thread of a process has used CPUs so far, in milliseconds; 0 if the system does not report it. */
export function cpuTimeOf(pid: number): number {
  return schedstat(`${pid}`, 0);
}

/**
 * Measures from now on how long all threads of a process use CPUs, in milliseconds: also those that compile, collect
 * garbage, write and compress. What a thread has used that ends in between is left out.
 */
export function cpuTimeOfThreads(pid: number): () => number {
  const timeOf = (thread: string) => schedstat(`${pid}/task/${thread}`, 0);
  const threads = () => new Map(readdirSync(`/proc/${pid}/task`).map((thread) => [thread, timeOf(thread)]));
  const before = threads();
  return () => [...threads()].reduce((sum, [thread, time]) => sum + Math.max(0, time - (before.get(thread) ?? 0)), 0);
}

/**
 * Measures from now on, in milliseconds. The time for which this process, or one of those given, waited for
 * a CPU does not count.
 */
export function stopwatch(...pids: number[]): () => number {
  const started = performance.now();
  const watched = [process.pid, ...pids].map((pid) => ({ pid, before: runQueueDelayOf(pid) }));
  return () => {
    const waits = watched.map(({ pid, before }) => Math.max(0, runQueueDelayOf(pid) - before)); // one may have ended
    return performance.now() - started - waits.reduce((sum, wait) => sum + wait, 0);
  };
}

function schedstat(process: string, field: number): number {
  try {
    return Number(readFileSync(`/proc/${process}/schedstat`, "utf8").split(" ")[field]) / 1_000_000;
  } catch {
    return 0;
  }
}
