// Disk faults, as the kernel reports them to a running process.

/** False where strace is missing, or forbidden as it can be in a container. */
export const canInject = Bun.which("strace") !== null && Bun.spawnSync(["strace", "-o", "/dev/null", "true"]).success;

const limitedDisk = ["unshare", "-rm", "sh", "-c"];
/** False where a process may not mount a separate disk. */
export const canMount = Bun.spawnSync([...limitedDisk, "mount -t tmpfs none /mnt"]).success;

/**
 * A command that runs another on a separate small disk, mounted at the folder, on which the files of
 * the folder are. From outside it is seen below `/proc/PID/root`.
 */
export function onSmallDisk(dataDir: string, bytes: number, command: readonly string[], inodes = 0): string[] {
  const mount = `cp -r "$0" "$0.seed" && mount -t tmpfs -o size=${bytes},nr_inodes=${inodes} none "$0" && cp -r "$0.seed/." "$0" && exec "$@"`;
  return [...limitedDisk, mount, dataDir, ...command];
}

/** A command that runs another one that finds a folder mounted read-only. */
export function readOnly(folder: string, command: readonly string[]): string[] {
  const mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"';
  return [...limitedDisk, mount, folder, ...command];
}

/** System calls of a running process that fail, until it is ended. */
export class Injection implements AsyncDisposable {
  readonly #tracer: Bun.Subprocess<"ignore", "ignore", "pipe">;

  /** Makes the system calls, separated by commas, fail with an error such as `ENOSPC` from now on. */
  static async begin(pid: number, calls: string, error: string): Promise<Injection> {
    const what = ["-e", `trace=${calls}`, "-e", `inject=${calls}:error=${error}`];
    const tracer = Bun.spawn(["strace", "-f", "-o", "/dev/null", ...what, "-p", String(pid)], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    const decoder = new TextDecoder();
    let output = "";
    for await (const bytes of tracer.stderr) {
      output += decoder.decode(bytes, { stream: true });
      if (output.includes("attached")) return new Injection(tracer);
    }
    throw new Error(`strace did not attach: ${output}`);
  }

  private constructor(tracer: Bun.Subprocess<"ignore", "ignore", "pipe">) {
    this.#tracer = tracer;
  }

  /** Ends the fault. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#tracer.kill("SIGINT");
    await this.#tracer.exited;
  }
}
