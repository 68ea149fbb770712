// Guessing keys: how many guesses of one address are answered. The bound is that of its bucket.
import { afterAll, afterEach, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { networkInterfaces } from "node:os";
import { generateApiKey } from "../../src/domains/keys/api-key.ts";
import { ClientAddresses } from "../../src/http/input/client-address.ts";
import { WindowLimiter } from "../../src/limits/limiter.ts";
import { TestService } from "../harness/service.ts";
import { rounds } from "../harness/test-length.ts";
import { KeepAlive } from "./keep-alive.ts";

const PER_MINUTE = 60;
const PER_DAY = 1_000;
const MINUTE = 60_000;
const DAY = 86_400_000;

let service: TestService;
/** A service that trusts `X-Forwarded-For` from this machine. */
let proxied: TestService;
beforeAll(async () => {
  service = await TestService.start({ settings: { PETSTORE_HOST: "0.0.0.0" } });
  proxied = await TestService.start({
    settings: { PETSTORE_HOST: "0.0.0.0", PETSTORE_TRUSTED_PROXIES: "127.0.0.0/8" },
  });
});
afterEach(() => {
  for (const { clock } of [service, proxied]) clock.advance(DAY); // all buckets are full again
});
afterAll(() => Promise.all([service.stop(), proxied.stop()]));

/** Ways to guess: what is sent as the key. */
const guesses: readonly (readonly [string, () => Promise<string>])[] = [
  ["keys that nobody has", async () => generateApiKey("test")],
  ["keys of the other mode", async () => generateApiKey("live")],
  ["keys of another cell", async () => generateApiKey("test", "zz")],
  ["mistyped keys", async () => mistyped(await service.newKey())],
  ["revoked keys", revokedKey],
  ["texts that are no keys", async () => crypto.randomUUID()],
];

function mistyped(key: string): string {
  const position = 9 + Math.floor(Math.random() * (key.length - 9));
  return key.slice(0, position) + (key[position] === "x" ? "y" : "x") + key.slice(position + 1);
}

async function revokedKey(): Promise<string> {
  const { key, record } = await service.newAccountWithKey("free");
  await service.app.keys.revokeKey(record.id, service.clock.now());
  return key;
}

/** Sends guesses with the given headers, and counts the responses other than 429. */
async function countAnswered(
  target: TestService,
  times: number,
  guess: () => Promise<string>,
  headersOf: (time: number) => Record<string, string> = () => ({}),
): Promise<number> {
  let answered = 0;
  for (let time = 0; time < times; time++) {
    const { status, json } = await target.call("GET", "/pets", { key: await guess(), headers: headersOf(time) });
    if (status === 429) expect(json.code).toBe("rate_limit_exceeded");
    else expect([status, json.code]).toEqual([401, "invalid_api_key"]);
    if (status !== 429) answered++;
  }
  return answered;
}

describe("60 wrong keys a minute from one address get 401, the rest 429, for", () => {
  test.each(guesses)("%s", async (_kind, guess) => {
    for (let minute = 0; minute < rounds(2, 10); minute++) {
      expect(await countAnswered(service, PER_MINUTE + 20, guess)).toBe(PER_MINUTE);
      service.clock.advance(MINUTE);
    }
  });

  test("all these kinds in turn, and requests without a key", async () => {
    let turn = 0;
    const guess = async () => (await guesses[turn++ % guesses.length]?.[1]()) ?? "";
    expect(await countAnswered(service, PER_MINUTE / 2, guess)).toBe(PER_MINUTE / 2);
    for (let time = 0; time < PER_MINUTE / 2; time++) {
      expect((await service.call("GET", "/pets")).status).toBe(401);
    }
    expect(await countAnswered(service, 10, guess)).toBe(0);
  });
});

test("1,000 wrong keys a day from one address get 401", async () => {
  let answered = 0;
  for (let minute = 0; minute < 20; minute++) {
    answered += await countAnswered(service, PER_MINUTE + 1, async () => generateApiKey("test"));
    service.clock.advance(MINUTE);
  }
  expect(answered).toBe(PER_DAY);
});

test("two IPv4 addresses have a limit each, which many connections of one share", async () => {
  for (const from of ["127.0.0.1", "127.0.0.2"]) {
    let answered = 0;
    for (let connection = 0; connection < 10; connection++) {
      using opened = await KeepAlive.open(service.app.port, from);
      for (let time = 0; time < 10; time++) {
        const headers = { Authorization: `Bearer ${generateApiKey("test")}` };
        if ((await opened.send("GET", "/v1/pets", headers)).status === 401) answered++;
      }
    }
    expect(answered).toBe(PER_MINUTE);
  }
});

/** An address of a /64, another one each time. */
function addressIn(network: string): Record<string, string> {
  const host = Array.from(crypto.getRandomValues(new Uint16Array(4)), (group) => group.toString(16));
  return { "X-Forwarded-For": `${network}:${host.join(":")}` };
}

const guessFrom = (network: string) =>
  countAnswered(
    proxied,
    PER_MINUTE + 20,
    async () => generateApiKey("test"),
    () => addressIn(network),
  );

test("all IPv6 addresses of a /64 share one limit, which another /64 does not", async () => {
  expect(await guessFrom("2001:db8:1:2")).toBe(PER_MINUTE);
  expect(await guessFrom("2001:db8:1:3")).toBe(PER_MINUTE);
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));
test.skipIf(!hasIpv6)("an IPv6 address that connects directly has the limit of its /64", async () => {
  const there = await TestService.start({ settings: { PETSTORE_HOST: "::1" } });
  expect(await countAnswered(there, PER_MINUTE + 5, async () => generateApiKey("test"))).toBe(PER_MINUTE);
  await there.stop();
});

describe("control:", () => {
  test("without a limit, all wrong keys get 401", async () => {
    const limitless = { verdict: "admitted", limit: 60, remaining: 1, reset: 1, retryAfter: 0 } as const;
    using _ = spyOn(WindowLimiter.prototype, "admitAddress").mockReturnValue(limitless);
    expect(await countAnswered(service, PER_MINUTE + 20, async () => generateApiKey("test"))).toBe(PER_MINUTE + 20);
  });

  test("with a limit for each IPv6 address, all wrong keys of a /64 get 401", async () => {
    using _ = spyOn(ClientAddresses.prototype, "of").mockImplementation((_peer, forwarded) => forwarded ?? "");
    expect(await guessFrom("2001:db8:1:2")).toBe(PER_MINUTE + 20);
  });
});
