import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { isLongRun } from "./test-length.ts";

const source = join(import.meta.dir, "../../src/main.ts");
const executable = process.env["TEST_PROGRAM"];
/** What starts the program. The runner builds its executable, which starts in a third of the time of the sources. */
export const programCommand: readonly string[] = executable ? [executable] : [process.execPath, source];

/** What starts the service, in production too where there is no store yet. */
export const serveCommand: readonly string[] = [...programCommand, "serve", "--create"];
/** The same from the sources, for a test that replaces or preloads a module. */
export const serveSource: readonly string[] = [process.execPath, source, "serve"];

/** What starts the service as a user does, in a process group that npm leads (util-linux has `setsid`). */
export const npmStart: readonly string[] = ["setsid", "npm", "--prefix", join(import.meta.dir, "../.."), "start"];

/** A folder for the store of a program; removed with the machine's temporary files. */
export function newDataDir(): string {
  return mkdtempSync(join(tmpdir(), "petstore-program-"));
}

function environment(dataDir: string, settings: Record<string, string>): Record<string, string | undefined> {
  const outer = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PETSTORE_")));
  return { ...outer, PETSTORE_DATA_DIR: dataDir, PETSTORE_PORT: "0", ...settings };
}

/** Runs one command of the command line to its end, as a process. */
export async function runCommand(dataDir: string, words: readonly string[], settings: Record<string, string> = {}) {
  const child = Bun.spawn([...programCommand, ...words], {
    env: environment(dataDir, settings),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { status, stdout, stderr };
}

/** Runs a command with `--json` that must succeed, and returns its output. */
export async function runJson(
  dataDir: string,
  words: readonly string[],
  settings?: Record<string, string>,
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects of it
): Promise<any> {
  const { status, stdout, stderr } = await runCommand(dataDir, [...words, "--json"], settings);
  if (status !== 0) throw new Error(`${words.join(" ")} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

/** The API key in a text, such as the output of a first start; empty if there is none. */
export function keyIn(text: string): string {
  return /psk_(?:live|test)_\w+/.exec(text)?.[0] ?? "";
}

/** The service as a separate process. */
export class Program {
  readonly child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  readonly dataDir: string;
  /** Everything that it wrote so far. */
  output = "";
  errors = "";
  /** The base address; empty until it listens. */
  base = "";
  /** The port that it listens on, even if the base address has another one. */
  port = 0;
  #hasStoppedReading = false;
  #waiters: { isMet: () => boolean; resolve: () => void }[] = [];

  /** Starts the service and waits until it listens. */
  static async start(
    dataDir: string,
    settings?: Record<string, string>,
    command?: readonly string[],
  ): Promise<Program> {
    const program = new Program(dataDir, settings, command);
    await program.until(() => program.output.includes('"event":"listening"') || program.child.exitCode !== null);
    if (program.child.exitCode !== null) throw new Error(`The service ended: ${program.errors}`);
    program.base = /"event":"listening","address":"([^"]*)"/.exec(program.output)?.[1] ?? "";
    program.port = Number(/"port":([0-9]+)/.exec(program.output)?.[1]);
    return program;
  }

  /** Starts the service without waiting. `command` can be another program. */
  constructor(dataDir: string, settings: Record<string, string> = {}, command: readonly string[] = serveCommand) {
    this.dataDir = dataDir;
    this.child = Bun.spawn([...command], {
      env: environment(dataDir, settings),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    void this.#collect(this.child.stdout, (text) => (this.output += text));
    void this.#collect(this.child.stderr, (text) => (this.errors += text));
    void this.child.exited.then(() => this.#wake());
  }

  /** Resolves once the condition is met. It is checked after each output. */
  until(isMet: () => boolean): Promise<void> {
    if (isMet()) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ isMet, resolve }));
  }

  /** Stops reading its output, which then fills the pipe. */
  stopReading(): void {
    this.#hasStoppedReading = true;
  }

  /** Sends a signal and waits for the end. Returns the exit status (or 128 and the signal's number). */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number> {
    this.child.kill(signal);
    return this.child.exited;
  }

  async #collect(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      if (this.#hasStoppedReading) await new Promise(() => {});
      take(decoder.decode(bytes, { stream: true }));
      this.#wake();
    }
  }

  #wake(): void {
    const met = this.#waiters.filter(({ isMet }) => isMet());
    this.#waiters = this.#waiters.filter((waiter) => !met.includes(waiter));
    for (const { resolve } of met) resolve();
  }
}

/** How long a result may take to become the expected one, in milliseconds. It is half of what a test may take. */
const LIMIT = isLongRun ? 900_000 : 120_000;
/** The shortest and the longest pause before the next try, in milliseconds. */
const [SHORTEST_PAUSE, LONGEST_PAUSE] = [2, 100];
/** A pause is this many times as long as the call before it. */
const PAUSE_PER_CALL = 4;

/**
 * Repeats a call until its result is the expected one, by default a true one, and returns it. Rejects with the last
 * result after `limit` milliseconds. Pauses grow with the time that the call takes, to leave the processor to what the test waits for.
 */
export async function eventually<T>(
  call: () => T | Promise<T>,
  isExpected: (result: T) => boolean = Boolean,
  limit = LIMIT,
): Promise<T> {
  const begun = performance.now();
  for (;;) {
    const start = performance.now();
    const result = await call();
    if (isExpected(result)) return result;
    if (start - begun > limit) throw new Error(`After ${limit / 1000} s, the result was still ${inspect(result)}.`);
    const pause = PAUSE_PER_CALL * (performance.now() - start);
    await Bun.sleep(Math.min(Math.max(SHORTEST_PAUSE, pause), LONGEST_PAUSE));
  }
}
