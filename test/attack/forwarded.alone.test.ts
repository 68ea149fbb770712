// Who a request without a valid key is counted for: an address that an anonymous client sends is not trusted.
import { afterAll, afterEach, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { ClientAddresses } from "../../src/http/input/client-address.ts";
import { TestService } from "../harness/service.ts";
import { KeepAlive } from "./keep-alive.ts";

const PER_MINUTE = 60;

/** Headers in which proxies name the client's address. The service can be set to trust `X-Forwarded-For` only. */
const addressHeaders: readonly (readonly [string, (address: string) => string])[] = [
  ["X-Forwarded-For", (address) => address],
  ["X-Real-IP", (address) => address],
  ["Forwarded", (address) => `for=${address};proto=https;by=127.0.0.1`],
  ["True-Client-IP", (address) => address],
  ["CF-Connecting-IP", (address) => address],
  ["Fastly-Client-IP", (address) => address],
  ["X-Client-IP", (address) => address],
  ["X-Cluster-Client-IP", (address) => address],
  ["X-Forwarded", (address) => `for=${address}`],
  ["X-Original-Forwarded-For", (address) => address],
  ["X-ProxyUser-Ip", (address) => address],
  ["Via", (address) => `1.1 ${address}`],
];

const DAY = 86_400_000;

let service: TestService;
let proxied: TestService;
beforeAll(async () => {
  service = await TestService.start({ settings: { PETSTORE_HOST: "0.0.0.0" } });
  const proxies = "127.0.0.2, 10.0.0.0/8, 2001:db8::/32";
  proxied = await TestService.start({ settings: { PETSTORE_HOST: "0.0.0.0", PETSTORE_TRUSTED_PROXIES: proxies } });
});
afterEach(() => {
  for (const { clock } of [service, proxied]) clock.advance(DAY); // all buckets are full again
});
afterAll(() => Promise.all([service.stop(), proxied.stop()]));

/** Sends requests without a key and counts those that were no 429. */
async function countAnswered(
  { app }: TestService,
  times: number,
  headersOf: (time: number) => Record<string, string>,
  from?: string,
): Promise<number> {
  using connection = await KeepAlive.open(app.port, from);
  let answered = 0;
  for (let time = 0; time < times; time++) {
    if ((await connection.send("GET", "/v1/pets", headersOf(time))).status === 401) answered++;
  }
  return answered;
}

/** Sends more requests than one address may send, each with another address in the header. */
function sendWithNewAddresses(to: TestService, name: string, write: (address: string) => string, from?: string) {
  return countAnswered(to, PER_MINUTE + 20, (time) => ({ [name]: write(`198.51.100.${time}`) }), from);
}

function allAddressHeaders(time: number): Record<string, string> {
  return Object.fromEntries(addressHeaders.map(([name, write]) => [name, write(`198.51.100.${time}`)]));
}

describe("an anonymous client has one limit, although it sends another address with each request in", () => {
  test.each(addressHeaders)("%s", async (name, write) => {
    expect(await sendWithNewAddresses(service, name, write)).toBe(PER_MINUTE);
  });

  test("all of these at once", async () => {
    expect(await countAnswered(service, PER_MINUTE + 20, allAddressHeaders)).toBe(PER_MINUTE);
  });

  test("X-Forwarded-For, also if another proxy is trusted", async () => {
    expect(await sendWithNewAddresses(proxied, "X-Forwarded-For", (address) => address)).toBe(PER_MINUTE);
    expect(
      await sendWithNewAddresses(proxied, "X-Forwarded-For", (address) => `127.0.0.2, ${address}, 127.0.0.2`),
    ).toBe(0);
  });
});

function throughProxy(write: (address: string) => string): Promise<number> {
  return sendWithNewAddresses(proxied, "X-Forwarded-For", write, "127.0.0.2");
}

describe("X-Forwarded-For from a trusted proxy", () => {
  test("is used", async () => {
    expect(await throughProxy((address) => address)).toBe(PER_MINUTE + 20);
  });

  test.each(addressHeaders.slice(1))("is used, but not %s", async (name, write) => {
    expect(await sendWithNewAddresses(proxied, name, write, "127.0.0.2")).toBe(PER_MINUTE);
  });

  test.each<[string, (address: string) => string, number]>([
    [
      "uses the address before another trusted proxy",
      (address) => `${address}, 10.1.2.3, 2001:db8::7`,
      PER_MINUTE + 20,
    ],
    ["ignores addresses that a client sent", (address) => `${address}, 192.0.2.1`, PER_MINUTE],
    [
      "ignores addresses that a client sent with a trusted proxy's address",
      (address) => `${address}, 10.9.9.9, 192.0.2.1`,
      PER_MINUTE,
    ],
    ["ignores entries before an invalid one", (address) => `${address}, unknown, 10.1.2.3`, PER_MINUTE],
    ["ignores entries before an empty one", (address) => `${address}, `, PER_MINUTE],
  ])("%s", async (_what, write, answered) => {
    expect(await throughProxy(write)).toBe(answered);
  });
});

test("control: fails if every client's X-Forwarded-For is used", async () => {
  // The proxied service reads the header, which it trusts only from its proxy.
  using _ = spyOn(ClientAddresses.prototype, "of").mockImplementation((peer, forwarded) => forwarded ?? peer);
  expect(await sendWithNewAddresses(proxied, "X-Forwarded-For", (address) => address)).toBe(PER_MINUTE + 20);
});
