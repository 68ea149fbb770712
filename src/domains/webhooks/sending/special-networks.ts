/**
 * Networks whose addresses do not belong to one machine on the internet, from the IANA registries of special-purpose
 * (RFC 6890) and multicast addresses. Global parts of them, such as AMT and AS112 anycast, are included: no webhook
 * receiver uses them.
 */
export const specialIpv4 = [
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
export const globalUnicastIpv6 = "2000::/3";

/** Special-purpose networks inside that part. */
export const specialIpv6 = [
  "2001::/23", // protocol assignments: Teredo, benchmarks, ORCHID
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4: the next 32 bits are an IPv4 address
  "2620:4f:8000::/48", // AS112
  "3fff::/20", // documentation
] as const;
