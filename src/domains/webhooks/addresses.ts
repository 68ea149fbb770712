import { BlockList, isIP, isIPv6 } from "node:net";
import { globalUnicastIpv6, specialIpv4, specialIpv6 } from "./special-networks.ts";

/** Why nothing is sent to a URL, in words. */
export const refusals = {
  url_invalid: "It is not an absolute URL.",
  url_not_https: "It has to start with https://.",
  url_has_credentials: "It has a user name or a password in it.",
  url_port_refused: "Its port is below 1024 and neither 443 nor 80.",
  address_not_global: "Its host is, or its name leads to, an address that is not a machine's on the internet.",
  address_denied: "Its host is, or its name leads to, an address that the operator of the service does not allow.",
} as const;

/** The code of such a reason. */
export type Refusal = keyof typeof refusals;

export interface AddressRules {
  /** True in development only: receivers on the same machine, and http. */
  readonly isDevelopment: boolean;
  /** Addresses and networks in CIDR notation that the operator does not allow. */
  readonly denied: readonly string[];
}

const special = networks([...specialIpv4, ...specialIpv6]);
const globalUnicast = networks(["0.0.0.0/0", globalUnicastIpv6]);
const loopback = networks(["127.0.0.0/8", "::1"]);

/** Decides where webhooks may be sent to, so that nobody reaches through the service what only the service can reach. */
export class AddressPolicy {
  readonly #isDevelopment: boolean;
  readonly #denied: Networks;

  constructor({ isDevelopment, denied }: AddressRules) {
    this.#isDevelopment = isDevelopment;
    this.#denied = networks(denied);
  }

  /**
   * Why nothing is sent to a URL, as far as the URL shows it. Its parser has turned every spelling of an IPv4 address,
   * such as `0x7f.1`, into the common one.
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

  /** Why nothing is sent to an IP address. */
  refusalOf(address: string): Refusal | undefined {
    if (isIn(this.#denied, address)) return "address_denied";
    const isAllowed =
      (this.#isDevelopment && isIn(loopback, address)) || (isIn(globalUnicast, address) && !isIn(special, address));
    return isAllowed ? undefined : "address_not_global";
  }
}

/** The host of a URL: an IP address, or a name without the dot that can end it. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

/** One list for each kind: a list of both takes an IPv4-mapped address for the IPv4 address in it. */
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

/** False for a text that is no address: a list reads `127.1` as one. */
function isIn(lists: Networks, address: string): boolean {
  const version = isIP(address) as 0 | 4 | 6;
  return version !== 0 && lists[version].check(address, `ipv${version}`);
}
