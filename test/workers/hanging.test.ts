// A worker that runs but does not respond: its event loop is blocked, or the process is paused.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Log } from "../../src/telemetry/log.ts";
import { LineOutput } from "../../src/workers/line-output.ts";
import { reservePort, type SharedPort } from "../../src/workers/shared-port.ts";
import { Supervisor } from "../../src/workers/supervisor.ts";
import { stopwatch } from "../harness/cpu-time.ts";
import { environment } from "../harness/keys.ts";
import { metric } from "../harness/metrics.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { eventually, serveSource } from "../harness/program.ts";
import { startWorkers, workerPids } from "../harness/workers.ts";

/** The limits of the service, except that it lets a start take 60 s. In milliseconds. */
const SILENCE = { starting: 25_000, serving: 2_500 };
/** When clients of a worker that hangs are served again, in milliseconds: 3 s on a machine with nothing else to do. */
const SERVED_AGAIN = 10_000;

const slowTurns = join(import.meta.dir, "controls/slow-turns.ts");

const [bun, main] = serveSource as [string, string];

describe.skipIf(postgresMissing !== undefined)("a supervisor", () => {
  let server: PostgresServer;
  let port: SharedPort;
  let supervisor: Supervisor;
  const program = { output: "" };
  const stop = new AbortController();
  /** Whether the program of a new worker sends its first heartbeat. */
  let loads = true;
  const pids = () => workerPids(program);

  beforeAll(async () => {
    server = await PostgresServer.start();
    port = reservePort("127.0.0.1", 0);
    const output = new LineOutput(async (text) => void (program.output += text));
    supervisor = new Supervisor({
      workers: 2,
      command: (number) => (loads ? [bun, "--preload", slowTurns, main, "worker", String(number)] : ["sleep", "600"]),
      environment: {
        ...process.env,
        ...environment,
        PETSTORE_DATABASE_URL: server.url(),
        PETSTORE_PORT: String(port.port),
      },
      output,
      log: new Log("info", (text) => output.write(text)),
      stop: stop.signal,
      silence: SILENCE,
    });
    await supervisor.start();
    await eventually(() => pids().size === 2);
  });
  afterAll(async () => {
    stop.abort();
    await supervisor.ended();
    port.release();
    await server.remove();
  });

  test("does not treat its workers as hanging after all of them slept, as on a suspended machine", async () => {
    const before = pids();
    for (const pid of before.values()) process.kill(pid, "SIGSTOP");
    Bun.sleepSync(2 * SILENCE.serving);
    await new Promise((resolve) => setTimeout(resolve, 1)); // timers that became due during the sleep run first
    for (const pid of before.values()) process.kill(pid, "SIGCONT");
    expect(await supervisor.metrics()).toContain("petstore_workers_answering 2\n");
    expect(pids()).toEqual(before);
    expect(program.output).not.toContain("worker_hung");
  });

  test("keeps a worker whose event loop takes a second for each turn", async () => {
    const before = pids();
    process.kill(before.get(2) as number, "SIGUSR2");
    await eventually(() => program.output.split("slow turn").length > 10);
    expect(pids()).toEqual(before);
    expect(program.output).not.toContain("worker_hung");
    supervisor.restart();
    await eventually(() => program.output.includes("restart_finished"));
    program.output = program.output.replaceAll("restart_finished", "");
  });

  test("kills and replaces a stopped worker, and logs why; its clients are served again", async () => {
    const [one, two] = [pids().get(1), pids().get(2) as number];
    const ask = (): Promise<Response> => fetch(`http://127.0.0.1:${port.port}/readyz`, { keepalive: false }).catch(ask);
    process.kill(two, "SIGSTOP");
    const elapsed = stopwatch();
    const responses = await Promise.all(Array.from({ length: 32 }, ask));
    expect(elapsed()).toBeLessThan(SERVED_AGAIN);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    await eventually(() => pids().get(2) !== two);
    expect(program.output).toContain(`"event":"worker_hung","worker":2,"pid":${two},"seconds":2.5,`);
    expect(program.output).toContain(`"event":"worker_ended","worker":2,"pid":${two},"how":"by SIGKILL"`);
    expect(pids().get(1)).toBe(one);
    const metrics = await supervisor.metrics();
    expect(metrics).toContain("petstore_workers_answering 2\n");
    expect(metrics).toContain("petstore_workers_replaced_total 1\n");
  });

  test("does not wait for a worker that hangs during its start, and replaces all at the next request to restart", async () => {
    const before = pids();
    loads = false;
    supervisor.restart();
    await eventually(() => program.output.includes("restart_failed"));
    expect(program.output).toMatch(/"event":"worker_hung","worker":1,"pid":[0-9]+,"seconds":25,/);
    expect(pids()).toEqual(before);
    loads = true;
    supervisor.restart();
    await eventually(() => program.output.includes("restart_finished"));
    for (const [worker, pid] of before) expect(pids().get(worker)).not.toBe(pid);
    expect(await supervisor.metrics()).toContain("petstore_workers_answering 2\n");
  });

  test("kills none of its workers after it was stopped and continued", async () => {
    const settings = { ...environment, PETSTORE_DATABASE_URL: server.url(await server.newDatabase()) };
    const service = await startWorkers(2, settings);
    const before = workerPids(service);
    service.child.kill("SIGSTOP");
    await Bun.sleep(2 * SILENCE.serving);
    service.child.kill("SIGCONT");
    await Bun.sleep(2 * SILENCE.serving); // until it would have killed them
    expect(await metric(service.base, "petstore_workers_answering")).toBe(2);
    expect(workerPids(service)).toEqual(before);
    expect(await service.end()).toBe(0);
    expect(service.output).not.toMatch(/worker_hung|worker_ended/);
  });
});
