import { BlockList, isIP } from "node:net";

/**
 * Names the client that a request without a valid key is counted for: an IPv4 address, or the first
 * 64 bits of an IPv6 address, because a single customer commonly has that many addresses.
 *
 * `X-Forwarded-For` is believed only as far as proxies that the operator trusts wrote it: from its
 * end, the first address that is no trusted proxy is the client.
 */
export class ClientAddresses {
  readonly #trusted: BlockList | undefined;

  /** `proxies`: addresses or networks (`10.0.0.0/8`) whose `X-Forwarded-For` is believed. */
  constructor(proxies: readonly string[]) {
    if (proxies.length === 0) return;
    this.#trusted = new BlockList();
    for (const proxy of proxies) {
      const [address = "", prefix] = proxy.split("/");
      const family = isIP(address) === 6 ? "ipv6" : "ipv4";
      this.#trusted.addSubnet(address, Number(prefix ?? (family === "ipv6" ? 128 : 32)), family);
    }
  }

  of(peer: string, forwardedFor: string | null): string {
    let client = unmapped(peer);
    if (this.#trusted && forwardedFor !== null) {
      const hops = forwardedFor.split(",").map((hop) => unmapped(hop.trim()));
      while (this.#isTrusted(client) && hops.length > 0) {
        const hop = hops.pop() as string;
        if (isIP(hop) === 0) break;
        client = hop;
      }
    }
    return isIP(client) === 6 ? network64(client) : client;
  }

  #isTrusted(address: string): boolean {
    return this.#trusted?.check(address, isIP(address) === 6 ? "ipv6" : "ipv4") ?? false;
  }
}

/** True for an address or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^[0-9]{1,3}$/.test(prefix) && Number(prefix) <= (version === 6 ? 128 : 32));
}

/** An IPv4 address that is written as IPv6 (`::ffff:192.0.2.1`) is that IPv4 address. */
function unmapped(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** The first four groups of an IPv6 address. */
function network64(address: string): string {
  const [head = "", tail = ""] = address.replace(/%.*$/, "").split("::");
  const groups = head === "" ? [] : head.split(":");
  if (address.includes("::")) {
    const behind = tail === "" ? [] : tail.split(":");
    while (groups.length + behind.length < 8) groups.push("0");
    groups.push(...behind);
  }
  const first = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${first.join(":")}::/64`;
}
