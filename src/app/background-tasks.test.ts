import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import type { BackgroundTask } from "../domains/domain.ts";
import { Log } from "../telemetry/log.ts";
import { BackgroundTasks } from "./background-tasks.ts";

let lines: string;
let log: Log;
let done: string[];

beforeEach(() => {
  jest.useFakeTimers();
  lines = "";
  log = new Log("info", async (text) => void (lines += text));
  done = [];
});
afterEach(() => jest.useRealTimers());

const note = (name: string): BackgroundTask => ({ name, by: "each", run: async () => void done.push(name) });
const fail = (name: string): BackgroundTask => ({ name, by: "each", run: () => Promise.reject(new Error("away")) });
const leads = () => true;
function start(tasks: readonly BackgroundTask[], lead: () => boolean): BackgroundTasks {
  const work = new BackgroundTasks(log, lead);
  for (const task of tasks) work.add(task);
  work.start();
  return work;
}
/** Lets all ready callbacks run. */
const settle = () => Promise.resolve().then(() => new Promise<void>((resolve) => process.nextTick(resolve)));

test("runs its tasks in order, one round every half second", async () => {
  const work = start([note("first"), note("second")], leads);
  jest.advanceTimersByTime(499);
  await settle();
  expect(done).toEqual([]);
  for (let round = 1; round <= 3; round++) {
    jest.advanceTimersByTime(round === 1 ? 1 : 500);
    await settle();
    expect(done).toEqual(Array.from({ length: round }, () => ["first", "second"]).flat());
  }
  await work.stop();
});

test("takes no two tasks with one name, which the log could not tell apart", () => {
  const work = new BackgroundTasks(log, leads);
  work.add(note("save"));
  expect(() => work.add(note("save"))).toThrow("Two background tasks are named save.");
});

test("runs one more round when it is stopped, and no other", async () => {
  const work = start([note("task")], leads);
  await work.stop();
  expect(done).toEqual(["task"]);
  jest.advanceTimersByTime(10_000);
  await settle();
  expect(done).toEqual(["task"]);
});

test("finishes each task once, after its last run, even if another one fails", async () => {
  const broken = { ...note("broken"), finish: () => Promise.reject(new Error("away")) };
  const kept = { ...note("kept"), finish: async () => void done.push("finished") };
  const work = start([broken, kept, note("other")], leads);
  await work.stop();
  expect(done).toEqual(["broken", "kept", "other", "finished"]);
});

test("does not start a round during another", async () => {
  const slow = Promise.withResolvers<void>();
  let started = 0;
  const work = start([{ name: "wait", by: "each", run: () => (started++, slow.promise) }], leads);
  jest.advanceTimersByTime(5_000);
  await settle();
  const stopped = work.stop();
  await settle();
  expect(started).toBe(1);
  slow.resolve();
  await stopped;
  expect(started).toBe(2);
});

test("continues without a task that takes long, also while it stops, and runs it again when it has ended", async () => {
  let slow = Promise.withResolvers<void>();
  const waiting: BackgroundTask = { name: "wait", by: "each", run: async () => (done.push("began"), slow.promise) };
  const saving = { ...note("save"), finish: async () => void done.push("saved") };
  const work = start([waiting, saving], leads);
  for (let quarter = 0; quarter < 8; quarter++) {
    jest.advanceTimersByTime(250);
    await settle();
  }
  expect(done).toEqual(["began", "save", "save", "save", "save"]);
  work.runSoon();
  await settle();
  expect(done.splice(5)).toEqual(["save"]);
  slow.resolve();
  slow = Promise.withResolvers();
  for (let turn = 0; turn < 10; turn++) await settle();
  expect(done.slice(5)).toEqual(["began"]);
  jest.advanceTimersByTime(100);
  for (let turn = 0; turn < 10; turn++) await settle();
  const stopped = work.stop();
  for (let turn = 0; turn < 10; turn++) await settle();
  expect(done.slice(6)).toEqual(["save", "save", "saved"]);
  slow.resolve();
  await stopped;
  expect(done.slice(9)).toEqual(["began"]);
});

test("waits while three tasks take long, and then asks again whether it leads", async () => {
  const slow = Promise.withResolvers<void>();
  const waiting = (name: string): BackgroundTask => ({ name, by: "each", run: () => slow.promise });
  const tasks = [waiting("first"), waiting("second"), waiting("third"), { ...note("for all"), by: "leader" as const }];
  let isLeading = true;
  const work = start([...tasks, note("for itself")], () => isLeading);
  for (let step = 0; step < 8; step++) {
    jest.advanceTimersByTime(100);
    await settle();
  }
  isLeading = false;
  expect(done).toEqual([]);
  slow.resolve();
  for (let turn = 0; turn < 10; turn++) await settle();
  expect(done).toEqual(["for itself"]);
  await work.stop();
});

test("logs failures, continues with the next task, and tries again", async () => {
  const work = start([fail("save"), note("task")], leads);
  jest.advanceTimersByTime(500);
  await settle();
  await work.stop();
  expect(done).toEqual(["task", "task"]);
  jest.useRealTimers();
  await log.close();
  expect(lines.match(/"event":"task_failed","task":"save",[^\n]*"error":"away"/g)).toHaveLength(2);
});

test("runs the leader's tasks only while it leads, and checks this in each round", async () => {
  const answers = [true, new Error("away"), false, true];
  const lead = () => {
    const answer = answers.shift() ?? false;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const work = start([{ ...note("for all"), by: "leader" }, note("for itself")], lead);
  for (let round = 1; round <= 3; round++) {
    jest.advanceTimersByTime(500);
    await settle();
  }
  await work.stop();
  expect(done).toEqual(["for all", "for itself", "for itself", "for itself", "for all", "for itself"]);
  jest.useRealTimers();
  await log.close();
  expect(lines).toContain('"event":"task_failed","task":"find_leader"');
});

test("runs a round at once on request, after the one in progress", async () => {
  const slow = Promise.withResolvers<void>();
  const waiting: BackgroundTask = { name: "wait", by: "each", run: async () => (done.push("began"), slow.promise) };
  const work = start([waiting], leads);
  work.runSoon();
  await settle();
  expect(done).toEqual(["began"]);
  for (let count = 0; count < 3; count++) work.runSoon();
  await settle();
  expect(done).toEqual(["began"]);
  slow.resolve();
  for (let turn = 0; turn < 10; turn++) await settle();
  expect(done).toEqual(["began", "began"]); // one round for all requests
  await work.stop();
  work.runSoon();
  await settle();
  expect(done).toHaveLength(3); // stopping runs the last one
});
