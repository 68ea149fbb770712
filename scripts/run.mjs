// Runs Bun with the words that follow: `node scripts/run.mjs src/main.ts serve`. The scripts of package.json start Bun
// with it, so that they work with any shell, and on Windows.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants, devNull } from "node:os";
import { bun, ensureBun } from "./ensure-bun.mjs";

/** How often it checks whether its parent still runs, in milliseconds. */
const PARENT_CHECK = 500;
/** The current folder may be that of another program: Bun reads none of the files there that it would look for. */
const isolation = ["--no-env-file", `--config=${devNull}`, `--tsconfig-override=${devNull}`];

const parent = process.ppid; // before anything that takes time
const isRunByNpm = process.env.npm_lifecycle_event !== undefined;
if (isRunByNpm && isAdopted()) {
  console.error("npm has ended, so nothing is started.");
  process.exit(1);
}
if (import.meta.filename.includes("?")) {
  console.error(`Bun finds no files in a folder with a question mark in its name: ${import.meta.dirname}`);
  process.exit(1);
}
ensureBun();

// Ctrl-C reaches Bun directly as well. The service treats signals that arrive together as one.
let isStopping = false;
function stop(signal) {
  isStopping = true;
  child.kill(signal);
}
// Before Bun starts: a signal that comes just after would otherwise end this process only.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);

const child = spawn(bun, [...isolation, ...process.argv.slice(2)], {
  stdio: "inherit",
  // Bun's allocator, mimalloc, keeps unused memory. After each garbage collection, it would otherwise return memory that
  // the next requests of the service need.
  env: { MIMALLOC_PURGE_HOLES: "0", ...process.env },
});

// npm passes a stop signal to its shell only. A shell between npm and this process then ends without passing the signal on.
if (isRunByNpm) {
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

/** Whether npm has ended already, so that a process that does not run under npm has adopted this one. */
function isAdopted() {
  try {
    const [command, environment] = ["cmdline", "environ"].map((name) =>
      readFileSync(`/proc/${parent}/${name}`, "latin1"),
    );
    return !command.startsWith("npm") && !environment.includes("npm_lifecycle_event=");
  } catch {
    return parent === 1; // no /proc, or that of another user
  }
}
