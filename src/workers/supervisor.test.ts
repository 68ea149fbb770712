import { expect, spyOn, test } from "bun:test";
import { failureOf } from "../../test/harness/failure-of.ts";
import type { Log } from "../telemetry/log.ts";
import { LineOutput } from "./line-output.ts";
import { Supervisor, type SupervisorOptions, WorkersFailed } from "./supervisor.ts";

/** A worker that serves until it is asked to stop. */
const serves = `process.on("message", () => process.exit()); process.send({ kind: "ready", at: { address: "", docs: "" } });`;

/** A supervisor of one worker that serves, and what its log says. */
function supervise(options: Partial<SupervisorOptions> = {}) {
  const stop = new AbortController();
  let worker = 0;
  const events: string[] = [];
  let expected = { event: "", resolve: () => {} };
  const note = (event: string, { pid = 0 } = {}) => {
    events.push(event);
    if (event === "worker_ready") worker = pid;
    if (event === expected.event || event === "worker_given_up") expected.resolve();
  };
  const supervisor = new Supervisor({
    workers: 1,
    command: () => [process.execPath, "-e", serves],
    environment: process.env,
    output: new LineOutput(async () => {}),
    log: { info: note, warn: note, error: note } as unknown as Log,
    stop: stop.signal,
    silence: { starting: 600_000, serving: 600_000 },
    ...options,
  });
  return {
    supervisor,
    stop,
    /** What the log says, without details. */
    events,
    /** Kills the worker that has become ready last. */
    kill: () => void process.kill(worker),
    /** Resolves when the event is logged after `act`, or the supervisor has given up. */
    until: async (event: string, act: () => void) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      expected = { event, resolve };
      act();
      await promise;
    },
  };
}

test("the end of a new worker after a restart does not count together with those before", async () => {
  const { supervisor, stop, kill, until } = supervise();
  await supervisor.start();
  for (let ends = 1; ends <= 4; ends++) await until("worker_ready", kill);
  await until("restart_finished", () => supervisor.restart());
  await until("worker_ready", kill);
  stop.abort();
  await supervisor.ended(); // rejects if the workers failed
});

test("while the program is missing, a restart leaves the old worker, and its replacement is tried again", async () => {
  let isMissing = false;
  const { supervisor, stop, kill, until } = supervise({
    command: () => (isMissing ? ["/missing"] : [process.execPath, "-e", serves]),
  });
  await supervisor.start();
  isMissing = true;
  await until("restart_failed", () => supervisor.restart());
  await until("worker_ended", kill); // throws if the old one has ended
  await until("worker_ready", () => (isMissing = false));
  stop.abort();
  await supervisor.ended();
});

test("while a worker cannot be started and another one serves, the service continues and tries again", async () => {
  const pauses: number[] = [];
  const sleep = spyOn(Bun, "sleep").mockImplementation(async (pause) => void pauses.push(pause as number));
  let failures = 0;
  const { supervisor, stop, kill, until } = supervise({
    workers: 2,
    command: () => (failures-- > 0 ? ["/missing"] : [process.execPath, "-e", serves]),
  });
  try {
    await supervisor.start();
    failures = 10;
    pauses.length = 0;
    await until("worker_ready", kill);
    expect(pauses).toEqual(Array(10).fill(1_000));
    stop.abort();
    await supervisor.ended(); // rejects if the workers failed
  } finally {
    sleep.mockRestore();
  }
});

test("a log that nobody reads does not stop a replacement or the end", async () => {
  const { supervisor, stop, kill, until } = supervise({
    command: () => [process.execPath, "-e", `console.log("a line"); ${serves}`],
    output: new LineOutput(() => new Promise(() => {})),
  });
  await supervisor.start();
  await until("worker_ready", kill);
  stop.abort();
  await supervisor.ended();
});

test("a stop reaches the first worker while it starts", async () => {
  const { supervisor, stop } = supervise({
    command: () => [process.execPath, "-e", `process.on("message", () => process.exit());`],
  });
  const started = supervisor.start();
  stop.abort();
  expect(await started).toBeUndefined();
  await supervisor.ended();
});

test("a restart that is requested during the start begins when all workers serve", async () => {
  const { supervisor, stop, events, until } = supervise({ workers: 2 });
  const started = supervisor.start();
  await until("restart_finished", () => supervisor.restart());
  await started;
  const ready = ["worker_ready", "worker_ready"];
  expect(events).toEqual([...ready, "restart_started", ...ready, "restart_finished"]);
  stop.abort();
  await supervisor.ended();
});

test("a worker of release 1.0.0 and a later supervisor understand each other", async () => {
  const worker = `
    process.on("message", (message) => {
      const { kind, question } = message;
      console.log(JSON.stringify(message));
      if (kind === "expose metrics") process.send({ kind: "own metrics", question, text: "" });
      if (kind === "expose metrics" && question === 0) process.send({ kind: "wants metrics", question: 7 });
      if (kind === "stop") process.send({ kind: "reached", question: 8, stage: "holding" });
      if (kind === "go on") process.exit();
    });
    process.send({ kind: "ready", at: { address: "", docs: "" } });`;
  let received = "";
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  const output = new LineOutput(async (lines) => {
    received += lines;
    if (received.includes("metrics of all")) resolve();
  });
  const { supervisor, stop } = supervise({ command: () => [process.execPath, "-e", worker], output });
  await supervisor.start();
  expect(await supervisor.metrics()).toContain("petstore_workers_answering 1\n");
  await answered;
  stop.abort();
  await supervisor.ended();
  const messages = received
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(messages).toMatchObject([
    { kind: "expose metrics", question: 0 },
    { kind: "expose metrics", question: 1 },
    { kind: "metrics of all", question: 7, text: expect.stringContaining("petstore_workers_answering 1\n") },
    { kind: "stop" },
    { kind: "go on", question: 8 },
  ]);
});

test("the end of a worker that has run for long is not among the five early ones before the service stops", async () => {
  let isFirst = true;
  const { supervisor, kill } = supervise({
    command: () => [process.execPath, "-e", isFirst ? serves : "process.exit(1)"],
  });
  const now = spyOn(performance, "now").mockReturnValue(0);
  try {
    await supervisor.start();
    isFirst = false;
    now.mockReturnValue(30_000);
    kill();
    expect(await failureOf(supervisor.ended())).toBeInstanceOf(WorkersFailed);
    expect(await supervisor.metrics()).toContain("petstore_workers_replaced_total 6\n");
  } finally {
    now.mockRestore();
  }
});
