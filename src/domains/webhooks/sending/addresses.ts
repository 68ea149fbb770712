import { BlockList, isIP, isIPv6 } from "node:net";
import type { Refusal } from "../webhooks.schemas.ts";
import { globalUnicastIpv6, specialIpv4, specialIpv6 } from "./special-networks.ts";

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
    return /(^|\.)localhost$/.test(host) ? this.refusalOf("127.0.0.1") : undefined;
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
