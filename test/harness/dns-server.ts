import { createSocket, type Socket } from "node:dgram";
import { promises } from "node:dns";
import { isIPv4 } from "node:net";

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NAME_ERROR = 3;
export const REFUSED = 5;

/** The addresses of a name at its nth look-up, counted from 1; none for a server that does not answer. */
type Answer = (lookup: number) => readonly string[];

/** A DNS server of a test (RFC 1035), for IPv4 and IPv6 addresses. It uses UDP, and its answers must not be cached. */
export class DnsServer {
  /** The names that were looked up, in order. Looking up both kinds of addresses counts once. */
  readonly lookups: string[] = [];
  readonly #names: Readonly<Record<string, Answer>>;
  readonly #unknown: number;
  readonly #socket: Socket;
  readonly #resolver = new promises.Resolver({ timeout: 60_000, tries: 1 });

  /** `unknown` is the response code for other names. */
  static async start(names: Readonly<Record<string, Answer>>, unknown = NAME_ERROR): Promise<DnsServer> {
    const socket = createSocket("udp4");
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.bind(0, "127.0.0.1", resolve);
    await promise;
    return new DnsServer(names, unknown, socket);
  }

  private constructor(names: Readonly<Record<string, Answer>>, unknown: number, socket: Socket) {
    this.#names = names;
    this.#unknown = unknown;
    this.#socket = socket;
    this.#resolver.setServers([this.address]);
    socket.on("message", (query, { port, address }) => {
      const reply = this.#reply(query);
      if (reply) socket.send(reply, port, address);
    });
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  /** Looks a name up at this server: all its addresses. */
  readonly resolve = async (name: string): Promise<readonly string[]> => {
    const kinds = [this.#resolver.resolve4(name), this.#resolver.resolve6(name)];
    return (await Promise.all(kinds.map((kind) => kind.catch(() => [])))).flat();
  };

  stop(): void {
    this.#resolver.cancel();
    this.#socket.close();
  }

  #reply(query: Buffer): Buffer | undefined {
    const { name, end } = readName(query);
    const type = query.readUInt16BE(end);
    if (type === TYPE_A) this.lookups.push(name);
    const answer = this.#names[name];
    const addresses = answer?.(this.lookups.filter((other) => other === name).length) ?? [];
    if (answer && addresses.length === 0) return undefined;
    const records = addresses.filter((address) => (isIPv4(address) ? TYPE_A : TYPE_AAAA) === type).map(recordOf);
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180 | (answer ? 0 : this.#unknown), 2); // a response, recursion available
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    return Buffer.concat([head, query.subarray(12, end + 4), ...records]);
  }
}

/** The name that a query asks for, and where it ends. */
function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let position = 12;
  for (let length = query[position] ?? 0; length > 0; length = query[position] ?? 0) {
    labels.push(query.toString("latin1", position + 1, position + 1 + length));
    position += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: position + 1 };
}

/** A record for the name of the query, with an address that must not be cached. */
function recordOf(address: string): Buffer {
  const bytes = isIPv4(address) ? address.split(".").map(Number) : groupsOf(address);
  const head = Buffer.from([0xc0, 12, 0, isIPv4(address) ? TYPE_A : TYPE_AAAA, 0, 1, 0, 0, 0, 0, 0, bytes.length]);
  return Buffer.concat([head, Buffer.from(bytes)]);
}

/** The bytes of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [front = [], back = []] = address.split("::").map((half) => half.split(":").filter((group) => group !== ""));
  const middle = Array<string>(8 - front.length - back.length).fill("0");
  return [...front, ...middle, ...back].flatMap((group) => {
    const number = Number.parseInt(group, 16);
    return [number >> 8, number & 255];
  });
}
