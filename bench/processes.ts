import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import type { Subprocess } from "bun";

/** The core of the measured server, and the one of everything that puts load on it. */
export const SERVER_CORE = "0";
export const LOAD_CORE = String(cpus().length - 1);
/** All cores, where everything shares them. */
export const ALL_CORES = `0-${LOAD_CORE}`;

/** How long a process may take to end by itself, in milliseconds. */
const STOP_TIMEOUT = 5_000;
/** Clock ticks a second, in which Linux counts the time of processes. */
const TICKS = 100;

/** Processes that were started here, so that all of them can be stopped, whatever happens. */
export class Processes {
  readonly #running = new Set<Subprocess>();
  readonly #others = new Set<() => Promise<void>>();
  #ended = false;

  /** Starts a command on these cores, as taskset takes them. Its standard output is discarded; its standard error goes to a file. */
  start(
    cores: string,
    command: readonly string[],
    place: { cwd: string; env: Environment; errors: string },
  ): Subprocess {
    this.#requireRunning();
    const child = Bun.spawn(["taskset", "-c", cores, ...command], {
      cwd: place.cwd,
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], NODE_ENV: "production", ...place.env },
      stdin: "ignore",
      stdout: "ignore",
      stderr: Bun.file(place.errors),
    });
    this.#running.add(child);
    return child;
  }

  /** Runs a command on these cores to its end and returns what it printed. It is killed after `limit` seconds. */
  async output(cores: string, command: readonly string[], limit: number): Promise<string> {
    this.#requireRunning();
    const child = Bun.spawn(["taskset", "-c", cores, ...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    this.#running.add(child);
    const timer = setTimeout(() => child.kill("SIGKILL"), limit * 1000);
    try {
      const [printed, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      if (child.exitCode !== 0) throw new Error(`${command[0]} failed: ${errors || printed || child.signalCode}`);
      return printed;
    } finally {
      clearTimeout(timer);
      this.#running.delete(child);
    }
  }

  /** Stops one process: with SIGTERM, then by force. */
  async stop(child: Subprocess): Promise<void> {
    this.#running.delete(child);
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT);
    await child.exited;
    clearTimeout(timer);
  }

  /** Registers a function that stops something else. `stopAll` calls it. */
  onStop(other: () => Promise<void>): void {
    this.#others.add(other);
  }

  /** Stops all processes, then calls the registered functions. */
  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map((child) => this.stop(child)));
    const others = [...this.#others];
    this.#others.clear();
    await Promise.all(others.map((stop) => stop()));
  }

  /** Stops everything. Later calls of `start` and `output` throw. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.stopAll();
  }

  #requireRunning(): void {
    if (this.#ended) throw new Error("The run was ended.");
  }
}

export type Environment = Readonly<Record<string, string>>;

/** Seconds of CPU time that a process has used. */
export function cpuTime(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Seconds of CPU time that the ended children of a process have used. */
export function cpuTimeOfEndedChildren(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[13]) + Number(fields[14])) / TICKS;
}

/** The fields of `/proc/PID/stat` after the process's name; proc(5) numbers the first of them 3. */
function statOf(pid: number): string[] {
  const line = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name is in parentheses, and may contain any character.
  return line.slice(line.lastIndexOf(")") + 2).split(" ");
}

/** A process and its children. */
export function processTree(pid: number): number[] {
  const children = Bun.spawnSync(["ps", "-o", "pid=", "--ppid", String(pid)]).stdout.toString();
  return [pid, ...children.split(/\s+/).filter(Boolean).map(Number)];
}

/** Memory of a process that is in use, in MB. */
export function residentMemory(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1000;
}
