import { encodeCommand, type Reply, ReplyError } from "./resp.ts";
import { ValkeyLink } from "./valkey-link.ts";
import type { ValkeyAddress, ValkeyNode } from "./valkey-url.ts";

const SLOTS = 16_384;
/** How often the cluster is asked which server holds what, in milliseconds. */
const REFRESH = 1_000;
/** How often a command is sent on to another server. */
const REDIRECTIONS = 3;
/** Time between two attempts to ask for keys of which some are being moved, in milliseconds. */
const PAUSE = 5;

const asking = encodeCommand("ASKING");
const slots = encodeCommand("CLUSTER", "SLOTS");

/** A cluster: each key is in one of its slots, each slot on one of its masters (Redis cluster specification). */
export class ValkeyCluster {
  readonly #address: ValkeyAddress;
  readonly #silence: number;
  readonly #links = new Map<string, ValkeyLink>();
  readonly #refreshes: Timer;
  /** The master of each slot. */
  #owners: readonly (ValkeyLink | undefined)[] = [];
  #masters: ReadonlySet<ValkeyLink> = new Set();
  /** Servers that commands were sent on to lately. One that gets its first slot has none yet. */
  readonly #redirectedTo = new Set<ValkeyLink>();
  #isRefreshing = false;
  #isClosed = false;
  #turn = 0;

  /** Connects to the servers that the address names and, as soon as one of them has told, to all masters. */
  static async open(address: ValkeyAddress, silence: number): Promise<ValkeyCluster> {
    const cluster = new ValkeyCluster(address, silence);
    await Promise.race(cluster.#named().map((link) => link.hasOpened()));
    await cluster.#refresh();
    return cluster;
  }

  private constructor(address: ValkeyAddress, silence: number) {
    this.#address = address;
    this.#silence = silence;
    this.#refreshes = setInterval(() => void this.#refresh(), REFRESH);
  }

  /** Sends a command to the master that holds the key, and to where that sends it on. Rejects as a link does. */
  async ask(key: string, command: string): Promise<Reply> {
    let link = this.#owners[slotOf(key)];
    if (!link) throw new Error("It is not known which server of the cluster holds the key.");
    const begun = performance.now();
    let isForOnce = false;
    for (let redirections = 0; ; ) {
      try {
        if (isForOnce) link.ask(asking).catch(() => {}); // what follows fails as well
        return await link.ask(command);
      } catch (error) {
        if (isBeingMoved(error) && performance.now() - begun < this.#silence) {
          await Bun.sleep(PAUSE);
          continue;
        }
        const redirection = redirectionOf(error, link.node);
        if (!redirection || redirections++ === REDIRECTIONS || this.#isClosed) throw error;
        ({ isForOnce } = redirection);
        link = this.#linkTo(redirection.node);
        this.#redirectedTo.add(link);
        await link.hasOpened();
        if (!isForOnce) void this.#refresh();
      }
    }
  }

  /** Resolves when every master has answered. */
  async ping(): Promise<void> {
    if (this.#masters.size === 0) throw new Error("No server of the cluster has told which masters there are.");
    await Promise.all([...this.#masters].map((link) => link.ping()));
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#refreshes);
    for (const link of this.#links.values()) link.close();
  }

  #named(): ValkeyLink[] {
    return this.#address.nodes.map((node) => this.#linkTo(node));
  }

  #linkTo(node: ValkeyNode): ValkeyLink {
    const name = `${node.host}:${node.port}`;
    let link = this.#links.get(name);
    if (!link) {
      link = new ValkeyLink(node, this.#address.login, this.#silence);
      this.#links.set(name, link);
    }
    return link;
  }

  /** Asks the servers in turn which master holds what. */
  async #refresh(): Promise<void> {
    const open = [...this.#links.values()].filter(({ isOpen }) => isOpen);
    const asked = open[this.#turn++ % open.length];
    if (!asked || this.#isRefreshing) return;
    this.#isRefreshing = true;
    try {
      const owners: (ValkeyLink | undefined)[] = Array.from({ length: SLOTS });
      const masters = new Set<ValkeyLink>();
      for (const { first, last, node } of rangesOf(await asked.ask(slots), asked.node)) {
        if (this.#isClosed) return;
        const master = this.#linkTo(node);
        masters.add(master);
        owners.fill(master, first, last + 1);
      }
      if (masters.size === 0) return; // it is not of the cluster, or not any more
      await Promise.all([...masters].map((master) => master.hasOpened()));
      this.#owners = owners;
      this.#masters = masters;
      this.#forgetOthers();
    } catch {
      // Another one is asked next time.
    } finally {
      this.#isRefreshing = false;
    }
  }

  /** Lets go of servers that are no masters, were not named, and are not used either. */
  #forgetOthers(): void {
    const kept = new Set([...this.#masters, ...this.#named(), ...this.#redirectedTo]);
    this.#redirectedTo.clear();
    for (const [name, link] of this.#links) {
      if (kept.has(link)) continue;
      link.close();
      this.#links.delete(name);
    }
  }
}

/** Slots of one master, the first and the last one included. */
interface SlotRange {
  readonly first: number;
  readonly last: number;
  readonly node: ValkeyNode;
}

/** What `CLUSTER SLOTS` tells. */
function rangesOf(reply: Reply, asked: ValkeyNode): SlotRange[] {
  return (reply as [number, number, [string | null, number]][]).map(([first, last, [host, port]]) => ({
    first,
    last,
    node: { host: knownHost(host, asked), port },
  }));
}

/** True while some of a command's keys are with one server and some with another. */
function isBeingMoved(error: unknown): boolean {
  return error instanceof ReplyError && error.message.startsWith("TRYAGAIN ");
}

/** Where the server says that the slot is (`MOVED`), or that this one command has to go (`ASK`). */
function redirectionOf(error: unknown, asked: ValkeyNode): { isForOnce: boolean; node: ValkeyNode } | undefined {
  if (!(error instanceof ReplyError)) return undefined;
  const [, how, host, port] = /^(MOVED|ASK) [0-9]+ (.*):([0-9]+)$/.exec(error.message) ?? [];
  if (!how) return undefined;
  return { isForOnce: how === "ASK", node: { host: knownHost(host, asked), port: Number(port) } };
}

/** A server that does not know its own name leaves it out, or says `?`. */
function knownHost(told: string | null | undefined, asked: ValkeyNode): string {
  return told && told !== "?" ? told : asked.host;
}

/** The slot of a key: CRC-16/XMODEM of what is between its first braces, or of all of it. */
export function slotOf(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(/^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  }
  return (crc & 0xffff) % SLOTS;
}
