import { Database } from "bun:sqlite";
import { existsSync, readFileSync } from "node:fs";
import { cpus, getPriority, loadavg, release, totalmem } from "node:os";
import { join } from "node:path";

/** The core of the measured server, and the one of everything that puts load on it. */
export const SERVER_CORE = "0";
export const LOAD_CORE = String(cpus().length - 1);
/** All cores, where everything shares them. */
export const ALL_CORES = `0-${LOAD_CORE}`;

/** The machine and the versions of the programs, as rows of a table. `packages` are those of the peers. */
export function describeMachine(
  service: string,
  programs: readonly [string, string][],
  peers: string,
  packages: readonly string[],
): [string, string][] {
  return [
    ["Date", new Date().toISOString().slice(0, 10)],
    ["Processor", `${cpus()[0]?.model.trim() ?? "unknown"}, ${cpus().length} cores`],
    ["Memory", `${Math.round(totalmem() / 2 ** 30)} GiB`],
    // Without other work it is that of the measurement's own threads: two or three.
    ["Load average (15 minutes)", loadavg()[2]?.toFixed(1) ?? "unknown"],
    ["Priority of the measurement (nice)", String(getPriority())],
    ["Kernel", `Linux ${release()}`],
    ["Service", firstLine(["git", "-C", service, "describe", "--always", "--dirty"])],
    ["Bun", Bun.version],
    ...programs,
    ["Node (peers)", firstLine(["node", "--version"])],
    ...packages.map((name): [string, string] => [name, packageVersion(peers, name)]),
    ["wrk", /wrk (\S+)/.exec(String(Bun.spawnSync(["wrk", "-v"]).stdout))?.[1] ?? "unknown"], // its status is 1
  ];
}

/** What must be there before anything can be measured; a line for each thing that is missing. */
export function missingTools(): string[] {
  const missing = ["wrk", "taskset", "node", "npm"].filter((tool) => !Bun.which(tool));
  const lines = missing.map((tool) => `${tool} is not installed. On Debian: apt-get install wrk util-linux nodejs npm`);
  if (cpus().length < 2) lines.push("Two cores are needed: one for the server, one for the load.");
  return lines;
}

export function packageVersion(folder: string, name: string): string {
  const file = join(folder, "node_modules", name, "package.json");
  if (!existsSync(file)) return "not installed";
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

export function firstLine(command: [string, ...string[]]): string {
  if (!Bun.which(command[0])) return "not installed";
  const { stdout, stderr, exitCode } = Bun.spawnSync(command);
  if (exitCode !== 0) return "unknown";
  return `${stdout}${stderr}`.split("\n")[0] ?? "";
}

export function sqliteVersion(): string {
  const database = new Database(":memory:");
  const row = database.query<{ version: string }, []>("SELECT sqlite_version() AS version").get();
  database.close();
  return row?.version ?? "unknown";
}
