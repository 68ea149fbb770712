// A worker that is there and does nothing: its event loop is blocked, or it is stopped.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Log } from "../../src/telemetry/log.ts";
import { LineOutput } from "../../src/workers/line-output.ts";
import { BEAT } from "../../src/workers/messages.ts";
import { reservePort, type SharedPort } from "../../src/workers/shared-port.ts";
import { Supervisor } from "../../src/workers/supervisor.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { eventually, serveCommand } from "../harness/program.ts";
import { workerPids } from "../harness/workers.ts";
import { environment } from "../torture/keys.ts";

/** Fewer than the service has, so that the tests do not take so long. */
const LONGEST_SILENCE = { atFirst: 25, later: 5 };

const until = (isMet: () => boolean) => eventually(async () => isMet(), Boolean);

describe.skipIf(postgresMissing !== undefined)("a supervisor", () => {
  let server: PostgresServer;
  let port: SharedPort;
  let supervisor: Supervisor;
  const program = { output: "" };
  const stop = new AbortController();
  /** Whether the program of a worker that is started comes to its first word. */
  let loads = true;
  const pids = () => workerPids(program);

  beforeAll(async () => {
    server = await PostgresServer.start();
    port = reservePort("127.0.0.1", 0);
    const output = new LineOutput(async (text) => void (program.output += text));
    supervisor = new Supervisor({
      workers: 2,
      command: (number) => (loads ? [...serveCommand.slice(0, 2), "worker", String(number)] : ["sleep", "600"]),
      environment: {
        ...process.env,
        ...environment,
        PETSTORE_DATABASE_URL: server.url(),
        PETSTORE_PORT: String(port.port),
      },
      output,
      log: new Log("info", (text) => output.write(text)),
      stop: stop.signal,
      longestSilence: LONGEST_SILENCE,
    });
    await supervisor.start();
    await until(() => pids().size === 2);
  });
  afterAll(async () => {
    stop.abort();
    await supervisor.ended();
    port.release();
    await server.remove();
  });

  test("that slept with its workers, as on a machine that was asleep, does not take them for hanging", async () => {
    const before = pids();
    for (const pid of before.values()) process.kill(pid, "SIGSTOP");
    Bun.sleepSync((LONGEST_SILENCE.later + 2) * BEAT);
    await new Promise((resolve) => setTimeout(resolve, 1)); // what was due meanwhile is done before
    for (const pid of before.values()) process.kill(pid, "SIGCONT");
    expect(await supervisor.metrics()).toContain("petstore_workers_answering 2\n");
    expect(pids()).toEqual(before);
    expect(program.output).not.toContain("worker_hung");
  });

  test("kills and replaces a worker that is stopped, and says why", async () => {
    const [one, two] = [pids().get(1), pids().get(2) as number];
    process.kill(two, "SIGSTOP");
    await until(() => pids().get(2) !== two);
    expect(program.output).toContain(`"event":"worker_hung","worker":2,"pid":${two},"seconds":5,`);
    expect(program.output).toContain(`"event":"worker_ended","worker":2,"pid":${two},"how":"by SIGKILL"`);
    expect(pids().get(1)).toBe(one);
    const metrics = await supervisor.metrics();
    expect(metrics).toContain("petstore_workers_answering 2\n");
    expect(metrics).toContain("petstore_workers_replaced_total 1\n");
  });

  test("waits for no worker that hangs before its first word, and replaces all when it is told to once more", async () => {
    const before = pids();
    loads = false;
    supervisor.restart();
    await until(() => program.output.includes("restart_failed"));
    expect(program.output).toMatch(/"event":"worker_hung","worker":1,"pid":[0-9]+,"seconds":25,/);
    expect(pids()).toEqual(before);
    loads = true;
    supervisor.restart();
    await until(() => program.output.includes("restart_finished"));
    for (const [worker, pid] of before) expect(pids().get(worker)).not.toBe(pid);
    expect(await supervisor.metrics()).toContain("petstore_workers_answering 2\n");
  });
});
