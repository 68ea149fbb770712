// CPU time of one decision on the limits in Valkey, of the process and of the server, for some numbers of
// requests that come in one turn of the event loop. Compares this checkout with another one, in alternating rounds.
import { join } from "node:path";
import { RedisClient, type Subprocess } from "bun";
import { freePort } from "../test/harness/free-port.ts";
import type { LimitsLoad, LimitsResult } from "./limits-process.ts";
import { median } from "./rounds.ts";
import type { Bench } from "./workload.ts";

const TURNS = [1, 4, 16, 64];
const MANY = 1_000;
const SECONDS = 1;
const WARM_UP = 0.3;
/** How often a round is run again on a machine that is too busy for the limits in Valkey. */
const MAX_TRIES = 20;

/** Microseconds of CPU time of one decision. */
interface Cost {
  readonly process: number;
  readonly server: number;
}

/** Measures, and prints a line for each load. What it starts ends with `processes`. */
export async function compareLimits(
  checkouts: readonly string[],
  rounds: number,
  { processes, folder }: Pick<Bench, "processes" | "folder">,
): Promise<void> {
  const program = Bun.which("valkey-server") ?? Bun.which("redis-server");
  if (!program) throw new Error("valkey-server or redis-server is needed.");
  const port = freePort();
  const server = Bun.spawn([program, "--bind", "127.0.0.1", "--port", String(port), "--save", "", "--dir", folder], {
    stdout: "ignore",
    stderr: "inherit",
  });
  const client = new RedisClient(`redis://127.0.0.1:${port}`);
  const started = [server];
  processes.onStop(async () => {
    client.close();
    for (const one of started) one.kill();
    await Promise.all(started.map(({ exited }) => exited));
  });
  const measured = [];
  for (const [index, one] of checkouts.entries()) {
    measured.push(await startProcess(one, port, join(folder, String(index)), started));
  }
  for (const perTurn of TURNS) {
    for (const accounts of [1, MANY]) {
      const costs: Cost[][] = [[], []];
      for (const run of measured) await run({ perTurn, accounts, seconds: WARM_UP });
      for (let round = 0; round < rounds; round++) {
        for (const [index, run] of measured.entries()) {
          costs[index]?.push(await costOf(() => run({ perTurn, accounts, seconds: SECONDS }), client));
        }
      }
      console.log(lineOf(perTurn, accounts, costs));
    }
  }
}

/** The cost of a round in which the server decided everything; others are run again. */
async function costOf(run: () => Promise<LimitsResult>, client: RedisClient): Promise<Cost> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await serverTime(client);
    const { decisions, cpu, usedLocalFallback } = await run();
    const used = (await serverTime(client)) - before;
    if (!usedLocalFallback) return { process: cpu / decisions, server: used / decisions };
  }
  throw new Error(`The machine is too busy: the process counted locally in ${MAX_TRIES} rounds.`);
}

/** Starts the process of a checkout. Returns what runs a load in it. */
async function startProcess(
  checkout: string,
  port: number,
  folder: string,
  all: Subprocess[],
): Promise<(load: LimitsLoad) => Promise<LimitsResult>> {
  let next = Promise.withResolvers<unknown>();
  const script = join(import.meta.dir, "limits-process.ts");
  const child = Bun.spawn([process.execPath, script, checkout, `redis://127.0.0.1:${port}`, folder], {
    stdout: "inherit",
    stderr: "inherit",
    ipc: (message) => next.resolve(message),
    onExit: () => next.reject(new Error("The process that is measured has ended.")),
  });
  all.push(child);
  await next.promise;
  return (load) => {
    next = Promise.withResolvers<unknown>();
    child.send(load);
    return next.promise as Promise<LimitsResult>;
  };
}

/** Microseconds of CPU time that the server has used. */
async function serverTime(client: RedisClient): Promise<number> {
  const info = String(await client.send("INFO", ["cpu"]));
  const seconds = ["used_cpu_sys", "used_cpu_user"].map(
    (name) => new RegExp(`^${name}:([0-9.]+)`, "m").exec(info)?.[1],
  );
  return 1e6 * seconds.reduce((sum, one) => sum + Number(one), 0);
}

function lineOf(perTurn: number, accounts: number, costs: readonly (readonly Cost[])[]): string {
  const of = (part: keyof Cost) => costs.map((rounds) => median(rounds.map((cost) => cost[part])));
  const [ofProcess, ofServer] = [of("process"), of("server")].map(([ours = 0, theirs = 0]) => {
    return `${ours.toFixed(2)} µs here, ${theirs.toFixed(2)} there (${(ours / theirs).toFixed(2)})`;
  });
  return `${perTurn} a turn, ${accounts === 1 ? "one account" : "many accounts"}: process ${ofProcess}; server ${ofServer}`;
}
