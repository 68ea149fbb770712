import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { eventually, newDataDir } from "./program.ts";

const root = join(import.meta.dir, "../..");

/** A fresh copy of the project, in which commands are typed as a reader of the documentation types them. */
export class FreshCopy {
  readonly folder: string;
  /** What the service wrote until it listened. */
  output = "";
  port = "";
  #service: Bun.Subprocess<"ignore", "pipe", "inherit"> | undefined;

  /** `packages` are those that `npm ci` has installed; by default all. */
  static async make({ name = "petstore", packages }: { name?: string; packages?: string[] } = {}): Promise<FreshCopy> {
    const copy = new FreshCopy(name);
    mkdirSync(copy.folder);
    const listed = Bun.spawnSync(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
      cwd: root,
    });
    for (const file of listed.stdout.toString().split("\0")) {
      if (file && existsSync(join(root, file))) await Bun.write(join(copy.folder, file), Bun.file(join(root, file)));
    }
    for (const path of packages ?? [""]) {
      const target = join(copy.folder, "node_modules", path);
      mkdirSync(dirname(target), { recursive: true });
      symlinkSync(join(root, "node_modules", path), target); // replaces `npm ci`
    }
    return copy;
  }

  private constructor(name: string) {
    this.folder = join(newDataDir(), name);
  }

  /**
   * Starts the service with a line of the documentation, and waits until it listens. It listens on any free port,
   * because the documented one may be in use.
   */
  async start(line: string): Promise<void> {
    this.#service = Bun.spawn(["sh", "-c", `exec env ${line}`], {
      cwd: this.folder,
      env: { ...ownEnvironment(), PETSTORE_PORT: "0" },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    this.output = "";
    const decoder = new TextDecoder();
    for await (const bytes of this.#service.stdout) {
      this.output += decoder.decode(bytes, { stream: true });
      if (this.output.includes('"event":"listening"')) break;
    }
    this.port = /"port":([0-9]+)/.exec(this.output)?.[1] ?? "";
  }

  /** Runs a line to its end. */
  async shell(line: string, more: Record<string, string> = {}) {
    const child = Bun.spawn(["sh", "-c", line.replaceAll("127.0.0.1:8080", `127.0.0.1:${this.port}`)], {
      cwd: this.folder,
      env: { ...ownEnvironment(), ...more },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { status: await child.exited, stdout, stderr };
  }

  /** Stops the service as a supervisor does, with a signal to the npm that started it. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#service?.kill("SIGTERM");
    await this.#service?.exited;
    await eventually(async () => !(await this.isListening()));
  }

  isListening(): Promise<boolean> {
    return fetch(`http://127.0.0.1:${this.port}/healthz`).then(
      () => true,
      () => false,
    );
  }
}

/** The environment of this test, without settings of a service. */
function ownEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PETSTORE_")));
}
