import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newKeyIn } from "../harness/keys.ts";
import { Program, serveCommand } from "../harness/program.ts";
import { UNLIMITED } from "../harness/unlimited.ts";
import { LimitedClient } from "./load.ts";
import { Network } from "./network.ts";
import { startNginx } from "./nginx.ts";
import { Relay } from "./relay.ts";
import { DatabaseServer, LimitServer } from "./servers.ts";

const PORT = 8080;
const faketime = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"].map((folder) =>
  join(folder, "faketime/libfaketime.so.1"),
);
/** The address of Valkey's master, which moves from one machine to the other. */
const LIMITS = 30;

/** Which of its servers the service reaches through a relay, and whether a machine's clock can be set. */
export interface Options {
  readonly relay?: "database" | "limits";
  readonly canSetClock?: boolean;
}

/** Three machines with the service, PostgreSQL with a synchronous standby, Valkey with a replica, and a proxy. */
export class Testbed {
  readonly network = new Network();
  readonly services = [11, 12, 13].map((number) => this.network.host(number));
  readonly primary = this.network.host(21);
  readonly standby = this.network.host(22);
  readonly master = this.network.host(31);
  readonly replica = this.network.host(32);
  readonly proxyHost = this.network.host(10);
  databases: DatabaseServer[] = [];
  limits: LimitServer[] = [];
  relay: Relay | undefined;
  /** A key whose limits no test reaches, and a key whose account has few requests a minute. */
  keys = { unlimited: "", limited: "" };
  readonly folder = mkdtempSync(join(tmpdir(), "petstore-testbed-"));
  #proxy: Bun.Subprocess | undefined;

  static async start(cluster: string, options: Options = {}): Promise<Testbed> {
    const testbed = new Testbed();
    try {
      await testbed.#start(cluster, options);
      return testbed;
    } catch (error) {
      await testbed.remove();
      throw error;
    }
  }

  get base(): string {
    return `http://${this.proxyHost.address}:${PORT}/v1`;
  }

  get limitsAddress(): string {
    return this.network.addressOf(LIMITS);
  }

  /** The replica becomes the master, and takes its address. */
  async promoteReplica(): Promise<void> {
    await this.limits[1]?.command("REPLICAOF", "NO", "ONE");
    this.replica.takeAddress(this.limitsAddress);
    for (const host of this.services) host.forgetNeighbours();
  }

  /** Sets the clock of the third machine so far ahead, such as `+1h`. */
  setClock(offset: string): void {
    writeFileSync(join(this.folder, "clock"), offset);
  }

  async startProxy(): Promise<void> {
    this.#proxy = startNginx(join(this.folder, "proxy"), this.proxyHost, PORT, this.services);
    while (!(await fetch(new URL("/openapi.json", this.base)).catch(() => undefined))?.ok) await Bun.sleep(20);
  }

  async killProxy(): Promise<void> {
    this.proxyHost.killAll();
    await this.#proxy?.exited;
  }

  async remove(): Promise<void> {
    this.relay?.stop();
    this.network.remove();
    for (const database of this.databases) database.remove();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #start(cluster: string, { relay, canSetClock }: Options): Promise<void> {
    this.databases.push(await DatabaseServer.start(this.primary, cluster));
    this.databases.push(await DatabaseServer.start(this.standby, cluster, this.primary.address));
    await this.databases[0]?.awaitStandby();
    this.master.takeAddress(this.limitsAddress);
    this.limits = [await LimitServer.start(this.master), await LimitServer.start(this.replica, this.master.address)];
    const settings = await this.#settings(relay);
    for (const [index, host] of this.services.entries()) {
      const own = { ...settings, PETSTORE_HOST: host.address, PETSTORE_PORT: String(PORT) };
      const clock = canSetClock && index === 2 ? this.#clock() : {};
      const dataDir = join(this.folder, `data-${index}`);
      mkdirSync(dataDir);
      await Program.start(dataDir, { ...own, ...clock }, host.command(...serveCommand));
    }
    this.keys = {
      unlimited: await this.#key(settings, UNLIMITED),
      limited: await this.#key(settings, LimitedClient.limit),
    };
    await this.startProxy();
  }

  async #settings(relay: Options["relay"]): Promise<Record<string, string>> {
    const own = this.network.ownAddress;
    let databases = `${this.primary.address},${this.standby.address}`;
    let limits = `${this.limitsAddress}:6379`;
    if (relay === "database") {
      this.relay = await Relay.start(own, this.primary.address, 5432);
      databases = `${own}:${this.relay.port}`;
    } else if (relay === "limits") {
      this.relay = await Relay.start(own, this.limitsAddress, 6379);
      limits = `${own}:${this.relay.port}`;
    }
    return {
      PETSTORE_ENV: "production",
      PETSTORE_BASE_URL: this.base,
      PETSTORE_DATABASE_URL: `postgres://petstore@${databases}/postgres`,
      PETSTORE_VALKEY_URL: `redis://${limits}`,
      PETSTORE_TRUSTED_PROXIES: this.proxyHost.address,
    };
  }

  #clock(): Record<string, string> {
    this.setClock("+0");
    return {
      LD_PRELOAD: faketime.find((path) => Bun.file(path).size > 0) as string,
      FAKETIME_TIMESTAMP_FILE: join(this.folder, "clock"),
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
  }

  async #key(settings: Record<string, string>, perMinute: number): Promise<string> {
    return (await newKeyIn(this.folder, { quota: { perMinute, perDay: UNLIMITED }, settings })).key;
  }
}

export const hasFaketime = faketime.some((path) => Bun.file(path).size > 0);
