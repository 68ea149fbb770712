import { writeSync } from "node:fs";
import { join } from "node:path";
import { run } from "./cli/run.ts";

/** A terminal's Ctrl-C reaches a process twice when npm runs it: directly, and passed on by npm. */
const SAME_INTERRUPT = 100;

process.umask(0o077); // what the service writes is for its user alone

const stop = new AbortController();
let interruptedAt = Number.NEGATIVE_INFINITY;

process.on("SIGTERM", () => requestStop(143));
process.on("SIGINT", () => {
  const isSame = performance.now() - interruptedAt < SAME_INTERRUPT;
  interruptedAt = performance.now();
  if (!isSame) requestStop(130);
});

/** The first signal asks for an orderly end; a second one ends at once, with the signal's status. */
function requestStop(status: number): void {
  if (stop.signal.aborted) process.exit(status);
  stop.abort();
}

/** The folder in which the command line was typed. npm changes to the project's own before it runs anything. */
function typedIn(): string {
  const isRunByNpm = process.env["npm_package_json"] === join(import.meta.dir, "../package.json");
  return (isRunByNpm && process.env["INIT_CWD"]) || process.cwd();
}

process.exit(
  await run(process.argv.slice(2), {
    environment: process.env,
    folder: typedIn(),
    print: (text) => writeSync(1, `${text}\n`),
    printError: (text) => writeSync(2, `${text}\n`),
    stop: stop.signal,
  }),
);
