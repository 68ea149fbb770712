import { type Effort } from "./options.ts";
import type { Processes } from "./processes.ts";
import { type Load, type LoadedServer, type Round, runWrk } from "./wrk.ts";

/** One contestant of a workload, and what was measured of it. */
export interface Series {
  readonly name: string;
  readonly rounds: readonly Round[];
}

/** One contestant before it is measured. */
export interface Contestant {
  readonly name: string;
  readonly rounds: number;
  readonly warmUp: () => Promise<unknown>;
  readonly run: () => Promise<Round>;
}

/**
 * Measures contestants in alternating rounds, A B C A B C: other work on the
 * machine affects all of them equally. Those with fewer rounds are left out of the last ones.
 */
export async function alternate(contestants: readonly Contestant[]): Promise<Series[]> {
  const measured = contestants.map(({ name }) => ({ name, rounds: [] as Round[] }));
  for (const { warmUp } of contestants) await warmUp();
  const most = Math.max(...contestants.map(({ rounds }) => rounds));
  for (let round = 0; round < most; round++) {
    for (const [index, { rounds, run }] of contestants.entries()) {
      if (round < rounds) measured[index]?.rounds.push(await run());
    }
  }
  return measured;
}

/**
 * A contestant that puts one load on one running server. Its run rejects if most requests were refused, unless that is
 * what it measures (`refuses`): a refusal costs less than a success.
 */
export function contestant(
  name: string,
  processes: Processes,
  server: LoadedServer,
  load: Load,
  { rounds, seconds, warmUp }: Pick<Effort, "rounds" | "seconds" | "warmUp">,
  refuses = false,
): Contestant {
  return {
    name,
    rounds,
    warmUp: () => runWrk(processes, server, load, warmUp),
    run: async () => {
      const round = await runWrk(processes, server, load, seconds);
      if (!refuses && round.refused > round.requests / 2) throw new Error(`${name}: most requests were refused.`);
      return round;
    },
  };
}

/** The middle one of some values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** Deterministic order without pattern, so that each run sends the same requests in the same order. */
export function shuffled<T>(values: readonly T[]): T[] {
  const mixed = [...values];
  let state = 88_172_645; // xorshift; any seed but 0
  for (let index = mixed.length - 1; index > 0; index--) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const other = (state >>> 0) % (index + 1);
    [mixed[index], mixed[other]] = [mixed[other] as T, mixed[index] as T];
  }
  return mixed;
}
