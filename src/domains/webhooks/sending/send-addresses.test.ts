// The addresses that a message is sent to. A DNS server of the test resolves names; 127.0.0.2 is a forbidden address.
import { afterEach, describe, expect, test } from "bun:test";
import { DnsServer } from "../../../../test/harness/dns-server.ts";
import { message, network, RawReceiver, Receiver } from "../../../../test/harness/webhooks.ts";
import { systemClock } from "../../../timing/clock.ts";
import { AddressPolicy } from "./addresses.ts";
import { type Network, send, systemNetwork } from "./send.ts";

const policy = new AddressPolicy({ isDevelopment: true, denied: ["127.0.0.2"] });
const production = new AddressPolicy({ isDevelopment: false, denied: [] });

const toStop: { stop(): void | Promise<void> }[] = [];
afterEach(async () => {
  for (const started of toStop.splice(0)) await started.stop();
});

async function dnsServer(names: Parameters<typeof DnsServer.start>[0]): Promise<DnsServer> {
  const server = await DnsServer.start(names);
  toStop.push(server);
  return server;
}

/** A receiver at an allowed address, and one on the same port at a forbidden address. */
function receivers(): { open: Receiver; forbidden: Receiver } {
  const open = new Receiver();
  const forbidden = new Receiver({ address: "127.0.0.2", port: open.port });
  toStop.push(open, forbidden);
  return { open, forbidden };
}

/** Like `send`, but the connection resolves the name again. */
async function sendUnpinned(text: string, { policy: rules, resolve }: Network): Promise<void> {
  const url = new URL(text);
  const checked = await resolve(url.hostname);
  if (checked.some((address) => rules.refusalOf(address))) return;
  const [address = ""] = await resolve(url.hostname);
  await fetch(`http://${address}:${url.port}/hook`, { method: "POST" });
}

const rebinding = (lookup: number) => [lookup === 1 ? "127.0.0.1" : "127.0.0.2"];

describe("DNS rebinding", () => {
  test("is denied", async () => {
    const { open, forbidden } = receivers();
    const { resolve, lookups } = await dnsServer({ "hook.test": rebinding });
    const sent = () => send(message(`http://hook.test:${open.port}/hook`), network({ policy, resolve }));
    expect(await sent()).toMatchObject({ failure: undefined, status: 200 });
    expect(lookups).toEqual(["hook.test"]);
    expect(open.received[0]?.headers.get("host")).toBe(`hook.test:${open.port}`);
    expect(await sent()).toMatchObject({ failure: "address_denied" });
    expect([open.received.length, forbidden.received.length]).toEqual([1, 0]);
  });

  test("control: succeeds without address pinning", async () => {
    const { open, forbidden } = receivers();
    const { resolve } = await dnsServer({ "hook.test": rebinding });
    await sendUnpinned(`http://hook.test:${open.port}/hook`, network({ policy, resolve }));
    expect([open.received.length, forbidden.received.length]).toEqual([0, 1]);
  });
});

