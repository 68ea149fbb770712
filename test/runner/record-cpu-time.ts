// Loaded before each test file. At the end of the file it appends the CPU time that its process and its ended children
// have used so far. The runner takes the difference between two files of a process.
import { afterAll } from "bun:test";
import { appendFileSync, readFileSync } from "node:fs";
import { relative } from "node:path";

/** Fields of /proc/PID/stat with the CPU time of ended child processes, in ticks, of which a second has 100 on Linux. */
const [CHILDREN_USER, CHILDREN_SYSTEM] = [15, 16];
const TICKS_A_SECOND = 100;

const file = process.env["TEST_CPU_TIMES"];
if (file !== undefined) {
  afterAll(() => {
    const name = relative(process.cwd(), Bun.main);
    appendFileSync(
      file,
      `${JSON.stringify({ pid: process.pid, file: name, seconds: ownSeconds() + childSeconds() })}\n`,
    );
  });
}

function ownSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

/** 0 where the system does not report it. */
function childSeconds(): number {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").split(" ");
    return (Number(fields[CHILDREN_USER]) + Number(fields[CHILDREN_SYSTEM])) / TICKS_A_SECOND;
  } catch {
    return 0;
  }
}
