import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { ALL_CORES, LOAD_CORE } from "./machine.ts";
import { cpuTime, type Processes } from "./processes.ts";

const SCRIPT = join(import.meta.dir, "requests.lua");

/** One request as wrk sends it. */
export interface Request {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
  /** Headers beyond those that all requests have. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One round of load on one server. */
export interface Round {
  /** Responses a second. */
  readonly rate: number;
  /** Times in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly requests: number;
  /** Responses with a status of 400 or above. */
  readonly refused: number;
  /** Requests that got no response. */
  readonly failed: number;
  /** How often the list of requests was sent: above 1, requests were repeated. */
  readonly passes: number;
  /** Share of its core that the server used. */
  readonly core: number;
  /** The costs of a response, by the server's meter. */
  readonly costs?: Totals;
}

/** Counters by name. */
export type Totals = Readonly<Record<string, number>>;

/** A server that is put under load. */
export interface LoadedServer {
  readonly url: string;
  readonly process: Subprocess;
  /** Reads what has been used so far. A server with a meter shares all cores with the load. */
  readonly meter?: () => Promise<Totals>;
}

/** A stream of requests for wrk: a file, and how many there are in it. */
export interface Load {
  readonly file: string;
  readonly count: number;
  readonly key: string;
  readonly connections: number;
}

/** Writes requests to a file that wrk can send. */
export function writeLoad(file: string, requests: readonly Request[], key: string, connections: number): Load {
  const lines = requests.map(({ method, path, body = "", headers = {} }) =>
    [method, path, body, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join("\t"),
  );
  writeFileSync(file, `${lines.join("\n")}\n`);
  return { file, count: requests.length, key, connections };
}

interface Result {
  requests: number;
  microseconds: number;
  sent: number;
  refused: number;
  failed: number;
  p50: number;
  p99: number;
  max: number;
}

/** Puts load on a server for some seconds. */
export async function runWrk(
  processes: Processes,
  target: LoadedServer,
  { file, count, key, connections }: Load,
  seconds: number,
): Promise<Round> {
  const before = {
    totals: await target.meter?.(),
    used: cpuTime(target.process.pid),
    at: performance.now(),
  };
  const duration = String(Math.max(1, Math.round(seconds)));
  const printed = await processes.output(
    target.meter ? ALL_CORES : LOAD_CORE,
    // One thread: it is seldom busy for all of the time.
    [
      "wrk",
      "-t1",
      `-c${connections}`,
      `-d${duration}s`,
      "--timeout",
      "10s",
      "-H",
      `Authorization: Bearer ${key}`,
    ].concat(["-s", SCRIPT, target.url, "--", file]),
    seconds + 30,
  );
  const elapsed = (performance.now() - before.at) / 1000;
  const after = await target.meter?.();
  const line = /^RESULT (.*)$/m.exec(printed)?.[1];
  if (!line) throw new Error(`wrk gave no result: ${printed}`);
  const result = JSON.parse(line) as Result;
  const measured = result.microseconds / 1e6;
  return {
    rate: result.requests / measured,
    p50: result.p50 / 1000,
    p99: result.p99 / 1000,
    max: result.max / 1000,
    requests: result.requests,
    refused: result.refused,
    failed: result.failed,
    passes: result.sent / count,
    // At most 1: `cpuTime` also covers the moments before and after the measured time, in which other load may keep the
    // server busy.
    core: Math.min(1, (cpuTime(target.process.pid) - before.used) / Math.min(elapsed, measured)),
    ...(after && { costs: perResponse(before.totals, after, result.requests) }),
  };
}

function perResponse(before: Totals = {}, after: Totals, responses: number): Totals {
  return Object.fromEntries(
    Object.entries(after).map(([name, total]) => [name, (total - (before[name] ?? 0)) / responses]),
  );
}
