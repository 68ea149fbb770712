import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RedisClient } from "bun";
import { freePort } from "./free-port.ts";
import { eventually } from "./program.ts";

const program = Bun.which("valkey-server") ?? Bun.which("redis-server");

/** Without a server, tests of shared limits are skipped. */
export const hasValkey = program !== null;

/** A Valkey or Redis server for tests. */
export class ValkeyServer {
  readonly port: number;
  readonly #folder = mkdtempSync(join(tmpdir(), "petstore-valkey-"));
  readonly #settings: readonly string[];
  #process: Bun.Subprocess;

  /** `settings` are words of the server's command line. */
  static async start(...settings: string[]): Promise<ValkeyServer> {
    const server = new ValkeyServer(freePort(), settings);
    await server.#untilReady();
    return server;
  }

  private constructor(port: number, settings: readonly string[]) {
    this.port = port;
    this.#settings = settings;
    this.#process = this.#spawn();
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Runs one command on a separate connection. */
  async command(name: string, ...words: (string | number)[]): Promise<unknown> {
    const connection = new RedisClient(this.url, { autoReconnect: false, enableOfflineQueue: false });
    try {
      await connection.connect();
      return await connection.send(name, words.map(String));
    } finally {
      connection.close();
    }
  }

  /** Pauses the process: it accepts connections, and does not respond. */
  freeze(): void {
    this.#process.kill("SIGSTOP");
  }

  thaw(): void {
    this.#process.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.exited;
  }

  /** Starts it again, empty, at the same port. */
  async restart(): Promise<void> {
    this.#process = this.#spawn();
    await this.#untilReady();
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #spawn(): Bun.Subprocess {
    const place = ["--bind", "127.0.0.1", "--port", String(this.port), "--dir", this.#folder];
    return Bun.spawn([program as string, ...place, "--save", "", "--appendonly", "no", ...this.#settings], {
      stdout: "ignore",
      stderr: "ignore",
    });
  }

  async #untilReady(): Promise<void> {
    const ping = () => this.command("PING").catch(() => undefined);
    await eventually(ping, (reply) => reply === "PONG" || this.#process.exitCode !== null);
    if (this.#process.exitCode !== null) throw new Error("The Valkey server did not start.");
  }
}

const SLOTS = 16_384;

/** How many masters a cluster has. */
const MASTERS = 3;

/** A cluster of three masters with a replica each. */
export class ValkeyCluster {
  readonly masters: readonly ValkeyServer[];
  readonly replicas: readonly ValkeyServer[];

  /** `nodeTimeout`: milliseconds after which a silent server counts as failed, and its replica takes over. */
  static async start(nodeTimeout = 15_000): Promise<ValkeyCluster> {
    const settings = ["--cluster-enabled", "yes", "--cluster-node-timeout", String(nodeTimeout)];
    const servers = await Promise.all(Array.from({ length: 2 * MASTERS }, () => ValkeyServer.start(...settings)));
    const cluster = new ValkeyCluster(servers.slice(0, MASTERS), servers.slice(MASTERS));
    await cluster.#form(servers);
    return cluster;
  }

  private constructor(masters: readonly ValkeyServer[], replicas: readonly ValkeyServer[]) {
    this.masters = masters;
    this.replicas = replicas;
  }

  get url(): string {
    return `redis://${this.masters.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.masters, ...this.replicas].map((server) => server.stop()));
  }

  async #form(servers: readonly ValkeyServer[]): Promise<void> {
    const [first] = servers;
    for (const server of servers.slice(1)) await server.command("CLUSTER", "MEET", "127.0.0.1", first?.port ?? 0);
    const share = Math.ceil(SLOTS / this.masters.length);
    for (const [index, master] of this.masters.entries()) {
      const last = Math.min(SLOTS, (index + 1) * share) - 1;
      await master.command("CLUSTER", "ADDSLOTSRANGE", index * share, last);
    }
    for (const [index, replica] of this.replicas.entries()) {
      const id = await this.masters[index]?.command("CLUSTER", "MYID");
      const follow = () => replica.command("CLUSTER", "REPLICATE", String(id)).catch(() => "");
      await eventually(follow, (reply) => reply === "OK"); // once it has heard of its master
    }
    const tells = (server: ValkeyServer, text: string, ...words: [string, string]) =>
      eventually(
        () => server.command(...words),
        (reply) => String(reply).includes(text),
      );
    for (const server of servers) await tells(server, "cluster_state:ok", "CLUSTER", "INFO");
    for (const replica of this.replicas) await tells(replica, "master_link_status:up", "INFO", "replication");
  }
}
