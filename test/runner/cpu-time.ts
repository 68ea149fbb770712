import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Where Linux keeps the control groups of CPU time, in their first version or in the second. */
const FIRST = "/sys/fs/cgroup/cpuacct";
const isFirst = existsSync(FIRST);

/**
 * Moves this process into a control group of its own, with all that it starts from now on. Only a control group counts
 * what a browser and a database server use: their processes end without a parent that asks for their time.
 * @returns what tells the CPU time of the group in seconds; 0 where the process may make no groups
 */
export function ownCpuTime(): () => number {
  try {
    const folder = join(currentGroup(), `petstore-tests-${process.pid}`);
    if (basename(dirname(folder)) === basename(folder)) return () => secondsOf(dirname(folder));
    mkdirSync(folder);
    enter(folder);
    return () => secondsOf(folder);
  } catch {
    return () => 0;
  }
}

/** Leaves the group of `ownCpuTime`, and removes it with those in it. One with a process that still runs stays. */
export function leaveCpuGroup(): void {
  try {
    const folder = currentGroup();
    enter(dirname(folder));
    for (const inner of readdirSync(folder)) if (inner.startsWith("petstore-tests-")) rmdirSync(join(folder, inner));
    rmdirSync(folder);
  } catch {
    // It was not made, or is in use.
  }
}

function currentGroup(): string {
  const line = isFirst ? /^[0-9]+:(?:.*,)?cpuacct(?:,.*)?:(.*)$/m : /^0::(.*)$/m;
  const [, path] = line.exec(readFileSync("/proc/self/cgroup", "utf8")) ?? [];
  if (path === undefined) throw new Error("There are no control groups of CPU time.");
  return join(isFirst ? FIRST : "/sys/fs/cgroup", path);
}

function enter(folder: string): void {
  writeFileSync(join(folder, "cgroup.procs"), String(process.pid));
}

function secondsOf(folder: string): number {
  if (isFirst) return Number(readFileSync(join(folder, "cpuacct.usage"), "utf8")) / 1e9;
  return Number(/^usage_usec ([0-9]+)$/m.exec(readFileSync(join(folder, "cpu.stat"), "utf8"))?.[1]) / 1e6;
}
