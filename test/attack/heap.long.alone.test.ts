// How long a key that was sent stays in the memory of the service: until its header's text is collected.
import { expect, test } from "bun:test";
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { environment, newKeys } from "../harness/keys.ts";
import { newDataDir, Program } from "../harness/program.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";
import { sendAll } from "./keep-alive.ts";

const PART = 32 * 1024 * 1024;
/** Requests of others before memory is searched again, and how often that happens at most. */
const REQUESTS = 20_000;
const MAX_SEARCHES = 10;

/** How often a text stands in the memory of a process, as Linux shows it to its parent. */
function copiesIn(pid: number, text: string): number {
  const needle = Buffer.from(text);
  const buffer = Buffer.alloc(PART);
  const memory = openSync(`/proc/${pid}/mem`, "r");
  let copies = 0;
  for (const [, from, to] of readFileSync(`/proc/${pid}/maps`, "utf8").matchAll(/^(\w+)-(\w+) rw/gm)) {
    const end = Number.parseInt(to as string, 16);
    // Each part begins with the end of the one before: a text may lie across both.
    for (let start = Number.parseInt(from as string, 16); start < end; start += PART - needle.length) {
      const part = buffer.subarray(0, readAt(memory, buffer, start, Math.min(PART, end - start)));
      for (let at = part.indexOf(needle); at >= 0; at = part.indexOf(needle, at + 1)) copies++;
    }
  }
  closeSync(memory);
  return copies;
}

/** Bytes read; none where the process has reserved addresses without memory after them. */
function readAt(descriptor: number, buffer: Buffer, position: number, length: number): number {
  try {
    return readSync(descriptor, buffer, 0, length, position);
  } catch {
    return 0;
  }
}

test("a key from a request is not in memory after later requests", async () => {
  const program = await Program.start(newDataDir(), environment);
  const { port } = new URL(program.base);
  const [key = "", other = ""] = await newKeys(program.dataDir, unlimitedQuota, 2);
  const send = (bearer: string, times: number) =>
    sendAll(Number(port), 10, Array(times).fill(bearer), (connection, one) =>
      connection.send("GET", "/v1/pets", { Authorization: `Bearer ${one}` }),
    );
  const secret = key.slice("psk_test_".length);
  expect(copiesIn(program.child.pid, secret)).toBe(0);
  await send(key, 1);
  // The control: a copy is found where there is one.
  expect(copiesIn(program.child.pid, secret)).toBeGreaterThan(0);
  let requests = 0;
  while (copiesIn(program.child.pid, secret) > 0 && requests < MAX_SEARCHES * REQUESTS) {
    await send(other, REQUESTS);
    requests += REQUESTS;
  }
  console.log(`no copy of the key is left after ${requests} requests of others`);
  expect(copiesIn(program.child.pid, secret)).toBe(0);
  await program.end();
}, 600_000);
