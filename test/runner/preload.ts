// Loaded before the test files of a process, by `bun test` itself too: see bunfig.toml.
import { afterAll, setDefaultTimeout } from "bun:test";
import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { configureGlobal } from "fast-check";
import { evidence } from "../harness/evidence.ts";
import { isLongRun, testTimeout } from "../harness/test-length.ts";
import { ownCpuTime } from "./cpu-time.ts";

setDefaultTimeout(testTimeout);
// In a short run each property meets the same cases in every run, so that a failure points to the change that is tested.
if (!isLongRun) configureGlobal({ seed: 20_261_121 });
if (evidence) await import("../leaks/record.ts");

/** Where the runner reads how long each file took. */
const { TEST_TIMES: times, TEST_ENGINE: engine } = process.env;
if (times !== undefined) {
  const cpuTime = ownCpuTime();
  let before = { cpu: cpuTime.seconds(), wall: performance.now() };
  afterAll(() => {
    const now = { cpu: cpuTime.seconds(), wall: performance.now() };
    const file = relative(process.cwd(), Bun.main) + (engine ? ` (${engine})` : "");
    const [cpu, wall] = [now.cpu - before.cpu, (now.wall - before.wall) / 1000];
    appendFileSync(times, `${JSON.stringify({ file, cpu, wall })}\n`);
    before = now;
  });
}
