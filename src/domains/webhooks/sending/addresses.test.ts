import { describe, expect, test } from "bun:test";
import type { Refusal } from "../webhooks.schemas.ts";
import { AddressPolicy } from "./addresses.ts";

const production = new AddressPolicy({ isDevelopment: false, denied: [] });
const development = new AddressPolicy({ isDevelopment: true, denied: [] });

/** The first and the last address of each network. */
const notGlobal = [
  ["this network", "0.0.0.0", "0.255.255.255"],
  ["private use, 10/8", "10.0.0.0", "10.255.255.255"],
  ["CGNAT", "100.64.0.0", "100.127.255.255"],
  ["loopback", "127.0.0.0", "127.255.255.255"],
  ["link-local", "169.254.0.0", "169.254.255.255"],
  ["private use, 172.16/12", "172.16.0.0", "172.31.255.255"],
  ["protocol assignments", "192.0.0.0", "192.0.0.255"],
  ["documentation, 192.0.2/24", "192.0.2.0", "192.0.2.255"],
  ["AS112, 192.31.196/24", "192.31.196.0", "192.31.196.255"],
  ["AMT", "192.52.193.0", "192.52.193.255"],
  ["relays of 6to4", "192.88.99.0", "192.88.99.255"],
  ["private use, 192.168/16", "192.168.0.0", "192.168.255.255"],
  ["AS112, 192.175.48/24", "192.175.48.0", "192.175.48.255"],
  ["benchmarks", "198.18.0.0", "198.19.255.255"],
  ["documentation, 198.51.100/24", "198.51.100.0", "198.51.100.255"],
  ["documentation, 203.0.113/24", "203.0.113.0", "203.0.113.255"],
  ["multicast", "224.0.0.0", "239.255.255.255"],
  ["reserved", "240.0.0.0", "255.255.255.255"],
  ["unspecified and loopback of IPv6", "::", "::1"],
  ["IPv4-compatible", "::8.8.8.8", "::ffff:ffff"],
  ["IPv4-mapped", "::ffff:0.0.0.0", "::ffff:255.255.255.255"],
  ["IPv4-mapped, of a global address", "::ffff:8.8.8.8", "::ffff:808:808"],
  ["IPv4-translated", "::ffff:0:0.0.0.0", "::ffff:0:255.255.255.255"],
  ["NAT64", "64:ff9b::", "64:ff9b::ffff:ffff"],
  ["local NAT64", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"],
  ["discard", "100::", "100::ffff:ffff:ffff:ffff"],
  ["below what is given out", "::2", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["Teredo and other protocols", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["documentation, 2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["6to4", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["AS112, 2620:4f:8000::/48", "2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff"],
  ["documentation, 3fff::/20", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["above what is given out", "4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["unique local", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["link-local of IPv6", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["link-local with a zone", "fe80::1%eth0", "fe80::1%1"],
  ["site-local", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["multicast of IPv6", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
] as const;

/** The addresses next to each network, which are global. They show that no network is too large. */
const global = `
  1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0
  172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.31.195.255 192.31.197.0 192.52.192.255
  192.52.194.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 192.175.47.255 192.175.49.0 198.17.255.255
  198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 2000:: 2001:200::
  2001:db7:ffff:: 2001:db9:: 2003:: 2620:4f:7fff:: 2620:4f:8001:: 3ffe:ffff:: 3fff:1000::
  3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`
  .trim()
  .split(/\s+/);

describe("an address", () => {
  test.each(notGlobal)("of %s is refused", (_name, first, last) => {
    expect([production.refusalOf(first), production.refusalOf(last)]).toEqual([
      "address_not_global",
      "address_not_global",
    ]);
  });

  test.each(global)("%s is global", (address) => {
    expect(production.refusalOf(address)).toBeUndefined();
  });

  test.each(["", "127.1", "8.8.8", "0x8080808", "example.com", "[2000::]", "8.8.8.8/32"])("%j is not one", (text) => {
    expect(development.refusalOf(text)).toBe("address_not_global");
  });

  test("of loopback is allowed in development, and no other that is not global", () => {
    const allowed = notGlobal.filter(([, first]) => development.refusalOf(first) === undefined);
    expect(allowed.map(([name]) => name)).toEqual(["loopback"]);
    expect(development.refusalOf("::1")).toBeUndefined();
    expect(development.refusalOf("::ffff:127.0.0.1")).toBe("address_not_global");
  });

  test("that the operator denies is denied in development, too", () => {
    for (const isDevelopment of [true, false]) {
      const policy = new AddressPolicy({ isDevelopment, denied: ["8.8.0.0/16", "9.9.9.9", "2620:fe::/48", "::1"] });
      const refused = ["8.8.0.0", "8.8.255.255", "9.9.9.9", "2620:fe::9", "::1"];
      expect(refused.map((address) => policy.refusalOf(address))).toEqual(refused.map(() => "address_denied"));
      expect(policy.refusalOf("8.9.0.0")).toBeUndefined();
      expect(policy.refusalOf("9.9.9.10")).toBeUndefined();
      expect(policy.refusalOf("2620:ff::9")).toBeUndefined();
    }
  });
});

describe("a URL", () => {
  const allowed = [
    "https://example.com",
    "https://example.com:443/hook?a=b#c",
    "https://example.com:80/hook",
    "https://example.com:1024/hook",
    "https://example.com:65535/hook",
    "HTTPS://EXAMPLE.COM./hook",
    "https://bücher.example/hook",
    "https://localhost.example.com/hook",
    "https://notlocalhost/hook",
    "https://8.8.8.8/hook",
    "https://[2000::1]:8443/hook",
  ];
  test.each(allowed)("%s is allowed", (url) => {
    expect([production.refusalOfUrl(url), development.refusalOfUrl(url)]).toEqual([undefined, undefined]);
  });

  const refused: readonly (readonly [string, Refusal])[] = [
    ["", "url_invalid"],
    ["example.com/hook", "url_invalid"],
    ["//example.com/hook", "url_invalid"],
    ["https://", "url_invalid"],
    ["https://256.1.1.1/", "url_invalid"],
    ["https://[fe80::1%25eth0]/", "url_invalid"],
    ["ftp://example.com/hook", "url_not_https"],
    ["file:///etc/passwd", "url_not_https"],
    ["unix:/run/socket", "url_not_https"],
    ["data:text/plain,x", "url_not_https"],
    ["https://user@example.com/hook", "url_has_credentials"],
    ["https://user:pass@example.com/hook", "url_has_credentials"],
    ["https://:pass@example.com/hook", "url_has_credentials"],
    ["https://example.com@8.8.8.8/hook", "url_has_credentials"],
    ["https://example.com:0/hook", "url_port_refused"],
    ["https://example.com:22/hook", "url_port_refused"],
    ["https://example.com:25/hook", "url_port_refused"],
    ["https://example.com:1023/hook", "url_port_refused"],
    ["https://10.0.0.1/hook", "address_not_global"],
    ["https://169.254.169.254/latest/meta-data/", "address_not_global"],
    ["https://100.64.0.1/hook", "address_not_global"],
    ["https://224.0.0.1/hook", "address_not_global"],
    ["https://[fe80::1]/hook", "address_not_global"],
    ["https://[fd00::1]/hook", "address_not_global"],
    ["https://[64:ff9b::7f00:1]/hook", "address_not_global"],
    ["https://[2002:7f00:1::]/hook", "address_not_global"],
    ["https://[::ffff:127.0.0.1]/hook", "address_not_global"],
    ["https://[::ffff:7f00:1]/hook", "address_not_global"],
    ["https://0/hook", "address_not_global"],
  ];
  test.each(refused)("%s is refused: %s", (url, code) => {
    expect([production.refusalOfUrl(url), development.refusalOfUrl(url)]).toEqual([code, code]);
  });

  /** Different spellings of a loopback address. */
  const loopback = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "2130706433",
    "017700000001",
    "0177.0.0.1",
    "0177.0x0.0.1",
    "0x7f000001",
    "0x7f.1",
    "127.0.0.0x1",
    "１２７.0.0.1",
    "127。0。0。1",
    "%31%32%37.0.0.1",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "ⓛocalhost",
    "a.localhost",
  ];
  test.each(loopback)("with the host %s is refused, except in development", (host) => {
    expect(production.refusalOfUrl(`https://${host}:8443/hook`)).toBe("address_not_global");
    expect(production.refusalOfUrl(`http://${host}:8080/hook`)).toBe("url_not_https");
    expect(development.refusalOfUrl(`https://${host}:8443/hook`)).toBeUndefined();
    expect(development.refusalOfUrl(`http://${host}:8080/hook`)).toBeUndefined();
  });

  test("with an address that the operator denies is denied", () => {
    const policy = new AddressPolicy({ isDevelopment: true, denied: ["8.8.8.0/24", "127.0.0.1"] });
    expect(policy.refusalOfUrl("https://0x08.8.2056/hook")).toBe("address_denied");
    expect(policy.refusalOfUrl("http://localhost:8080/hook")).toBe("address_denied");
  });
});
