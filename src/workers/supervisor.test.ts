import { expect, spyOn, test } from "bun:test";
import type { Log } from "../telemetry/log.ts";
import { LineOutput } from "./line-output.ts";
import { Supervisor, WorkersFailed } from "./supervisor.ts";

const serves = `process.send({ kind: "ready", at: { address: "", docs: "" } }); setInterval(() => {}, 1000);`;

test("the end of a worker that has run for long is not among the five early ones before the service stops", async () => {
  /** The process ids of workers that have served. */
  const workers: number[] = [];
  const supervisor = new Supervisor({
    workers: 1,
    command: () => [process.execPath, "-e", workers.length === 0 ? serves : "process.exit(1)"],
    environment: process.env,
    output: new LineOutput(async () => {}),
    log: {
      info: (event: string, { pid }: { pid: number }) => event === "worker_ready" && workers.push(pid),
      warn: () => {},
      error: () => {},
    } as unknown as Log,
    stop: new AbortController().signal,
    silence: { starting: 600_000, serving: 600_000 },
  });
  const now = spyOn(performance, "now").mockReturnValue(0);
  try {
    await supervisor.start();
    now.mockReturnValue(30_000);
    process.kill(workers[0] as number);
    expect(await supervisor.ended().catch((error: unknown) => error)).toBeInstanceOf(WorkersFailed);
    expect(await supervisor.metrics()).toContain("petstore_workers_replaced_total 6\n");
  } finally {
    now.mockRestore();
  }
});
