import { readFileSync, realpathSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { addAbortSignal } from "node:stream";
import { writeNow, writeOutput } from "../telemetry/standard-output.ts";
import { run } from "./run.ts";

/**
 * For this long after the first signal, in milliseconds, others are ignored. systemd, containers and terminals signal the
 * whole process group, and npm and its launcher each pass on the signal, so it arrives several times.
 */
const SAME_SIGNAL = 1_000;

process.umask(0o077); // what the service writes is for its user alone

const stop = new AbortController();
let ignoresSignals = false;

process.on("SIGTERM", () => requestStop(143));
process.on("SIGINT", () => requestStop(130));
const onTerminalClosed = () => requestStop(129);
if (!ignoresHangup()) process.on("SIGHUP", onTerminalClosed);

/** The first signal asks for an orderly end. A later one ends the process at once, with its status. */
function requestStop(status: number): void {
  if (ignoresSignals) return;
  if (stop.signal.aborted) process.exit(status);
  ignoresSignals = true;
  // If the event loop was blocked, signals received in time are handled only after this timer, so wait one more turn.
  setTimeout(() => setTimeout(() => (ignoresSignals = false), 1), SAME_SIGNAL);
  stop.abort();
}

/** Whether SIGHUP is to be ignored, as `nohup` asks for. Only Linux says so. */
function ignoresHangup(): boolean {
  if (process.platform !== "linux") return false;
  return /^SigIgn:.*[13579bdf]$/m.test(readFileSync("/proc/self/status", "utf8")); // the lowest bit is for signal 1
}

/** How this program was started. */
interface Start {
  /** What starts it again: the one-file executable alone, or Bun with the main script. */
  readonly program: readonly string[];
  /** The project's folder, if it is not the executable. */
  readonly project: string;
}

const isRunByNpm = ({ project }: Start) => process.env["npm_package_json"] === join(project, "package.json");

/** The folder in which the command line was typed. npm changes to the project's own before it runs anything. */
function startFolder(start: Start): string {
  return (isRunByNpm(start) && process.env["INIT_CWD"]) || process.cwd();
}

/** The command that runs this program again in the start folder, for messages. */
function invocation(start: Start): string {
  const { program, project } = start;
  if (program.length === 1) {
    const name = basename(process.execPath);
    const found = Bun.which(name);
    if (found !== null && realpathSync(found) === process.execPath) return name;
    return /\s/.test(process.execPath) ? `"${process.execPath}"` : process.execPath;
  }
  // `npx petstore` might run another package of that name.
  if (!isRunByNpm(start)) return `node "${join(project, "scripts/petstore.mjs")}"`;
  const isOutside = relative(project, startFolder(start)).startsWith("..");
  return `npm ${isOutside ? `--prefix "${project}" ` : ""}run --silent petstore --`;
}

/** Replaces the last line of the terminal. */
function showStatus(line: string): void {
  writeNow(2, `\r\u001b[K${line.slice(0, (process.stderr.columns || 80) - 1)}`);
}

async function ask(question: string): Promise<string> {
  const { createInterface } = await import("node:readline/promises"); // loaded here, so that no start waits for it
  const dialog = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await dialog.question(question, { signal: stop.signal });
  } catch {
    return ""; // asked to stop, or the terminal is gone
  } finally {
    dialog.close();
  }
}

/** Runs the command of the command line, and returns the status to end with. */
export function runProgram(start: Start): Promise<number> {
  return run(process.argv.slice(2), {
    environment: process.env,
    folder: startFolder(start),
    invocation: invocation(start),
    print: (text) => writeNow(1, `${text}\n`),
    printError: (text) => writeNow(2, `${text}\n`),
    input: () => addAbortSignal(stop.signal, process.stdin),
    output: writeOutput,
    program: start.program,
    onHangup: (listener) => process.off("SIGHUP", onTerminalClosed).on("SIGHUP", listener),
    showStatus: process.stderr.isTTY ? showStatus : undefined,
    ask: process.stdin.isTTY && process.stderr.isTTY ? ask : undefined,
    stop: stop.signal,
  });
}
