// Runs Bun with the words that follow: `node scripts/run.mjs src/main.ts serve`. The scripts of package.json start Bun
// with it, so that they work with any shell, and on Windows.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { bun, ensureBun } from "./ensure-bun.mjs";

/** How often it checks whether its parent still runs, in milliseconds. */
const PARENT_CHECK = 500;

ensureBun();

// Ctrl-C reaches Bun directly as well. The service treats signals that arrive together as one.
let isStopping = false;
function stop(signal) {
  isStopping = true;
  child.kill(signal);
}
// Before Bun starts: a signal that comes just after would otherwise end this process only.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);

const child = spawn(bun, process.argv.slice(2), { stdio: "inherit" });

// npm passes a stop signal to its shell only. A shell between npm and this process then ends without passing the signal on.
const parent = process.ppid;
if (process.env.npm_lifecycle_event) {
  const check = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(check);
    if (!isStopping) stop("SIGTERM");
  }, PARENT_CHECK);
  check.unref();
}

child.on("error", (error) => {
  console.error(`Bun cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (status, signal) => {
  // As in a shell: the status of a process that a signal has ended is 128 plus the signal's number.
  process.exit(status ?? 128 + constants.signals[signal]);
});
