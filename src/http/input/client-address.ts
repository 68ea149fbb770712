import { BlockList, isIP } from "node:net";

/** Knows the addresses of peers; the server implements it. */
export interface PeerAddresses {
  /** The address of the peer; null if the connection has ended. */
  requestIP(request: Request): { readonly address: string } | null;
}

/** The most proxies of a chain that are looked at: a client can send thousands of their addresses. */
const MAX_HOPS = 32;

/**
 * Finds the address that a request without a valid key is counted for: an IPv4 address, or the first
 * 64 bits of an IPv6 address, because one customer commonly has all addresses that start with them.
 *
 * Only the part of `X-Forwarded-For` that trusted proxies wrote is used. Read from its end, the first address that is
 * not a trusted proxy is the client.
 */
export class ClientAddresses {
  /**
   * The address of every client if it does not depend on the request: the service listens on a loopback address, so that
   * all peers are on this machine, and none of them is a proxy.
   */
  readonly fixed: string | undefined;
  readonly #fixedPeer: string | undefined;
  readonly #trusted: BlockList | undefined;

  /**
   * `proxies` are trusted addresses or networks, such as `10.0.0.0/8`. `host` is the address on which the service
   * listens.
   */
  constructor(proxies: readonly string[], host: string) {
    this.#fixedPeer = host === "127.0.0.1" || host === "::1" ? host : undefined;
    if (proxies.length === 0) {
      this.fixed = this.#fixedPeer && this.of(this.#fixedPeer, null);
      return;
    }
    this.#trusted = new BlockList();
    for (const proxy of proxies) {
      const [address = "", prefix] = proxy.split("/");
      const family = isIP(address) === 6 ? "ipv6" : "ipv4";
      this.#trusted.addSubnet(address, Number(prefix ?? (family === "ipv6" ? 128 : 32)), family);
    }
  }

  /** The address of the client that sent a request. It can be a system call. */
  ofRequest(request: Request, peers: PeerAddresses): string {
    const peer = this.#fixedPeer ?? peers.requestIP(request)?.address ?? ""; // empty if the connection has ended
    return this.of(peer, this.#trusted ? request.headers.get("x-forwarded-for") : null);
  }

  /** The address of a client, from that of its peer and the request's `X-Forwarded-For`. */
  of(peer: string, forwardedFor: string | null): string {
    const nearest = unmapped(peer);
    const client = this.#trusted && forwardedFor !== null ? this.#behind(nearest, forwardedFor) : nearest;
    return isV6(client) ? network64(client) : client;
  }

  /** The first address that is not a trusted proxy, starting with the peer. */
  #behind(peer: string, hops: string): string {
    let client = peer;
    let end = hops.length;
    for (let hop = 0; hop < MAX_HOPS && end >= 0 && this.#isTrusted(client); hop++) {
      const comma = hops.lastIndexOf(",", end - 1);
      const before = unmapped(withoutPort(hops.slice(comma + 1, end).trim()));
      if (isIP(before) === 0) break;
      client = before;
      end = comma;
    }
    return client;
  }

  #isTrusted(address: string): boolean {
    return this.#trusted?.check(address, isV6(address) ? "ipv6" : "ipv4") ?? false;
  }
}

/** Distinguishes IPv4 from IPv6. */
function isV6(address: string): boolean {
  return address.includes(":");
}

/** True for an address or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^[0-9]{1,3}$/.test(prefix) && Number(prefix) <= (version === 6 ? 128 : 32));
}

/** The address in a hop, to which some proxies add a port: `192.0.2.1:443`, `[2001:db8::1]:443`. */
function withoutPort(hop: string): string {
  if (!hop.includes(":")) return hop;
  return /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}

/** An IPv4 address that is written as IPv6 (`::ffff:192.0.2.1`, `::ffff:c000:201`) is that IPv4 address. */
function unmapped(address: string): string {
  if (!isV6(address) || isIP(address) !== 6) return address;
  const groups = groupsOf(address);
  if (groups.slice(0, 6).join() !== "0,0,0,0,0,65535") return address;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join(".");
}

/** The first four groups of an IPv6 address. */
function network64(address: string): string {
  const first = groupsOf(address).slice(0, 4);
  return `${first.map((group) => group.toString(16)).join(":")}::/64`;
}

/** The eight numbers that an IPv6 address consists of. */
function groupsOf(address: string): number[] {
  const inHex = address.replace(/%.*$/, "").replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [front = [], back = []] = inHex
    .split("::")
    .map((half) => (half === "" ? [] : half.split(":").map((group) => Number.parseInt(group, 16))));
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
}
