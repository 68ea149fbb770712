// A client that is still sending a body which is too large gets to read why it is refused.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { newKeyIn } from "../harness/keys.ts";
import { newDataDir, Program } from "../harness/program.ts";
import { rounds } from "../harness/test-length.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";

/** The last two are the largest bodies that are drained: 16 MB in both meanings. */
const SIZES = [1_000_000, 5_000_000, 16_000_000, 16 * 1024 * 1024];
const TIMES = rounds(2, 20);

let program: Program;
let key: string;
beforeAll(async () => {
  program = await Program.start(newDataDir());
  ({ key } = await newKeyIn(program.dataDir, { quota: unlimitedQuota }));
});
afterAll(() => program.end());

/** What must come of all requests of a client: one line for each. */
const expected = SIZES.flatMap((size) =>
  Array.from({ length: TIMES }, () =>
    ["length", "chunked"].map((framing) => `${framing} ${size} 413 payload_too_large`),
  ),
).flat();

async function output(command: readonly string[], stdin?: Uint8Array<ArrayBuffer>): Promise<string> {
  const child = Bun.spawn([...command], { stdin: stdin ?? "ignore", stdout: "pipe", stderr: "inherit" });
  return new Response(child.stdout).text();
}

const python = "/usr/bin/python3"; // Debian's: Debian has a package of the library `requests` for it
const node = Bun.which("node");
const curl = Bun.which("curl");
const canRun = (command: readonly string[]) => Bun.spawnSync([...command], { stderr: "ignore" }).success;
const hasUrllib = canRun([python, "-c", "import urllib.request"]);
const hasRequests = canRun([python, "-c", "import requests"]);

const clients = [
  ["Node's fetch", node !== null, [node ?? "", "fetch.mjs"]],
  ["Node's http", node !== null, [node ?? "", "http.mjs"]],
  ["Python's urllib (needs python3)", hasUrllib, [python, "urllib_client.py"]],
  ["Python's requests (needs python3-requests)", hasRequests, [python, "requests_client.py"]],
] as const;

describe("the 413 for a body of 1, 5 and 16 MB, with a length and in chunks, is read by", () => {
  for (const [name, isHere, [program_, script]] of clients) {
    test.skipIf(!isHere)(name, async () => {
      const file = join(import.meta.dir, "clients", script);
      const words = [`${program.base}/pets`, key, String(TIMES), ...SIZES.map(String)];
      expect((await output([program_, file, ...words])).trim().split("\n")).toEqual(expected);
    });
  }

  test.skipIf(curl === null)("curl (needs curl)", async () => {
    const got: string[] = [];
    for (const size of SIZES) {
      const body = new Uint8Array(size).fill(32);
      for (let time = 0; time < TIMES; time++) {
        for (const framing of ["length", "chunked"]) {
          const headers = [`Authorization: Bearer ${key}`, "Content-Type: application/json"];
          if (framing === "chunked") headers.push("Transfer-Encoding: chunked");
          const options = headers.flatMap((header) => ["-H", header]);
          const words = ["--silent", "--show-error", "--data-binary", "@-", ...options, `${program.base}/pets`];
          const text = await output([curl ?? "", ...words], body);
          const { status, code } = JSON.parse(text || "{}") as { status?: number; code?: string };
          got.push(`${framing} ${size} ${status} ${code}`);
        }
      }
    }
    expect(got).toEqual(expected);
  });
});
