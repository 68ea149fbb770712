// Whether the time of a refusal tells a key that once was valid from one that never was.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import { generateApiKey, keyDigest } from "../../src/domains/keys/api-key.ts";
import { KeyStore } from "../../src/domains/keys/keys.store.ts";
import { TestService } from "../harness/service.ts";
import { isLongRun } from "../harness/test-length.ts";
import { KeepAlive } from "./keep-alive.ts";

/** Keys of each kind; each is sent often. */
const KEYS = 200;
/** Measurements are compared within blocks: a machine that is busy for a while disturbs only some blocks. */
const BLOCKS = 200;
const SAMPLES_PER_BLOCK = 300;
/** A difference that is smaller is none that anybody could use, in microseconds. */
const NEGLIGIBLE = 0.2;

let service: TestService;
/** Keys that are refused, by why. */
let refused: Readonly<Record<"unknown" | "revoked" | "expired", readonly string[]>>;

function many<T>(make: () => T): Promise<Awaited<T>[]> {
  return Promise.all(Array.from({ length: KEYS }, make));
}

beforeAll(async () => {
  service = await TestService.start({ settings: { PETSTORE_TRUSTED_PROXIES: "127.0.0.1" } });
  const { accounts, keys } = service.app;
  const account = await accounts.createAccount("Test", "free", undefined, service.clock.now());
  const issue = () => keys.issueKey(account.id, "test", ["read"], service.clock.now());
  // Through JSON: how a key came about must not show in how its text lies in memory.
  refused = JSON.parse(
    JSON.stringify({
      unknown: await many(() => generateApiKey("test")),
      revoked: await many(async () => {
        const { key, record } = await issue();
        await keys.revokeKey(record.id, service.clock.now());
        return key;
      }),
      expired: await many(async () => {
        const { key, record } = await issue();
        await keys.rotateKey(record.id, 0, service.clock.now());
        return key;
      }),
    }),
  );
});
afterAll(() => service.stop());

let addresses = 0;
/** What is sent with a key: each time from another address, so that no bucket is used up. */
function headers(key: string): Record<string, string> {
  const number = addresses++ % 2 ** 24;
  const address = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
  return { Authorization: `Bearer ${key}`, "X-Forwarded-For": address };
}

describe("refused keys take the same code path:", () => {
  test.each(["unknown", "revoked", "expired"] as const)(
    "the store is asked once for each request with an %s key",
    async (kind) => {
      using look = spyOn(KeyStore.prototype, "findValid");
      const [key = ""] = refused[kind];
      for (let time = 1; time <= 3; time++) {
        const { status, json } = await service.call("GET", "/pets", { headers: headers(key) });
        expect([status, json.code]).toEqual([401, "invalid_api_key"]);
        expect(look).toHaveBeenCalledTimes(time);
      }
    },
  );
});

test("a revoked key's digest is deleted from the store", () => {
  const database = new Database(join(service.store.folder, "petstore.db"), {
    readonly: true,
  });
  const found = (keys: readonly string[]) =>
    keys.filter((key) => database.query("SELECT 1 FROM api_keys WHERE digest = ?").get(keyDigest(key)) !== null).length;
  expect([found(refused.revoked), found(refused.expired)]).toEqual([0, KEYS]);
  database.close();
});

/** Whatever disturbs a request makes it later: the lower quartile of its times tells most about the program. */
function lowerQuartile(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 4)] as number;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

/** The median and its standard error, both hardly moved by blocks that were disturbed. */
function summarize(values: readonly number[]): { middle: number; error: number } {
  const middle = median(values);
  const deviation = 1.48 * median(values.map((value) => Math.abs(value - middle)));
  return { middle, error: (1.25 * deviation) / Math.sqrt(values.length) };
}

const kinds = ["unknown", "unknown too", "revoked", "expired"] as const;
type Kind = (typeof kinds)[number];

/** Sends keys of all kinds, in a new order each time, and gives the lower quartile of each kind in microseconds. */
async function measureBlock(connection: KeepAlive): Promise<Record<Kind, number>> {
  const times: Record<Kind, number[]> = { unknown: [], "unknown too": [], revoked: [], expired: [] };
  for (let sample = 0; sample < SAMPLES_PER_BLOCK; sample++) {
    const order = kinds.map((kind) => ({ kind, at: Math.random() })).toSorted((a, b) => a.at - b.at);
    for (const { kind } of order) {
      const keys = refused[kind === "unknown too" ? "unknown" : kind];
      const sent = headers(keys[Math.floor(Math.random() * KEYS)] as string);
      const begun = performance.now();
      await connection.send("GET", "/v1/pets/1", sent);
      times[kind].push((performance.now() - begun) * 1_000);
    }
  }
  return Object.fromEntries(kinds.map((kind) => [kind, lowerQuartile(times[kind])])) as Record<Kind, number>;
}

if (isLongRun)
  test("rejecting a revoked key takes as long as rejecting an unknown key", async () => {
    using connection = await KeepAlive.open(service.app.port);
    await measureBlock(connection); // while the program is still being compiled
    const blocks: Record<Kind, number>[] = [];
    while (blocks.length < BLOCKS) blocks.push(await measureBlock(connection));
    const beside = (kind: Kind) => summarize(blocks.map((block) => block[kind] - block.unknown));
    const [same, revoked, expired] = [beside("unknown too"), beside("revoked"), beside("expired")];
    for (const [name, { middle, error }] of Object.entries({ "unknown again": same, revoked, expired })) {
      console.log(`${name}: ${middle.toFixed(3)} ± ${error.toFixed(3)} µs compared with unknown`);
    }
    const noise = Math.max(NEGLIGIBLE, 4 * same.error);
    expect(Math.abs(revoked.middle)).toBeLessThan(noise);
    // The control: a key that has expired is still in the store, whose index finds it. That is seen.
    expect(expired.middle).toBeGreaterThan(noise);
  });
