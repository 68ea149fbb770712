import { type ChildProcess, spawn } from "node:child_process";
import { chownSync, cpSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RedisClient } from "bun";
import { NOBODY, programs } from "../harness/postgres-server.ts";
import type { Host } from "./network.ts";

/** PostgreSQL refuses to run as root. */
const asNobody = ["setpriv", "--reuid", String(NOBODY), "--regid", String(NOBODY), "--clear-groups"];
const POLL = 20;

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "petstore-drill-"));
  chownSync(folder, NOBODY, NOBODY);
  return folder;
}

/** Makes a cluster of PostgreSQL that takes connections from everywhere. Returns its folder. */
export function newCluster(): string {
  const folder = newFolder();
  const options = ["-A", "trust", "-U", "petstore", "-E", "UTF8", "--locale=C"];
  const { success, stderr } = Bun.spawnSync([...asNobody, join(programs(), "initdb"), "-D", folder, ...options]);
  if (!success) throw new Error(`initdb failed: ${stderr.toString()}`);
  const rules = ["host all all all trust", "host replication all all trust"];
  writeFileSync(join(folder, "pg_hba.conf"), `${rules.join("\n")}\n`);
  return folder;
}

/** A PostgreSQL server on a machine, with a copy of a cluster. It syncs each commit to disk. */
export class DatabaseServer {
  readonly #host: Host;
  readonly #folder = newFolder();

  /** With the address of a primary, it is a standby of it. */
  static async start(host: Host, cluster: string, primary?: string): Promise<DatabaseServer> {
    const server = new DatabaseServer(host);
    cpSync(cluster, server.#folder, { recursive: true });
    if (primary !== undefined) writeFileSync(join(server.#folder, "standby.signal"), "");
    Bun.spawnSync(["chown", "-R", `${NOBODY}:${NOBODY}`, server.#folder]);
    const follow = `primary_conninfo=host=${primary} user=petstore application_name=standby`;
    const settings = ["listen_addresses=*", "unix_socket_directories=", ...(primary === undefined ? [] : [follow])];
    const log = join(server.#folder, "log");
    const output = openSync(log, "a");
    const words = [join(programs(), "postgres"), "-D", server.#folder, ...settings.flatMap((one) => ["-c", one])];
    const [program = "", ...rest] = host.command(...asNobody, ...words);
    const child: ChildProcess = spawn(program, rest, { stdio: ["ignore", output, output] });
    while (!server.#isReady()) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended: ${readFileSync(log, "utf8")}`);
      await Bun.sleep(POLL);
    }
    return server;
  }

  private constructor(host: Host) {
    this.#host = host;
  }

  /** Runs SQL over a separate connection. */
  async run<R = Record<string, unknown>>(sql: string): Promise<R[]> {
    const pool = new Bun.SQL({ url: `postgres://petstore@${this.#host.address}:5432/postgres`, max: 1 });
    try {
      return [...((await pool.unsafe(sql)) as R[])];
    } finally {
      await pool.close({ timeout: 0 });
    }
  }

  /** Makes every commit wait for the standby. */
  async awaitStandby(): Promise<void> {
    await this.run("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    await this.run("SELECT pg_reload_conf()");
    const states = () => this.run<{ sync_state: string }>("SELECT sync_state FROM pg_stat_replication");
    while ((await states())[0]?.sync_state !== "sync") await Bun.sleep(POLL);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #isReady(): boolean {
    const file = join(this.#folder, "postmaster.pid");
    return existsSync(file) && /^(ready|standby) *$/.test(readFileSync(file, "utf8").split("\n")[7] ?? "");
  }
}

const valkey = Bun.which("valkey-server") ?? Bun.which("redis-server");

/** A Valkey or Redis server on a machine; with the address of a master, its replica. It keeps nothing on disk. */
export class LimitServer {
  readonly #host: Host;

  static async start(host: Host, master?: string): Promise<LimitServer> {
    const server = new LimitServer(host);
    const follow = master === undefined ? [] : ["--replicaof", master, "6379"];
    const open = ["--bind", "0.0.0.0", "--protected-mode", "no", "--save", "", "--repl-diskless-sync-delay", "0"];
    const [program = "", ...rest] = host.command(valkey as string, ...open, ...follow);
    spawn(program, rest, { stdio: "ignore", cwd: tmpdir() });
    const isUp = (info: unknown) => master === undefined || String(info).includes("master_link_status:up");
    while (!isUp(await server.command("INFO", "replication").catch(() => ""))) await Bun.sleep(POLL);
    while ((await server.command("PING").catch(() => "")) !== "PONG") await Bun.sleep(POLL);
    return server;
  }

  private constructor(host: Host) {
    this.#host = host;
  }

  async command(name: string, ...words: string[]): Promise<unknown> {
    const connection = new RedisClient(`redis://${this.#host.address}:6379`, { autoReconnect: false });
    try {
      await connection.connect();
      return await connection.send(name, words);
    } finally {
      connection.close();
    }
  }
}

const firstLine = (...words: string[]) => Bun.spawnSync(words).stdout.toString().trim().split("\n")[0] ?? "";

/** Which servers the drill uses. */
export function serverVersions(): string[] {
  const versions = [firstLine(join(programs(), "postgres"), "--version"), firstLine(valkey as string, "--version")];
  return versions.map((version) => version.replace(/ sha=.*/, ""));
}
