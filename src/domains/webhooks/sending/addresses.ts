import { BlockList, isIP, isIPv6 } from "node:net";
import type { Refusal } from "../webhooks.schemas.ts";

/**
 * Networks whose addresses do not belong to one machine on the internet, from the IANA registries of special-purpose
 * (RFC 6890) and multicast addresses. Global parts of them, such as AMT and AS112 anycast, are included: no webhook
 * receiver uses them.
 */
const specialIpv4 = [
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private use
  "100.64.0.0/10", // shared by customers of a provider (CGNAT)
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local, and the metadata services of clouds
  "172.16.0.0/12", // private use
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.31.196.0/24", // AS112
  "192.52.193.0/24", // AMT
  "192.88.99.0/24", // relays of 6to4
  "192.168.0.0/16", // private use
  "192.175.48.0/24", // AS112
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
] as const;

/**
 * The part of IPv6 from which machines get global addresses. Loopback, link-local, unique local, multicast, IPv4-mapped
 * and IPv4-compatible addresses and both NAT64 prefixes are outside it.
 */
const globalUnicastIpv6 = "2000::/3";

/** Special-purpose networks inside that part. */
const specialIpv6 = [
  "2001::/23", // protocol assignments: Teredo, benchmarks, ORCHID
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4: the next 32 bits are an IPv4 address
  "2620:4f:8000::/48", // AS112
  "3fff::/20", // documentation
] as const;

export interface AddressRules {
  /** Allows receivers on the same machine, and http. */
  readonly isDevelopment: boolean;
  /** Addresses and networks in CIDR notation that the operator does not allow. */
  readonly denied: readonly string[];
}

const special = networks([...specialIpv4, ...specialIpv6]);
const globalUnicast = networks(["0.0.0.0/0", globalUnicastIpv6]);
const loopback = networks(["127.0.0.0/8", "::1"]);

/** Decides which addresses may receive webhooks, so that no client reaches the service's own network through it (SSRF). */
export class AddressPolicy {
  readonly #isDevelopment: boolean;
  readonly #denied: Networks;

  constructor({ isDevelopment, denied }: AddressRules) {
    this.#isDevelopment = isDevelopment;
    this.#denied = networks(denied);
  }

  /**
   * Why the policy refuses a URL, judged by the URL alone. The URL parser has already normalized every spelling of an
   * IPv4 address, such as `0x7f.1`.
   */
  refusalOfUrl(text: string): Refusal | undefined {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined) return "url_invalid";
    if (url.protocol !== "https:" && !(this.#isDevelopment && url.protocol === "http:")) return "url_not_https";
    if (url.username !== "" || url.password !== "") return "url_has_credentials";
    const port = Number(url.port || 443);
    if (port < 1024 && port !== 443 && port !== 80) return "url_port_refused";
    const host = hostOf(url);
    if (isIP(host) !== 0) return this.refusalOf(host);
    return isLocalhost(host) ? this.refusalOf("127.0.0.1") : undefined;
  }

  /** Why the policy refuses an IP address. */
  refusalOf(address: string): Refusal | undefined {
    if (isIn(this.#denied, address)) return "address_denied";
    const isAllowed =
      (this.#isDevelopment && isIn(loopback, address)) || (isIn(globalUnicast, address) && !isIn(special, address));
    return isAllowed ? undefined : "address_not_global";
  }
}

/** The host of a URL: an IP address, or a name without a trailing dot. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

/** True for the names of this machine (RFC 6761). */
export function isLocalhost(name: string): boolean {
  return /(^|\.)localhost$/.test(name);
}

/** One list for each version: a list of both matches an IPv4-mapped IPv6 address against its IPv4 entries. */
type Networks = Readonly<Record<4 | 6, BlockList>>;

function networks(texts: readonly string[]): Networks {
  const lists = { 4: new BlockList(), 6: new BlockList() };
  for (const text of texts) {
    const [address = "", prefix] = text.split("/");
    const version = isIPv6(address) ? 6 : 4;
    lists[version].addSubnet(address, Number(prefix ?? (version === 6 ? 128 : 32)), `ipv${version}`);
  }
  return lists;
}

/** False for a text that is not an address. Without this check, `BlockList` would read `127.1` as one. */
function isIn(lists: Networks, address: string): boolean {
  const version = isIP(address) as 0 | 4 | 6;
  return version !== 0 && lists[version].check(address, `ipv${version}`);
}
