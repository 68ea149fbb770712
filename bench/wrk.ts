import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { ALL_CORES, cpuTime, LOAD_CORE, type Processes } from "./processes.ts";
import type { Request } from "./requests.ts";

const SCRIPT = join(import.meta.dir, "requests.lua");
/** Connections that put load on a server, unless a load has another number. */
const CONNECTIONS = 64;

/** How often and for how long each thing is measured, in seconds. */
export interface Effort {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUp: number;
}

/** Counters by name. */
export type Totals = Readonly<Record<string, number>>;

/** A server that is put under load. */
export interface LoadedServer {
  readonly url: string;
  readonly process: Subprocess;
  /** Reads the CPU time that has been used so far. A server with a meter shares all cores with the load. */
  readonly meter?: () => Promise<Totals>;
}

/** One of several servers, or loads, that are compared. */
export interface Contestant {
  readonly name: string;
  readonly server: LoadedServer;
  readonly key: string;
  /** What is sent in a round; before the first one in round 0. */
  readonly requests: (round: number) => readonly Request[];
  readonly connections?: number | undefined;
  /** True if every response is an error. A refusal costs less than a success, so no other round may have many. */
  readonly isRefused?: boolean | undefined;
}

/** What was measured of a contestant. */
export interface Series {
  readonly name: string;
  readonly rounds: readonly Round[];
}

/** One round of load on one server. */
export interface Round {
  /** Responses a second. */
  readonly rate: number;
  /** Times in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly requests: number;
  /** Microseconds of CPU time for each response, of the server and of those that it uses. */
  readonly costs: Totals;
}

/** All microseconds of a response. */
export function costOf({ costs }: Round): number {
  return Object.values(costs).reduce((sum, one) => sum + one, 0);
}

/**
 * Measures contestants in alternating rounds, A B C A B C: other work on the machine affects all of them equally.
 * `folder` is for the files of the load.
 */
export async function alternate(
  processes: Processes,
  folder: string,
  { rounds, seconds, warmUp }: Effort,
  contestants: readonly Contestant[],
): Promise<Series[]> {
  const measured = contestants.map(({ name }) => ({ name, rounds: [] as Round[] }));
  for (const one of contestants) await runWrk(processes, folder, one, 0, warmUp);
  for (let round = 1; round <= rounds; round++) {
    for (const [index, one] of contestants.entries()) {
      measured[index]?.rounds.push(await runWrk(processes, folder, one, round, seconds));
    }
  }
  return measured;
}

/** The middle one of some values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [below = Number.NaN, above = Number.NaN] = [sorted[middle - 1], sorted[middle]];
  return sorted.length % 2 === 1 ? above : (below + above) / 2;
}

/** The median of the ratios of two contestants, round by round: in a round both had the machine in the same state. */
export function ratio(above: Series, below: Series, of: (round: Round) => number): number {
  return median(above.rounds.map((round, index) => of(round) / of(below.rounds[index] as Round)));
}

interface Result {
  readonly requests: number;
  readonly microseconds: number;
  readonly refused: number;
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
}

/** Puts load on a server for some seconds. */
async function runWrk(
  processes: Processes,
  folder: string,
  { name, server, key, requests, connections = CONNECTIONS, isRefused = false }: Contestant,
  round: number,
  seconds: number,
): Promise<Round> {
  const file = join(folder, "requests.txt");
  const lines = requests(round).map(({ method, path, body = "", headers = {} }) =>
    [method, path, body, ...Object.entries(headers).map(([header, value]) => `${header}: ${value}`)].join("\t"),
  );
  writeFileSync(file, `${lines.join("\n")}\n`);
  const { pid } = server.process;
  const meter: () => Promise<Totals> = server.meter ?? (async () => ({ "service µs": 1e6 * cpuTime(pid) }));
  const before = await meter();
  // One thread: it is seldom busy for all of the time.
  const options = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s"];
  const authorization = `Authorization: Bearer ${key}`;
  const command = ["wrk", ...options, "-H", authorization, "-s", SCRIPT, server.url, "--", file];
  const printed = await processes.output(server.meter ? ALL_CORES : LOAD_CORE, command, seconds + 30);
  const after = await meter();
  const line = /^RESULT (.*)$/m.exec(printed)?.[1];
  if (!line) throw new Error(`wrk gave no result: ${printed}`);
  const result = JSON.parse(line) as Result;
  const wrong = result.failed + (isRefused ? result.requests - result.refused : result.refused);
  // In its first moments a used-up account may still have some requests left.
  if (wrong > 200 + result.requests / 100) throw new Error(`${name}: ${wrong} responses of the wrong kind.`);
  return {
    rate: result.requests / (result.microseconds / 1e6),
    p50: result.p50 / 1000,
    p99: result.p99 / 1000,
    requests: result.requests,
    costs: Object.fromEntries(
      Object.entries(after).map(([of, total]) => [of, (total - (before[of] ?? 0)) / result.requests]),
    ),
  };
}
