import { readdirSync } from "node:fs";

/** Addresses for measurements between networks (RFC 2544), which no machine has. */
const PREFIX = "198.18";
/** The last number of the address that this process has on the network. */
const OWN = 254;

function run(...words: string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync(words);
  if (!success) throw new Error(`${words.join(" ")}: ${stderr.toString()}`);
  return stdout.toString();
}

/** Whether this machine permits network namespaces and filters in them. */
export function canMakeNetworks(): boolean {
  if (process.getuid?.() !== 0 || !Bun.which("ip") || !Bun.which("nft")) return false;
  const name = `drill-${process.pid}`;
  const { success } = Bun.spawnSync(["ip", "netns", "add", name]);
  const filters = success && Bun.spawnSync(["ip", "netns", "exec", name, "nft", "add", "table", "ip", "drill"]).success;
  if (success) run("ip", "netns", "del", name);
  return filters;
}

/** A machine: a network namespace with its own address. */
export class Host {
  readonly address: string;
  readonly #namespace: string;

  constructor(network: Network, number: number) {
    this.#namespace = `${network.name}-${number}`;
    this.address = network.addressOf(number);
    const outer = `${network.name}p${number}`;
    run("ip", "netns", "add", this.#namespace);
    const peer = ["peer", "name", outer, "netns", network.hub];
    run("ip", "link", "add", "eth0", "netns", this.#namespace, "type", "veth", ...peer);
    run("ip", "-n", network.hub, "link", "set", outer, "master", "bridge", "up");
    this.#ip("link", "set", "lo", "up");
    this.#ip("link", "set", "eth0", "up");
    this.takeAddress(this.address);
    this.#nft("add table ip drill");
    for (const hook of ["input", "output"])
      this.#nft(`add chain ip drill ${hook} { type filter hook ${hook} priority 0; }`);
  }

  /** A command that runs on this machine. */
  command(...words: string[]): string[] {
    return ["ip", "netns", "exec", this.#namespace, ...words];
  }

  /** Drops every packet from and to other machines, without an error message. */
  cutFrom(...addresses: string[]): void {
    for (const address of addresses) {
      this.#nft(`add rule ip drill input ip saddr ${address} drop`);
      this.#nft(`add rule ip drill output ip daddr ${address} drop`);
    }
  }

  /** Ends all cuts. */
  heal(): void {
    this.#nft("flush table ip drill");
  }

  takeAddress(address: string): void {
    this.#ip("addr", "add", `${address}/24`, "dev", "eth0");
  }

  /** Forgets which machine has which address, as an announcement by the machine that took one makes others do. */
  forgetNeighbours(): void {
    this.#ip("neigh", "flush", "all");
  }

  /** The machine fails: its processes are killed, and it does not respond. */
  die(): void {
    this.#ip("link", "set", "eth0", "down");
    this.killAll();
  }

  killAll(): void {
    for (const pid of run("ip", "netns", "pids", this.#namespace).split(/\s+/).filter(Boolean)) {
      try {
        process.kill(Number(pid), "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    }
  }

  remove(): void {
    this.killAll();
    run("ip", "netns", "del", this.#namespace);
  }

  #ip(...words: string[]): void {
    run("ip", "-n", this.#namespace, ...words);
  }

  #nft(rule: string): void {
    run(...this.command("nft", rule));
  }
}

/** A network of machines, which this process is connected to. */
export class Network {
  readonly name = `pd${process.pid}`;
  readonly hub = `${this.name}-hub`;
  readonly #hosts: Host[] = [];
  readonly #subnet: number;

  constructor() {
    const used = run("ip", "-o", "addr");
    this.#subnet = 1 + (process.pid % 200);
    while (used.includes(` ${PREFIX}.${this.#subnet}.`)) this.#subnet++;
    run("ip", "netns", "add", this.hub);
    run("ip", "-n", this.hub, "link", "add", "bridge", "type", "bridge");
    run("ip", "-n", this.hub, "link", "set", "bridge", "up");
    run("ip", "link", "add", this.name, "type", "veth", "peer", "name", "outside", "netns", this.hub);
    run("ip", "-n", this.hub, "link", "set", "outside", "master", "bridge", "up");
    run("ip", "addr", "add", `${this.ownAddress}/24`, "dev", this.name);
    run("ip", "link", "set", this.name, "up");
  }

  /** The address of this process. */
  get ownAddress(): string {
    return this.addressOf(OWN);
  }

  addressOf(number: number): string {
    return `${PREFIX}.${this.#subnet}.${number}`;
  }

  /** Adds a machine whose address ends with the number. */
  host(number: number): Host {
    const host = new Host(this, number);
    this.#hosts.push(host);
    return host;
  }

  remove(): void {
    for (const host of this.#hosts) host.remove();
    run("ip", "netns", "del", this.hub);
    while (readdirSync("/sys/class/net").includes(this.name)) Bun.sleepSync(10); // it goes with its other end
  }
}
