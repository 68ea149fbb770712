// `serve --workers`: one supervising process, and workers that share its port.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client } from "../harness/client.ts";
import { environment } from "../harness/keys.ts";
import { Load } from "../harness/load.ts";
import { metric, metricsText } from "../harness/metrics.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { eventually, newDataDir, npmStart, Program, runCommand } from "../harness/program.ts";
import { LATER_SIGNAL, loadUntilStopped, unfinishedRequest } from "../harness/stopping.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";
import { askEach, newAccount, startWorkers, workerPids } from "../harness/workers.ts";

const WORKERS = 3;
/** npm and its launcher pass a signal on within this time, in milliseconds; the service still takes it for the same. */
const SIGNALS_ARE_PASSED_ON = 500;

const isFree = async (port: number) => {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, exclusive: true, socket: { data: () => {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
};
const portIsFree = ({ port }: Program) => eventually(() => isFree(port));
const readiness = ({ port }: Program) => fetch(`http://127.0.0.1:${port}/readyz`);

test("the embedded store requires one process, and the error says why", async () => {
  const { status, stdout, stderr } = await runCommand(newDataDir(), ["serve", "--workers", "2"]);
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("Only one process can serve the embedded store");
  expect(stderr).toContain("PETSTORE_DATABASE_URL");
});

test.each(["0", "-1", "1.5", "two", "257"])("%s workers are refused", async (count) => {
  const { status, stderr } = await runCommand(newDataDir(), ["serve", `--workers=${count}`]);
  expect([status, stderr]).toEqual([2, expect.stringContaining("--workers must be a whole number from 1 to 256.")]);
});

test("a worker without a supervisor is refused, and is not in the overview", async () => {
  const { status, stderr } = await runCommand(newDataDir(), ["worker", "1"]);
  expect([status, stderr]).toEqual([2, expect.stringContaining("worker is started by serve --workers.")]);
  expect((await runCommand(newDataDir(), ["--help"])).stdout).not.toContain("  worker");
});

describe.skipIf(postgresMissing !== undefined)("workers that share a port", () => {
  let server: PostgresServer;
  let settings: Record<string, string>;
  let key: string;
  beforeAll(async () => {
    server = await PostgresServer.start();
    settings = { ...environment, PETSTORE_DATABASE_URL: server.url(await server.newDatabase()) };
    const account = await newAccount(settings, unlimitedQuota);
    ({ key } = account);
    await account.storage.close();
  });
  afterAll(() => server.remove());

  test("all serve when the service says that it listens; log and metrics distinguish them", async () => {
    const program = await startWorkers(WORKERS, settings);
    expect(workerPids(program).size).toBe(WORKERS);
    await askEach(program, key, WORKERS);
    expect((await readiness(program)).status).toBe(200);
    const metrics = await metricsText(program.base);
    for (const number of [1, 2, 3]) {
      expect(metrics).toMatch(
        new RegExp(`^petstore_requests_total\\{worker="${number}",operation="listPets",status="200"\\} \\d+$`, "m"),
      );
      expect(metrics).toMatch(new RegExp(`^process_resident_memory_bytes\\{worker="${number}"\\} \\d+$`, "m"));
    }
    expect(metrics).toContain(`petstore_workers ${WORKERS}\n`);
    expect(metrics.match(/^# TYPE petstore_requests_total /gm)).toHaveLength(1);
    expect(await program.end()).toBe(0);
    const lines = program.output
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const served = lines.filter(({ event }) => event === "request").map(({ worker }) => worker);
    expect(new Set(served)).toEqual(new Set([1, 2, 3]));
    const alone = lines.filter(({ event }) => event === "limits_not_shared");
    expect(new Set(alone.map(({ worker }) => worker))).toEqual(new Set([1, 2, 3]));
  });

  test("the port is in use for every other service, with and without workers", async () => {
    const program = await startWorkers(2, settings);
    for (const words of [["serve"], ["serve", "--workers", "2"]]) {
      const other = await runCommand(newDataDir(), words, { ...settings, PETSTORE_PORT: String(program.port) });
      expect([other.status, other.stderr]).toEqual([
        1,
        expect.stringContaining(`Port ${program.port} on 127.0.0.1 is`),
      ]);
    }
    expect(await program.end()).toBe(0);
    await portIsFree(program);
  });

  test("a first worker that cannot start ends the service, and is reported once", async () => {
    const away = { ...settings, PETSTORE_DATABASE_URL: server.url("missing") };
    const { status, stderr } = await runCommand(newDataDir(), ["serve", "--workers", "3"], away);
    expect(status).toBe(1);
    expect(stderr.match(/cannot be opened/g)).toHaveLength(1);
    expect(stderr).toContain("The first worker ended before it could serve, with status 1.");
  });

  test("a worker that is killed is replaced, unless it keeps dying", async () => {
    const program = await startWorkers(2, settings);
    for (let kills = 1; kills <= 5; kills++) {
      const pid = workerPids(program).get(2) as number;
      process.kill(pid, "SIGKILL");
      await program.until(() => workerPids(program).get(2) !== pid || program.child.exitCode !== null);
      expect(program.child.exitCode !== null).toBe(kills === 5);
    }
    expect(program.child.exitCode).toBe(1);
    expect(program.output.match(/"event":"worker_ended","worker":2,"pid":\d+,"how":"by SIGKILL"/g)).toHaveLength(5);
    expect(program.errors).toContain("Worker 2 ended 5 times in a row");
    await portIsFree(program);
  });

  test("a later signal ends all at once", async () => {
    const program = await startWorkers(2, settings);
    const unfinished = await unfinishedRequest(program, key);
    program.child.kill("SIGTERM");
    await program.until(() => program.output.includes('"event":"stopping"'));
    await Bun.sleep(LATER_SIGNAL);
    expect(await program.end()).toBe(143);
    await portIsFree(program);
    unfinished.end();
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s to the process group of `npm start`, workers too, is one request to stop: every request gets its response",
    async (signal) => {
      const program = await Program.start(newDataDir(), settings, [...npmStart, "--", "--workers", "3"]);
      const requests = await Promise.all(Array.from({ length: 16 }, () => unfinishedRequest(program, key)));
      await askEach(program, key, 3); // all have got what was sent before
      process.kill(-program.child.pid, signal);
      const areStopping = () => program.output.split('"event":"stopping"').length > 3;
      await program.until(() => areStopping() || program.child.exitCode !== null);
      await Bun.sleep(SIGNALS_ARE_PASSED_ON);
      const responses = await Promise.all(requests.map(({ finish }) => finish()));
      expect(responses.filter((response) => !response.startsWith("HTTP/1.1 201 "))).toEqual([]);
      expect([await program.child.exited, program.errors]).toEqual([0, ""]);
      expect(program.output).not.toContain('"event":"worker_ended"');
      await portIsFree(program);
    },
  );

  test("SIGTERM to the process group under load from 16 clients ends all in step, and breaks no request", async () => {
    const program = await Program.start(newDataDir(), settings, [...npmStart, "--", "--workers", "3"]);
    const client = new Client(program.base, key);
    const { broken } = await loadUntilStopped(client, () => process.kill(-program.child.pid, "SIGTERM"), 16);
    expect([broken, await program.child.exited, program.errors]).toEqual([[], 0, ""]);
  });

  test("when the supervisor is killed, its workers end too", async () => {
    const program = await startWorkers(2, settings);
    await program.end("SIGKILL");
    await portIsFree(program);
  });

  test("SIGHUP replaces all under load from 16 clients, without a request that fails", async () => {
    const program = await startWorkers(WORKERS, settings);
    const before = workerPids(program);
    const client = new Client(program.base, key);
    const wrong: unknown[] = [];
    const acknowledged: string[] = [];
    let count = 0;
    const load = new Load(16, async () => {
      const name = `Rolling ${++count}`;
      const isCreate = count % 2 === 0;
      try {
        const { status, text } = await (isCreate
          ? client.call("POST", "/pets", JSON.stringify({ name, categoryId: 1 }))
          : client.call("GET", "/pets?limit=3"));
        if (status !== (isCreate ? 201 : 200) || text === undefined) wrong.push({ status, text });
        else if (isCreate) acknowledged.push(name);
      } catch (error) {
        wrong.push(error);
      }
    });
    for (let round = 1; round <= 2; round++) {
      program.child.kill("SIGHUP");
      await program.until(() => program.output.split('"event":"restart_finished"').length > round);
    }
    await load.end();
    expect(wrong).toEqual([]);
    const after = workerPids(program);
    for (const [number, pid] of before) expect(after.get(number)).not.toBe(pid);
    const found = await server.run<{ name: string }>(
      "SELECT name FROM pets WHERE name LIKE 'Rolling%'",
      new URL(settings["PETSTORE_DATABASE_URL"] as string).pathname.slice(1),
    );
    expect(found.map(({ name }) => name).toSorted()).toEqual(acknowledged.toSorted());
    expect(await program.end()).toBe(0);
    for (const line of program.output.trimEnd().split("\n")) expect(JSON.parse(line)).toBeObject();
  });

  test("a restart whose new worker cannot start keeps the old ones", async () => {
    const own = { ...settings, PETSTORE_DATABASE_URL: server.url(await server.newDatabase()) };
    const database = new URL(own.PETSTORE_DATABASE_URL).pathname.slice(1);
    const program = await startWorkers(2, own);
    const before = workerPids(program);
    await server.run("INSERT INTO petstore_steps (step, digest) VALUES (1000, 'of a later step')", database);
    program.child.kill("SIGHUP");
    await program.until(() => program.output.includes('"event":"restart_failed"'));
    expect(workerPids(program)).toEqual(before);
    expect(await metric(program.base, "petstore_workers_answering")).toBe(2);
    expect(await metric(program.base, "petstore_workers_replaced_total")).toBe(0);
    expect((await readiness(program)).status).toBe(200);
    expect(await program.end()).toBe(0);
  });
});
