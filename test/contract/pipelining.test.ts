// Requests that a client sends on one connection without waiting for the responses in between.
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { Turns } from "../../src/timing/turns.ts";
import { untilWaiting } from "../harness/metrics.ts";
import { eventually } from "../harness/program.ts";
import { exchange, type RawResponse } from "../harness/raw-http.ts";
import { TestService } from "../harness/service.ts";

let service: TestService;
let key: string;
// On a busy machine a few requests can use up the time of their shop in a turn. Those that wait for the next one get
// no response: docs/limits.md says so.
const turn = spyOn(Turns.prototype, "turn").mockReturnValue(undefined);
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(async () => {
  await service.stop();
  turn.mockRestore();
});

/** A request; the last of a connection asks to close it. */
function request(line: string, more: readonly string[], body = ""): string {
  const length = body === "" ? [] : ["Content-Type: application/json", `Content-Length: ${body.length}`];
  const headers = ["Host: petstore", `Authorization: Bearer ${key}`, ...length, ...more];
  return `${[`${line} HTTP/1.1`, ...headers].join("\r\n")}\r\n\r\n${body}`;
}

const names = async () => (await service.call("GET", "/pets", { key })).json.map(({ name }: { name: string }) => name);
/** The animals once one more is there than before, and no write runs. */
async function namesAfter(before: readonly string[]): Promise<string[]> {
  await eventually(names, ({ length }) => length > before.length);
  await untilWaiting(service.app.base, 0);
  return names();
}
const create = (name: string, more: readonly string[] = []) =>
  request("POST /v1/pets", more, JSON.stringify({ name, categoryId: 1 }));

describe("reads", () => {
  test("are all answered in order if a few are sent at once", async () => {
    key = await service.newKey();
    await service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 } });
    const reads = Array.from({ length: 4 }, (_, index) => request(`GET /v1/pets/${1 + (index % 2)}`, []));
    const bytes = reads.join("") + request("OPTIONS /v1/pets", []) + request("GET /v1/pets", ["Connection: close"]);
    const expected = [...reads.map((_, index) => (index % 2 === 0 ? 200 : 404)), 204, 200];
    const responses = await exchange(service.app.port, bytes);
    expect(responses.map(({ status }) => status)).toEqual(expected);
    const [found, missing] = responses as [RawResponse, RawResponse];
    service.check({ method: "GET", path: "/pets/1", ...found });
    service.check({ method: "GET", path: "/pets/2", ...missing });
  });
});

// What the runtime does today, and what docs/limits.md and docs/reliability.md tell operators. Where one of
// these fails because responses come, the runtime has been mended: expect both responses, and change both pages.
const MENDED = "The runtime answers pipelined writes now: say so in docs/limits.md, docs/reliability.md and here.";

describe("two pipelined writes", () => {
  test("get no response, and the first is executed", async () => {
    key = await service.newKey();
    const before = await names();
    const responses = await exchange(service.app.port, create("First") + create("Second", ["Connection: close"]));
    expect(responses, MENDED).toEqual([]);
    expect(await namesAfter(before), MENDED).toEqual([...before, "First"]);
  });

  test("can both be retried with their Idempotency-Keys, and each is executed once", async () => {
    key = await service.newKey();
    const before = await names();
    const writes = ["Third", "Fourth"].map((name) => create(name, [`Idempotency-Key: ${name}`]));
    expect(await exchange(service.app.port, writes.join("")), MENDED).toEqual([]);
    expect(await namesAfter(before), MENDED).toEqual([...before, "Third"]);
    const again = [];
    for (const name of ["Third", "Fourth"]) {
      const headers = { "Idempotency-Key": name };
      again.push(await service.call("POST", "/pets", { key, headers, body: { name, categoryId: 1 } }));
    }
    expect(again.map(({ status, headers }) => [status, headers.get("idempotent-replayed")])).toEqual([
      [201, "true"],
      [201, null],
    ]);
    expect(await names()).toEqual([...before, "Third", "Fourth"]);
  });

  test("a read after a write gets no response either, but a write after reads does", async () => {
    key = await service.newKey();
    const read = request("GET /v1/pets", []);
    expect(await exchange(service.app.port, create("Fifth") + read), MENDED).toEqual([]);
    const responses = await exchange(service.app.port, read + read + create("Sixth", ["Connection: close"]));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 201]);
  });
});
