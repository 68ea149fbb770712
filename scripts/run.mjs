// Runs Bun with the words that follow: `node scripts/run.mjs src/main.ts serve`. The scripts of package.json start Bun
// with it, so that they need nothing of the shell, and work with any shell and on Windows.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { bun, ensureBun } from "./ensure-bun.mjs";

/** How often it looks whether its parent is still there, in milliseconds. */
const PARENT_CHECK = 500;

ensureBun();
const child = spawn(bun, process.argv.slice(2), { stdio: "inherit" });

// Ctrl-C reaches Bun directly as well. The service takes signals that come close together for one.
let isTold = false;
function tell(signal) {
  isTold = true;
  child.kill(signal);
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, tell);

// npm passes a stop signal to its shell only. A shell that stays between npm and this process dies of it, and tells nobody.
const parent = process.ppid;
if (process.env.npm_lifecycle_event) {
  const check = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(check);
    if (!isTold) tell("SIGTERM");
  }, PARENT_CHECK);
  check.unref();
}

child.on("error", (error) => {
  console.error(`Bun cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (status, signal) => {
  // As a shell says it: a process that a signal has ended has 128 and the signal's number as its status.
  process.exit(status ?? 128 + constants.signals[signal]);
});
