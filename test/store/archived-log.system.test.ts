// The recipe of docs/backups.md for PostgreSQL: a base backup, an archive of the write-ahead log, and a restore to a point
// in time.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { freePort } from "../harness/free-port.ts";
import { eventually, newDataDir, runCommand, runJson } from "../harness/program.ts";

/** Programs of a PostgreSQL that has all of them: the one of npm has no pg_basebackup. */
const programs = globSync("/usr/lib/postgresql/*/bin")
  .toSorted((one, other) => other.localeCompare(one, undefined, { numeric: true }))
  .find((folder) => existsSync(join(folder, "pg_basebackup")));
const NOBODY = 65_534;
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

const page = readFileSync(join(import.meta.dir, "../../docs/backups.md"), "utf8");
const section = /^## Archiving PostgreSQL's write-ahead log\n[^]*?(?=^##)/m.exec(page)?.[0] ?? "";
/** The settings and the commands of the section, in order. */
const [archiving = "", commands = "", recovery = ""] = [...section.matchAll(/```\w+\n([^]*?)```/g)].map(
  ([, text]) => text,
);

let folder: string;
let server: ChildProcess | undefined;
let port: number;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "petstore-archive-"));
  port = freePort();
  mkdirSync(join(folder, "backups/wal"), { recursive: true });
  own(folder);
});
afterEach(async () => {
  await end();
  rmSync(folder, { recursive: true });
});

/** Gives a folder to the user whom the server runs as. */
function own(path: string): void {
  if (user.uid !== undefined) spawnSync("chown", ["-R", `${user.uid}:${user.gid}`, path]);
}

const archivedLog = () => readdirSync(join(folder, "backups/wal")).toSorted();
const inFolder = (text: string) => text.replaceAll("/backups", join(folder, "backups"));

const environment = () => ({ ...process.env, PGHOST: "127.0.0.1", PGPORT: String(port), PGUSER: "petstore" });

function run(name: string, ...words: string[]): void {
  const { status, stderr } = spawnSync(join(programs ?? "", name), words, {
    ...user,
    env: environment(),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${name} failed: ${stderr}`);
}

/** Types the commands of the section as if it were a day of that month. */
function takeBaseBackup(day: number): void {
  const typed = inFolder(commands).replace("$(date +%F)", `2026-11-0${day}`);
  const { status, stderr } = spawnSync("bash", ["-euo", "pipefail", "-c", typed], {
    ...user,
    env: { ...environment(), PATH: `${programs}:${process.env["PATH"]}` },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${typed} failed: ${stderr}`);
}

/** Starts the server on a data folder, with more settings, and resolves when it takes writes. */
async function start(data: string, settings: string): Promise<void> {
  const listening = `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n`;
  writeFileSync(join(data, "postgresql.auto.conf"), listening + inFolder(settings));
  server = spawn(join(programs ?? "", "postgres"), ["-D", data], { ...user, stdio: "ignore" });
  await eventually(
    () => ask<{ waits: boolean }>("SELECT pg_is_in_recovery() AS waits").catch(() => [{ waits: true }]),
    ([row]) => row?.waits === false,
  );
}

async function end(): Promise<void> {
  const gone = server && server.exitCode === null && new Promise((resolve) => server?.once("exit", resolve));
  server?.kill("SIGQUIT"); // as a crash does
  await gone;
  server = undefined;
}

async function ask<R>(sql: string): Promise<R[]> {
  const client = new SQL(`postgres://petstore@127.0.0.1:${port}/postgres`, { max: 1 });
  try {
    return (await client.unsafe(sql)) as R[];
  } finally {
    await client.close();
  }
}

test.skipIf(!programs)(
  "PostgreSQL is restored to a point in time from a base backup and the archived log",
  async () => {
    const data = join(folder, "data");
    run("initdb", "-D", data, "-A", "trust", "-U", "petstore", "--no-sync");
    await start(data, archiving);
    const settings = { PETSTORE_DATABASE_URL: `postgres://petstore@127.0.0.1:${port}/postgres` };
    const dataDir = newDataDir();
    const add = (name: string) => runJson(dataDir, ["accounts", "create", "--name", name, "--plan", "free"], settings);
    takeBaseBackup(1);
    const [first] = archivedLog();
    await add("in the base backup");
    for (let day = 2; day <= 8; day++) takeBaseBackup(day);
    expect(readdirSync(join(folder, "backups")).filter((name) => name.startsWith("base-"))).toHaveLength(7);
    expect(archivedLog()).not.toContain(first as string);
    await add("in the log");
    const [moment] = await ask<{ now: string }>(
      "SELECT to_char(clock_timestamp(), 'YYYY-MM-DD HH24:MI:SS.USOF') AS now",
    );
    await add("too late");
    const [last] = await ask<{ file: string }>("SELECT pg_walfile_name(pg_switch_wal()) AS file");
    await eventually(() => existsSync(join(folder, "backups/wal", last?.file ?? "")));
    await end();
    rmSync(data, { recursive: true });

    cpSync(join(folder, "backups/base-2026-11-02"), data, { recursive: true }); // the oldest that is left
    own(data);
    writeFileSync(join(data, "recovery.signal"), "");
    await start(data, recovery.replace(/(?<=recovery_target_time = ')[^']*/, moment?.now ?? ""));
    const { stdout } = await runCommand(dataDir, ["accounts", "list"], settings);
    expect(["in the base backup", "in the log", "too late"].map((one) => stdout.includes(one))).toEqual([
      true,
      true,
      false,
    ]);
    await add("after the restore");
  },
);
