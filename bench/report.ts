import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Options } from "./options.ts";
import { median, type Series } from "./rounds.ts";
import { type Bar, barChart, figure } from "./svg.ts";
import { type Findings, judge, ratios, type Verdict, type Workload } from "./workload.ts";

/** A workload with its findings, or the reason why it has none. */
export interface WorkloadResult {
  readonly workload: Workload;
  readonly findings: Findings | undefined;
  readonly failure?: string;
}

/** What a page says next to its figures. */
export interface PageTexts {
  readonly title: string;
  /** The command that writes it. */
  readonly command: string;
  readonly aboutMeasuring: string;
  readonly aboutPeers: string;
}

/** Writes the page, its charts, and all values as JSON for other calculations. */
export function writeReport(
  { out, mode }: Options,
  { title, command, aboutMeasuring, aboutPeers }: PageTexts,
  machine: readonly [string, string][],
  results: readonly WorkloadResult[],
): void {
  const pictures = basename(out, ".md");
  const folder = join(dirname(out), pictures);
  mkdirSync(folder, { recursive: true });
  const sections = results.map((one) => {
    if (one.findings) writeFileSync(join(folder, `${one.workload.name}.svg`), chart(one.workload, one.findings));
    return section(one, pictures);
  });
  const page = [
    `# ${title}`,
    `Written by \`${command}\` (mode: ${mode}). ${aboutMeasuring}`,
    "## Targets",
    targetTable(results),
    ...sections,
    "## What the peers leave out",
    aboutPeers,
    "## Machine and versions",
    table(["", ""], machine),
  ];
  writeFileSync(out, `${page.join("\n\n")}\n`);
  const values = results.map(({ workload, findings, failure }) => ({ workload: workload.name, ...findings, failure }));
  writeFileSync(join(folder, "values.json"), `${JSON.stringify({ mode, machine, workloads: values }, null, 2)}\n`);
}

/** The targets of a workload in one line each, for the terminal. */
export function verdictLines({ workload, findings }: WorkloadResult): string[] {
  return findings ? workload.targets.map((target) => `  ${verdictCells(judge(target, findings)).join(" · ")}`) : [];
}

function targetTable(results: readonly WorkloadResult[]): string {
  const rows = results.flatMap(({ workload, findings = { series: [], notes: [] } }) =>
    workload.targets.map((target) => [workload.title, ...verdictCells(judge(target, findings))]),
  );
  return table(["workload", "must reach", "measured", "least – most of the rounds", ""], rows);
}

function verdictCells({ target, values, met }: Verdict): string[] {
  if (met === undefined) return [target.text, "–", "–", "not measured"];
  const unit = ` ${target.unit}`;
  const spread = `${figure(Math.min(...values))} – ${figure(Math.max(...values))}`;
  return [target.text, figure(median(values)) + unit, spread, met ? "met" : "**not met**"];
}

function section({ workload, findings, failure }: WorkloadResult, pictures: string): string {
  const head = [`## ${workload.title}`, workload.description];
  if (!findings) return [...head, `It failed: ${failure}`].join("\n\n");
  const parts = [...head, `![${workload.title}](${pictures}/${workload.name}.svg)`];
  if (findings.series.length > 0) parts.push(seriesTable(findings));
  if (findings.measurements) {
    const rows = findings.measurements.map(({ name, unit, values }) => [
      name,
      `${figure(median(values))} ${unit}`,
      `${figure(Math.min(...values))} – ${figure(Math.max(...values))}`,
      String(values.length),
    ]);
    parts.push(table(["", "median", "least – most", "values"], rows));
  }
  return [...parts, ...findings.notes].join("\n\n");
}

function seriesTable(findings: Findings): string {
  const names = findings.series.map(({ name }) => name);
  const comparesServers = names.some((name) => names.includes(oursFor(name)) && name !== oursFor(name));
  const costs = Object.keys(findings.series[0]?.rounds[0]?.costs ?? {});
  const rows = findings.series.map((series) => {
    const { name, rounds } = series;
    const of = (measure: "rate" | "p50" | "p99" | "core" | "passes") => rounds.map((round) => round[measure]);
    const rates = of("rate");
    const lead = ratios(findings, "rate", oursFor(name), name);
    return [
      name,
      figure(median(rates)),
      `${figure(Math.min(...rates))} – ${figure(Math.max(...rates))}`,
      figure(median(of("p50"))),
      figure(median(of("p99"))),
      ...(comparesServers ? [name === oursFor(name) ? "" : `${figure(median(lead))} ×`] : []),
      ...(costs.length > 0
        ? costs.map((cost) => figure(median(rounds.map((round) => round.costs?.[cost] ?? Number.NaN))))
        : [`${Math.round(median(of("core")) * 100)} %`]),
      passes(Math.max(...of("passes"))),
      refusedAndFailed(series),
    ];
  });
  const head = [
    "",
    "answers/s",
    "least – most",
    "p50 ms",
    "p99 ms",
    ...(comparesServers ? ["service ÷ it"] : []),
    ...(costs.length > 0 ? costs : ["core"]),
    "passes",
    "refused, failed",
  ];
  return table(head, rows);
}

/** The name of the service in the place of a peer: `Fastify, 2 processes` is compared with `service, 2 processes`. */
function oursFor(name: string): string {
  return name.replace(/^[^,]+/, "service");
}

/** How often the list of requests was sent. Above 100, the exact number does not matter. */
function passes(most: number): string {
  return most > 100 ? "many" : figure(most);
}

/** Responses with a status of 400 or above, and requests without a response. */
function refusedAndFailed({ rounds }: Series): string {
  const sum = (of: "refused" | "failed" | "requests") => rounds.reduce((total, round) => total + round[of], 0);
  const refused = sum("refused") === sum("requests") ? "all" : String(sum("refused"));
  return `${refused}, ${sum("failed")}`;
}

function chart({ title, chart: kind, isServiceOnly }: Workload, { series, measurements = [] }: Findings): string {
  if (kind === "measurements") {
    const bars = measurements.map(({ name, values }) => bar(name, values));
    const unit = measurements[0]?.unit ?? "";
    return barChart(title, unit === "%" ? unit : `${unit}, less is better`, bars); // shares are neither good nor bad
  }
  const unit = {
    rate: "answers/s, more is better",
    p50: "p50 in ms, less is better",
    p99: "p99 in ms, less is better",
  };
  const bars = series.map(({ name, rounds }) =>
    bar(
      name,
      rounds.map((round) => round[kind]),
    ),
  );
  return barChart(title, unit[kind], isServiceOnly ? bars.map(ours) : bars);
}

function bar(label: string, values: readonly number[]): Bar {
  const isOurs = label.startsWith("service");
  return { label, median: median(values), least: Math.min(...values), most: Math.max(...values), isOurs };
}

function ours(one: Bar): Bar {
  return { ...one, isOurs: true };
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
