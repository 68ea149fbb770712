// Bun runs this program. `scripts/run.mjs`, which Node runs, starts it; the one-file executable contains Bun.
import { readFileSync, realpathSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { addAbortSignal } from "node:stream";
import { run } from "./cli/run.ts";
import { writeNow, writeOutput } from "./telemetry/log.ts";

/**
 * For this long after the first signal, in milliseconds, others are ignored. systemd, containers and terminals signal the
 * whole process group, and npm and its launcher each pass on the signal, so it arrives several times.
 */
const SAME_SIGNAL = 1_000;

process.umask(0o077); // what the service writes is for its user alone

// A proxy of the environment gets no request for this machine: it could not reach it, and would see keys.
const { no_proxy: exceptions = process.env["NO_PROXY"] } = process.env;
process.env["no_proxy"] = [exceptions, "localhost,127.0.0.1,::1"].filter(Boolean).join();

const stop = new AbortController();
let ignoresSignals = false;

process.on("SIGTERM", () => requestStop(143));
process.on("SIGINT", () => requestStop(130));
if (!ignoresHangup()) process.on("SIGHUP", () => requestStop(129));

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

/** True in the one-file executable, which alone holds files besides its code. */
const isExecutable = Bun.embeddedFiles.length > 0;
/** What starts this program again. */
const program = isExecutable ? [process.execPath] : [process.execPath, ...process.execArgv, import.meta.path];
/** The project's folder, if this is not the executable. */
const project = join(import.meta.dir, "..");
const isRunByNpm = process.env["npm_package_json"] === join(project, "package.json");

/** The folder in which the command line was typed. npm changes to the project's own before it runs anything. */
function startFolder(): string {
  return (isRunByNpm && process.env["INIT_CWD"]) || process.cwd();
}

/** The command that runs this program again in the start folder, for messages. */
function invocation(): string {
  if (isExecutable) {
    const name = basename(process.execPath);
    const found = Bun.which(name);
    if (found !== null && realpathSync(found) === process.execPath) return name;
    return /\s/.test(process.execPath) ? `"${process.execPath}"` : process.execPath;
  }
  // `npx petstore` might run another package of that name.
  if (!isRunByNpm) return `node "${join(project, "scripts/petstore.mjs")}"`;
  const isOutside = relative(project, startFolder()).startsWith("..");
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

const status = await run(process.argv.slice(2), {
  environment: process.env,
  folder: startFolder(),
  invocation: invocation(),
  print: (text) => writeNow(1, `${text}\n`),
  printError: (text) => writeNow(2, `${text}\n`),
  input: () => addAbortSignal(stop.signal, process.stdin),
  output: writeOutput,
  program,
  showStatus: process.stderr.isTTY ? showStatus : undefined,
  ask: process.stdin.isTTY && process.stderr.isTTY ? ask : undefined,
  stop: stop.signal,
});
process.exit(status);