describe("a name", () => {
  test.each([
    ["127.0.0.1", "127.0.0.2"],
    ["127.0.0.2", "127.0.0.1"],
    ["127.0.0.1", "::ffff:7f00:1"],
    ["127.0.0.1", "64:ff9b::7f00:1"],
    ["127.0.0.1", "10.0.0.1"],
  ])("with the addresses %s and %s gets nothing, because one of them is denied", async (one, other) => {
    const { open, forbidden } = receivers();
    const { resolve } = await dnsServer({ "hook.test": () => [one, other] });
    const result = await send(message(`http://hook.test:${open.port}/hook`), network({ policy, resolve }));
    expect(result.failure).toBeOneOf(["address_denied", "address_not_global"]);
    expect([open.received.length, forbidden.received.length]).toEqual([0, 0]);
  });

  test.each([
    "127.0.0.1",
    "10.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "224.0.0.1",
    "0.0.0.0",
    "::1",
    "fe80::1",
    "fd00::1",
    "ff02::1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "::ffff:7f00:1",
  ])("that resolves to %s gets nothing in production", async (address) => {
    const { resolve, lookups } = await dnsServer({ "hook.test": () => [address] });
    const result = await send(message("https://hook.test/hook"), network({ policy: production, resolve }));
    expect(result).toMatchObject({ failure: "address_not_global" });
    expect(lookups).toEqual(["hook.test"]);
  });

  test("without an address gets nothing", async () => {
    const { resolve } = await dnsServer({});
    const result = await send(message("https://hook.test/hook"), network({ resolve }));
    expect(result).toMatchObject({ failure: "name_not_resolved" });
  });

  test("whose DNS server does not respond takes at most 15 seconds", async () => {
    const expiry = new AbortController();
    const silent = () => {
      setImmediate(() => expiry.abort());
      return [];
    };
    const { resolve } = await dnsServer({ "hook.test": silent });
    const changes = { resolve, expire: () => expiry.signal };
    expect(await send(message("https://hook.test/hook"), network(changes))).toMatchObject({ failure: "timed_out" });
  });

  test("with addresses of both families is tried at the IPv4 one first", async () => {
    const { open } = receivers();
    const other = new Receiver({ address: "::1", port: open.port });
    toStop.push(other);
    const { resolve } = await dnsServer({ "hook.test": () => ["::1", "127.0.0.1"] });
    const unsorted = async (name: string) => (await resolve(name)).toReversed();
    const result = await send(message(`http://hook.test:${open.port}/hook`), network({ resolve: unsorted }));
    expect(result).toMatchObject({ failure: undefined });
    expect([open.received.length, other.received.length]).toEqual([1, 0]);
  });

  test("is tried at its next address if the first refuses the connection, of both families in turn", async () => {
    const open = new Receiver({ address: "127.0.0.5" });
    const ipv6 = new Receiver({ address: "::1", port: open.port });
    toStop.push(open, ipv6);
    const { resolve } = await dnsServer({
      "near.test": () => ["127.0.0.3", "127.0.0.4", "127.0.0.5"],
      "far.test": () => ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"],
      "both.test": () => ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "::1"],
    });
    const sent = (name: string) => send(message(`http://${name}:${open.port}/hook`), network({ resolve }));
    expect(await sent("near.test")).toMatchObject({ failure: undefined });
    expect(await sent("far.test")).toMatchObject({ failure: "connection_failed" });
    expect(await sent("both.test")).toMatchObject({ failure: undefined });
    expect([open.received.length, ipv6.received.length]).toEqual([1, 1]);
  });

  test("is not tried at its next address if the first received the message", async () => {
    const raw = await RawReceiver.start((socket) => socket.end());
    const other = new Receiver({ address: "127.0.0.2", port: raw.port });
    toStop.push(raw, other);
    const { resolve } = await dnsServer({ "hook.test": () => ["127.0.0.1", "127.0.0.2"] });
    const result = await send(message(`http://hook.test:${raw.port}/hook`), network({ resolve }));
    expect(result).toMatchObject({ failure: "connection_failed" });
    expect(other.received).toEqual([]);
  });
});

test("the system's names resolve to their addresses", async () => {
  const { open } = receivers();
  const system = systemNetwork(policy, systemClock);
  expect(await send(message(`http://localhost:${open.port}/hook`), system)).toMatchObject({ failure: undefined });
  const unknown = await send(message(`http://petstore.invalid:${open.port}/hook`), system);
  expect(unknown).toMatchObject({ failure: "name_not_resolved" });
});

test("an IPv6 address can be reached", async () => {
  const open = new Receiver({ address: "::1" });
  toStop.push(open);
  expect(await send(message(`http://[::1]:${open.port}/hook`), network())).toMatchObject({ failure: undefined });
  expect(open.received[0]?.headers.get("host")).toBe(`[::1]:${open.port}`);
});

test("a redirect to a denied address is not followed", async () => {
  const { open, forbidden } = receivers();
  const location = `http://127.0.0.2:${open.port}/hook`;
  const redirecting = new Receiver({ respond: () => new Response(null, { status: 307, headers: { location } }) });
  toStop.push(redirecting);
  const result = await send(message(`http://127.0.0.1:${redirecting.port}/hook`), network({ policy }));
  expect(result).toMatchObject({ failure: "redirected", status: 307 });
  expect(forbidden.received).toEqual([]);
});

describe("a proxy in the environment variables", () => {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
  const before = names.map((name) => [name, process.env[name]] as const);
  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  test.each(["http", "https"])("gets no message for an %s URL", async (scheme) => {
    const proxy = await RawReceiver.start((socket) => socket.end());
    const target = await RawReceiver.start((socket) => socket.end());
    toStop.push(proxy, target);
    for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
    const url = `${scheme}://127.0.0.1:${target.port}/hook`;
    await fetch(url).catch(() => {});
    expect([proxy.connections, target.connections]).toEqual([1, 0]); // it is in force
    expect(await send(message(url), network())).toMatchObject({ failure: "connection_failed" });
    expect([proxy.connections, target.connections]).toEqual([1, 1]);
  });
});
