import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { barChart, figure } from "./chart.ts";
import type { Memory, Result } from "./embedded.ts";
import { ALONE, PEERS, rivals } from "./peers.ts";
import { costOf, median, type Round, ratio, type Series } from "./wrk.ts";

/** The load of the machine before the run. Other work makes a run worthless. */
const [, , LOAD_BEFORE = Number.NaN] = loadavg();

const rateOf = ({ rate }: Round) => rate;
const of = (series: Series | undefined, value: (round: Round) => number) =>
  series ? figure(median(series.rounds.map(value))) : "–";
const named = ({ series }: Result, name: string) => series.find((one) => one.name === name);

/** How far a server is ahead of another, in CPU time per response and in responses per second. */
interface Lead {
  readonly cpu: number;
  readonly rate: number;
}
function leadOf(ours: Series, theirs: Series): Lead {
  return { cpu: ratio(theirs, ours, costOf), rate: ratio(ours, theirs, rateOf) };
}

/** The lead over the best of some servers, the goal, and whether it is reached; empty texts without a goal. */
function verdict({ goal }: Result, ours: Series, theirs: readonly Series[]): string[] {
  if (!goal || theirs.length === 0) return ["", "", ""];
  const leads = theirs.map((one) => leadOf(ours, one));
  const [cpu, rate] = [Math.min(...leads.map((one) => one.cpu)), Math.min(...leads.map((one) => one.rate))];
  const wanted = goal.cpu === undefined || goal.cpu === goal.rate ? `${goal.rate}` : `${goal.cpu}, ${goal.rate}`;
  return [wanted, lead(cpu, goal.cpu), lead(rate, goal.rate)];
}

function lead(reached: number, wanted = 0): string {
  return reached >= wanted ? `${figure(reached)} ×` : `**${figure(reached)} ×**`;
}

/** One row: the service alone, its lead over each peer in CPU time, and over the best one. */
export function embeddedRow(result: Result): string[] {
  const ours = named(result, "service");
  if (!ours) return [];
  const leads = [...rivals, ALONE].map((name) => {
    const theirs = named(result, name);
    return theirs ? `${figure(leadOf(ours, theirs).cpu)} ×` : "–";
  });
  const best = verdict(
    result,
    ours,
    rivals.flatMap((name) => named(result, name) ?? []),
  );
  const own = [of(ours, rateOf), of(ours, ({ p99 }) => p99), of(ours, costOf)];
  return [result.title, ...own, ...leads, ...best];
}

/** One row for each number of processes. */
export function sharedRows(result: Result): string[][] {
  return ["", ", 2 processes"].flatMap((processes) => {
    const [ours, theirs] = ["service", "Fastify"].map((name) => named(result, `${name}${processes}`));
    if (!ours || !theirs) return [];
    const costs = ["service µs", "PostgreSQL µs", "Valkey µs"].map((name) =>
      of(ours, (round) => round.costs[name] ?? Number.NaN),
    );
    const own = [of(ours, rateOf), of(ours, ({ p99 }) => p99), ...costs];
    return [[`${result.title}${processes}`, ...own, of(theirs, costOf), ...verdict(result, ours, [theirs])]];
  });
}

const own = ["", "answers/s", "p99 ms"];
const goalColumns = ["goal", "best: CPU", "best: answers/s"];
export const embeddedHead = [...own, "CPU µs", ...rivals, ALONE, ...goalColumns];
export const sharedHead = [...own, "service µs", "PostgreSQL µs", "Valkey µs", "all µs of Fastify", ...goalColumns];

const ABOUT = `Written by \`npm run bench\`. Contestants take turns; before the first round each is warmed up. Figures are medians of
the rounds, ratios are of the same round: the CPU time of a peer divided by that of the service, and the answers a second of the
service divided by those of the best peer. Bold ratios miss the goal. \`wrk\` keeps 64 requests on their way, so p99 is that under full load. All servers have the same keys, limits, events, headers and log lines (to \`/dev/null\`), and give the same
answers, which is checked first. Each create has an \`Idempotency-Key\` and is answered when animal, event and response are on disk,
in one transaction.`;

const ABOUT_EMBEDDED = `The server has one core, \`wrk\` another. *${ALONE}* has no keys, limits, checks or log: what cannot be reached. The
peers have no bans, scopes or metrics, serve one shop, and keep limits in memory only.`;

const ABOUT_SHARED = `Processes, PostgreSQL, Valkey and \`wrk\` share two cores, so two processes answer hardly more than one: CPU time per
answer tells how the service scales. Fastify uses \`pg\`, \`@fastify/rate-limit\` and \`ioredis\`; it has one window of limits, and no bans,
scopes, metrics or rule for an unreachable Valkey.`;

/** Writes both pages, their charts, and all values. */
export function writeReport(
  out: string,
  revision: string,
  embedded: readonly Result[],
  shared: readonly Result[],
  memory: readonly Memory[],
): void {
  mkdirSync(out, { recursive: true });
  const machine = `${new Date().toISOString().slice(0, 10)}, revision ${revision}: ${cpus()[0]?.model.trim()}, ${cpus().length} cores,
${Math.round(totalmem() / 2 ** 30)} GiB; load average before the run ${LOAD_BEFORE.toFixed(1)}. Versions: ${versions()}.`;
  const sizes = memory.map(
    ({ name, startedIn, megabytes }) => `${name} ${figure(startedIn)} ms, ${figure(megabytes)} MB`,
  );
  const footer = `First answer after the start, and memory after the loads: ${sizes.join("; ")}.`;
  const write = (name: string, title: string, about: string, results: readonly Result[], rows: string, end = "") => {
    if (results.length === 0) return;
    const data = `[All values](${name}.json).`;
    const text = [`# ${title}`, `${about} ${data}`, `![CPU time per answer](${name}.svg)`, rows, end, machine];
    writeFileSync(join(out, `${name}.md`), `${text.filter(Boolean).join("\n\n")}\n`);
    writeFileSync(join(out, `${name}.svg`), chartOf(results));
    writeFileSync(join(out, `${name}.json`), `${JSON.stringify({ machine, memory, results }, rounded)}\n`);
  };
  const rows = table(embeddedHead, embedded.map(embeddedRow));
  write("performance-results", "Measured: one process", `${ABOUT}\n\n${ABOUT_EMBEDDED}`, embedded, rows, footer);
  const sharedTable = table(sharedHead, shared.flatMap(sharedRows));
  write("scale-results", "Measured: PostgreSQL and Valkey", `${ABOUT}\n\n${ABOUT_SHARED}`, shared, sharedTable);
}

function chartOf(results: readonly Result[]): string {
  const compared = results.filter(({ goal }) => goal);
  const groups = compared.map(({ title, series }) => ({
    title,
    bars: series.map(({ name, rounds }) => ({ name, value: median(rounds.map(costOf)) })),
  }));
  return barChart("CPU time per answer", "µs, less is better", groups);
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(4)) : value;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(head), line(head.map((_, index) => (index === 0 ? "---" : "--:"))), ...rows.map(line)].join("\n");
}

export function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function versions(): string {
  const packages = JSON.parse(readFileSync(join(PEERS, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const node = Bun.spawnSync(["node", "--version"]).stdout.toString().trim();
  const peers = Object.entries(packages.dependencies).map(([name, version]) => `${name} ${version}`);
  return [`Bun ${Bun.version}`, `Node ${node}`, ...peers].join(", ");
}
