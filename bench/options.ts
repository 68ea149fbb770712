import { resolve } from "node:path";
import { parseArgs } from "node:util";

export type Mode = "short" | "normal" | "full";

/** How long and how often each thing is measured. Durations in seconds. */
export interface Effort {
  readonly rounds: number;
  /** For the peers that only give context, as no target refers to them; 0 leaves them out. */
  readonly contextRounds: number;
  readonly seconds: number;
  readonly warmUp: number;
  /** Numbers of animals whose cost is compared. */
  readonly growth: readonly number[];
  /** Accounts, each with a key of its own. */
  readonly accounts: number;
  readonly starts: number;
  /** Animals in the store of the starts. */
  readonly startAnimals: number;
  /** How long the memory is watched under load. */
  readonly soak: number;
  /** The time limit of the whole run. */
  readonly deadline: number;
}

const efforts: Record<Mode, Effort> = {
  short: {
    rounds: 2,
    contextRounds: 0,
    seconds: 1,
    warmUp: 2,
    growth: [1_000, 100_000],
    accounts: 20_000,
    starts: 3,
    startAnimals: 100_000,
    soak: 15,
    deadline: 600,
  },
  normal: {
    rounds: 5,
    contextRounds: 2,
    seconds: 3,
    warmUp: 3,
    growth: [1_000, 100_000, 10_000_000],
    accounts: 1_000_000,
    starts: 7,
    startAnimals: 1_000_000,
    soak: 60,
    deadline: 3_600,
  },
  full: {
    rounds: 9,
    contextRounds: 3,
    seconds: 5,
    warmUp: 5,
    growth: [1_000, 100_000, 10_000_000],
    accounts: 1_000_000,
    starts: 11,
    startAnimals: 1_000_000,
    soak: 600,
    deadline: 7_200,
  },
};

export interface Options {
  readonly mode: Mode;
  readonly effort: Effort;
  /** Names of the workloads to run; empty for those of the mode. */
  readonly only: readonly string[];
  /** True if many processes are measured, on PostgreSQL and Valkey. */
  readonly scale: boolean;
  /** The page to write. */
  readonly out: string;
  /** The checkout whose service is measured. */
  readonly service: string;
}

const HELP = `Measures the service against its peers and writes a page of results.

Usage: npm run bench -- [--scale] [--short | --full] [--only NAME]... [--out FILE] [--service FOLDER]

  --scale           Many processes on PostgreSQL and Valkey, on a page of their own, instead of one process
                    on its embedded store.
  --short           The main workloads and peers, in about two minutes.
  --full            Everything for longer, with ten minutes of load on the memory: over an hour.
  --only NAME       Only the workloads whose name starts so; may be given more than once.
  --out FILE        The page to write. Default: bench/results/performance-results.md, or scale-results.md
  --service FOLDER  The checkout whose service is measured. Default: this one.
  --help            Print this.

It needs wrk and taskset, and two cores; with --scale valkey-server or redis-server, and 14 GB of disk for
ten million animals. nginx is measured where it is installed.
Workloads:`;

/**
 * Reads the command line. Undefined where help is asked for, which is then printed. `workloadsOf` gives
 * the names of the workloads with --scale, and without.
 */
export function readOptions(
  words: readonly string[],
  root: string,
  workloadsOf: (scale: boolean) => readonly string[],
): Options | undefined {
  const { values } = parseArgs({
    args: [...words],
    options: {
      scale: { type: "boolean", default: false },
      short: { type: "boolean", default: false },
      full: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      out: { type: "string" },
      service: { type: "string", default: root },
      help: { type: "boolean", default: false },
    },
  });
  const { scale, only, service } = values;
  const workloads = workloadsOf(scale);
  if (values.help) {
    console.log([HELP, ...workloads.map((name) => `  ${name}`)].join("\n"));
    return undefined;
  }
  const unknown = only.filter((one) => !workloads.some((name) => name.startsWith(one)));
  if (unknown.length > 0) throw new Error(`There is no workload ${unknown.join(", ")}. See --help.`);
  const mode = values.full ? "full" : values.short ? "short" : "normal";
  const out = values.out ?? `${root}/bench/results/${scale ? "scale" : "performance"}-results.md`;
  return { mode, effort: efforts[mode], scale, only, out, service: resolve(service) };
}
