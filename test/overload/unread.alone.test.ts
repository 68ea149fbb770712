// Readers that ask for much and read nothing: what they leave unread takes little memory, and nobody waits for it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { referenceBundle } from "../../src/app/web/documents.ts";
import { MAX_STREAMS } from "../../src/contract/stream.ts";
import { messageOf } from "../harness/agents.ts";
import { cpuTimeOf, stopwatch } from "../harness/cpu-time.ts";
import { eventually } from "../harness/program.ts";
import { rounds } from "../harness/test-length.ts";
import { LoadedService } from "./loaded-service.ts";
import { SlowClients } from "./slow-clients.ts";

const READERS = rounds(200, 1_000);
/** The most that READERS may add to the memory of the service, in megabytes: of what is small or fixed, and of pages. These include what is thrown away after making them. */
const [SMALL, LARGE] = [60, 256];
/** Within this many milliseconds, that memory is given back, and each health check is answered. */
const [GIVEN_BACK, HEALTH] = [60_000, 1_000];
/** The service rests if it uses less CPU time than this between two looks, in milliseconds. */
const RESTING = 20;

/** An animal with as much metadata as it may have. */
const large = JSON.stringify({
  name: "Rex",
  categoryId: 1,
  metadata: Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`key${index}`, "x".repeat(490)])),
});

let service: LoadedService;
/** The keys of as many shops as their streams need. */
let keys: string[];
beforeAll(async () => {
  service = await LoadedService.start();
  keys = [];
  while (keys.length * MAX_STREAMS < READERS) keys.push(await service.otherKey());
  for (const key of keys) {
    const request = service.request("POST", "/pets", large, key);
    await service.load({ request, connections: 16, seconds: 1 });
  }
});
afterAll(() => service[Symbol.asyncDispose]());

/** The resident memory of the service, in megabytes. */
const memory = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.program.child.pid}/status`, "utf8"))?.[1]) / 1024;

const withoutKey = (path: string) => `GET ${path} HTTP/1.1\r\nHost: petstore\r\n\r\n`;

/** A call of a tool that finds as much as its answer may have. */
function toolCall(key: string): string {
  const { body, headers } = messageOf("2026-07-28", "tools/call", { name: "find_animals", arguments: { limit: 100 } });
  const sent = { ...headers, Host: "petstore", Authorization: `Bearer ${key}`, "Content-Length": String(body.length) };
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

async function consoleScript(): Promise<string> {
  const page = await (await fetch(new URL("/console", service.program.base))).text();
  return /src="([^"]+\.js)"/.exec(page)?.[1] as string;
}

test.each([
  ["the reference bundle", SMALL, async () => [withoutKey(`/docs/${referenceBundle.name}`)]],
  ["the console's script", SMALL, async () => [withoutKey(await consoleScript())]],
  ["a page of 100 large animals", LARGE, async () => [service.request("GET", "/pets?limit=100", undefined, keys[0])]],
  ["an answer of a tool", LARGE, async () => [toolCall(keys[0] as string)]],
  [
    "a stream of large events",
    LARGE,
    async () => keys.map((key) => service.request("GET", "/events/stream?after=0", undefined, key)),
  ],
] as const)(
  "readers of %s",
  async (name, bound, requests) => {
    const { pid } = service.program.child;
    const sends = await requests();
    for (const request of sends) {
      // Once before, so that what is made on a first request does not count.
      const clients = new SlowClients({ name, sends: request, endsWithin: 34 }, service.port, 1);
      await clients.opened();
      await eventually(() => clients.statuses.size > 0);
      clients.stop();
    }
    const rest = memory();
    const crowd = sends.map(
      (request) =>
        new SlowClients(
          { name, sends: request, neverReads: true, endsWithin: 34 },
          service.port,
          READERS / sends.length,
        ),
    );
    const opened = Promise.all(crowd.map((clients) => clients.opened()));
    let [largest, slowest, used] = [0, 0, 0];
    const look = async () => {
      const elapsed = stopwatch(pid);
      const { status } = await fetch(new URL("/healthz", service.program.base));
      slowest = Math.max(slowest, elapsed());
      largest = Math.max(largest, memory() - rest);
      const before = used;
      used = cpuTimeOf(pid);
      return status === 200 && used - before < RESTING;
    };
    await eventually(look);
    await opened;
    await eventually(look);
    console.log(`${READERS} readers of ${name}: ${largest.toFixed()} MB, health after ${slowest.toFixed()} ms`);
    expect(largest).toBeLessThan(bound);
    expect(slowest).toBeLessThan(HEALTH);
    expect((await service.call("/pets")).status).toBe(200); // of another shop
    for (const clients of crowd) clients.stop();
    await eventually(memory, (now) => now < rest + bound / 2, GIVEN_BACK);
  },
  120_000,
);
