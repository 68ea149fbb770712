import { describe, expect, test } from "bun:test";
import { ClientAddresses } from "./client-address.ts";

const addresses = new ClientAddresses(["127.0.0.0/8", "10.0.0.0/8", "2001:db8:ffff::/48", "::1"], "0.0.0.0");

describe("the client of a peer that is not a proxy", () => {
  test.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::ffff:c000:201", "192.0.2.1"],
    ["0:0:0:0:0:FFFF:C000:0201", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["1:2:3:4:5:6:192.0.2.1", "1:2:3:4::/64"],
  ])("%s is counted as %s", (peer, client) => {
    expect(addresses.of(peer, "198.51.100.7")).toBe(client);
  });
});

describe("the client behind a trusted proxy", () => {
  test.each([
    ["198.51.100.7", "198.51.100.7"],
    ["198.51.100.7:5678", "198.51.100.7"],
    ["[2001:db8::1]:443", "2001:db8:0:0::/64"],
    ["[2001:db8::1]", "2001:db8:0:0::/64"],
    ["2001:db8:1:2:3:4:5:443", "2001:db8:1:2::/64"],
    ["::ffff:c633:6407", "198.51.100.7"],
    ["[::ffff:198.51.100.7]:80", "198.51.100.7"],
    ["203.0.113.5, 198.51.100.7", "198.51.100.7"],
    ["198.51.100.7:1, 10.1.2.3:2, [2001:db8:ffff::9]:3", "198.51.100.7"],
    ["198.51.100.7, nonsense", "127.0.0.1"],
    ["198.51.100.7, 10.1.2.3:nonsense", "127.0.0.1"],
    ["198.51.100.7, [10.1.2.3", "127.0.0.1"],
    ["10.1.2.3", "10.1.2.3"],
    ["", "127.0.0.1"],
  ])("that forwards for %j is counted as %s", (forwardedFor, client) => {
    expect(addresses.of("127.0.0.1", forwardedFor)).toBe(client);
  });
});

test.each(["::ffff:10.0.0.1", "::ffff:a00:1", "::ffff:10.0.0.0/104", "10.0.0.1"])(
  "a proxy that is trusted as %s is known by its IPv4 address, however the runtime writes it",
  (proxy) => {
    for (const peer of ["10.0.0.1", "::ffff:10.0.0.1"])
      expect(new ClientAddresses([proxy], "::").of(peer, "198.51.100.7")).toBe("198.51.100.7");
  },
);

test("X-Forwarded-For is ignored if no proxy is trusted", () => {
  expect(new ClientAddresses([], "0.0.0.0").of("127.0.0.1", "198.51.100.7")).toBe("127.0.0.1");
});

test.each([
  ["127.0.0.1", "127.0.0.1"],
  ["::1", "0:0:0:0::/64"],
  ["0.0.0.0", "192.0.2.1"],
  ["localhost", "192.0.2.1"],
])("a service that listens on %s knows the address of its peers, or looks it up: %s", (host, client) => {
  const peers = { requestIP: () => ({ address: "192.0.2.1" }) };
  const request = new Request("http://petstore/", { headers: { "X-Forwarded-For": "198.51.100.7" } });
  expect(new ClientAddresses([], host).ofRequest(request, peers)).toBe(client);
  expect(new ClientAddresses(["192.0.2.1"], "0.0.0.0").ofRequest(request, peers)).toBe("198.51.100.7");
});

test.each<[string[], string, string | undefined]>([
  [[], "127.0.0.1", "127.0.0.1"],
  [[], "::1", "0:0:0:0::/64"],
  [["127.0.0.1"], "127.0.0.1", undefined],
  [[], "0.0.0.0", undefined],
])("with the proxies %j, a service that listens on %s counts every client as %s", (proxies, host, client) => {
  expect(new ClientAddresses(proxies, host).fixed).toBe(client);
});
