// Crowds: as many addresses and accounts as are kept in memory, and three times as many addresses.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { seedStore } from "../../bench/seed.ts";
import { newDataDir, Program } from "../harness/program.ts";
import { rounds } from "../harness/test-length.ts";
import { type BriefResponse, sendAll } from "./keep-alive.ts";

const MIB = 1024 * 1024;
/** The most addresses and accounts that are kept in memory. */
const MAX_TRACKED = 100_000;
const CROWD = rounds(2_000, MAX_TRACKED);
const CONNECTIONS = 20;
/** What is promised of the process with a crowd of either kind in its memory. */
const PROMISED = 512 * MIB;
/** How much more memory a third crowd of addresses may take than the first: none, but for what is not collected yet. */
const SPREAD = 96 * MIB;

let program: Program;
let port: number;
let keys: readonly string[];

beforeAll(async () => {
  const dataDir = newDataDir();
  const quotas = Array.from({ length: CROWD }, () => ({ perMinute: 1_000, perDay: 100_000 }));
  ({ keys } = seedStore(dataDir, "petstore", 1, quotas));
  program = await Program.start(dataDir, { PETSTORE_ENV: "production", PETSTORE_TRUSTED_PROXIES: "127.0.0.1" });
  port = Number(new URL(program.base).port);
});
afterAll(() => program.end());

function residentMemory(): number {
  const status = readFileSync(`/proc/${program.child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

let addresses = 0;
function newAddress(): string {
  const number = addresses++;
  return `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
}

/** One request of each of a crowd of addresses that were never seen before. */
function anonymousClients(): Promise<BriefResponse[]> {
  return sendAll(port, CONNECTIONS, Array.from({ length: CROWD }, newAddress), (connection, address) =>
    connection.send("GET", "/v1/pets", { "X-Forwarded-For": address }),
  );
}

/** One request of each account. */
function callers(): Promise<BriefResponse[]> {
  return sendAll(port, CONNECTIONS, keys, (connection, key) =>
    connection.send("GET", "/v1/pets", { Authorization: `Bearer ${key}` }),
  );
}

describe("memory stays bounded", () => {
  const measured: number[] = [];

  test.each([1, 2, 3])(
    `after ${CROWD.toLocaleString("en")} more addresses (%d)`,
    async (crowds) => {
      const responses = await anonymousClients();
      const remaining = new Set(responses.map(({ headers }) => headers.get("x-ratelimit-remaining")));
      expect([...remaining]).toEqual(["59"]); // each has its own bucket
      const memory = residentMemory();
      console.log(`${Math.round(memory / MIB)} MiB after ${crowds * CROWD} addresses`);
      measured.push(memory);
      expect(memory).toBeLessThan(PROMISED);
      expect(memory - (measured[0] ?? 0)).toBeLessThan(SPREAD);
    },
    600_000,
  );

  test.each([1, 2])(
    `after request %d of each of ${CROWD.toLocaleString("en")} accounts`,
    async (requests) => {
      const responses = await callers();
      expect(responses.every(({ status }) => status === 200)).toBe(true);
      const memory = residentMemory();
      console.log(`${Math.round(memory / MIB)} MiB with ${CROWD} accounts, after ${requests} requests of each`);
      expect(memory).toBeLessThan(PROMISED);
    },
    600_000,
  );
});
