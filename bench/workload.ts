import type { Options } from "./options.ts";
import type { Processes } from "./processes.ts";
import { median, type Series } from "./rounds.ts";
import type { Round } from "./wrk.ts";

/** A measurement other than load, such as a start time, a size or a share. It has one value for each round. */
export interface Measurement {
  readonly name: string;
  readonly unit: "ms" | "µs" | "MB" | "%";
  readonly values: readonly number[];
}

/** What a workload found. */
export interface Findings {
  readonly series: readonly Series[];
  readonly measurements?: readonly Measurement[];
  /** Contestants that are missing, and why; and other remarks for the reader. */
  readonly notes: readonly string[];
}

/** What a workload may use. */
export interface Bench {
  readonly options: Options;
  readonly processes: Processes;
  /** An empty folder of the workload's own. */
  readonly folder: string;
}

export interface Workload {
  readonly name: string;
  readonly title: string;
  /** What is measured and how, for the page. */
  readonly description: string;
  /** True if the short mode runs it too. */
  readonly inShort: boolean;
  /** What the chart shows. */
  readonly chart: "rate" | "p50" | "p99" | "measurements";
  /** True if all bars of the chart are of the service. */
  readonly isServiceOnly?: true;
  readonly run: (bench: Bench) => Promise<Findings>;
  readonly targets: readonly Target[];
}

/** What must be reached. */
export interface Target {
  readonly text: string;
  readonly bound: number;
  readonly comparison: "at least" | "at most" | "below";
  readonly unit: "×" | Measurement["unit"];
  /** One value a round; empty if it was not measured. */
  readonly values: (findings: Findings) => readonly number[];
}

/** A target, compared with what was measured. */
export interface Verdict {
  readonly target: Target;
  readonly values: readonly number[];
  /** By the median; undefined if it was not measured. */
  readonly met: boolean | undefined;
}

export function judge(target: Target, findings: Findings): Verdict {
  const values = target.values(findings);
  if (values.length === 0) return { target, values, met: undefined };
  const value = median(values);
  const { comparison, bound } = target;
  return {
    target,
    values,
    met: comparison === "at least" ? value >= bound : comparison === "below" ? value < bound : value <= bound,
  };
}

/** `cost` is the CPU time of a response in seconds: the used share of a core, divided by the responses per second. */
type Measure = "rate" | "p50" | "p99" | "cost";

/** The ratio of one contestant to another, round by round: both had the machine in the same state. */
export function ratios({ series }: Findings, measure: Measure, of: string, to: string): number[] {
  const [above, below] = [of, to].map((wanted) => series.find(({ name }) => name === wanted)?.rounds ?? []);
  const count = Math.min(above?.length ?? 0, below?.length ?? 0);
  return Array.from({ length: count }, (_, round) => {
    const [top, bottom] = [above?.[round], below?.[round]].map((one) => valueOf(one, measure));
    return (top ?? Number.NaN) / (bottom ?? Number.NaN);
  });
}

function valueOf(round: Round | undefined, measure: Measure): number {
  if (!round) return Number.NaN;
  return measure === "cost" ? round.core / round.rate : round[measure];
}

/** A target for the ratio of two contestants. */
export function ratioTarget(
  text: string,
  comparison: "at least" | "at most",
  bound: number,
  [measure, of, to]: readonly [Measure, string, string],
): Target {
  return { text, comparison, bound, unit: "×", values: (findings) => ratios(findings, measure, of, to) };
}

/** A target for a measurement. */
export function measurementTarget(text: string, unit: Measurement["unit"], bound: number, name: string): Target {
  return {
    text,
    comparison: "below",
    bound,
    unit,
    values: ({ measurements = [] }) => measurements.find((one) => one.name === name)?.values ?? [],
  };
}
