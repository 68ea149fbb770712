// The costliest requests that each operation accepts, made from the contract: their answers are small, and no piece of
// work runs many statements. `npx bun bench/costs.ts` measures their time.
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { domains } from "../../src/app/domains.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { PAGE_BYTES } from "../../src/contract/paging.ts";
import { Connection } from "../../src/storage/sqlite/connection.ts";
import { Turns } from "../../src/timing/turns.ts";
import { Agent } from "../harness/agents.ts";
import { CostlyShop, costlyOperations, costlyTools, type Send, shareOf } from "../harness/costly-requests.ts";
import { TestService } from "../harness/service.ts";

const operations = costlyOperations(domains.flatMap((domain) => domain.operations));
/** Statements of one piece of work, for most operations. */
const MOST_STATEMENTS = 500;
/** Characters that one piece of work reads, for most operations: 74 of the largest animals, where a page began with small ones. */
const MOST_READ = 640 * 1024;
/** Bytes of the answer of a tool. */
const TOOL_BYTES = 64 * 1024;
/** The shop has none of these. */
const missing = new Set(["getRequest", "getWebhookDelivery"]);

let service: TestService;
let key: string;
let shop: CostlyShop;
/** Statements of this piece of work and the characters that they read, and the most of any since it was reset. */
let [inPiece, most] = [
  { statements: 0, read: 0 },
  { statements: 0, read: 0 },
];
/** A piece ends when its time is charged, and with the turn of the event loop. */
function endPiece(): void {
  most = { statements: Math.max(most.statements, inPiece.statements), read: Math.max(most.read, inPiece.read) };
  inPiece = { statements: 0, read: 0 };
}
function count<R>(run: () => R): R {
  if (inPiece.statements++ === 0) setImmediate(endPiece);
  const found = run();
  for (const value of [found].flat().flatMap((row) => Object.values(row ?? {})))
    if (typeof value === "string") inPiece.read += value.length;
  return found;
}
beforeAll(async () => {
  service = await TestService.start();
  ({ key } = await service.newAccountWithKey("enterprise", undefined, ["read", "write", "admin"]));
  const send: Send = (method, path, body) => service.call(method, path, { key, body });
  // oxlint-disable-next-line typescript/unbound-method -- they are called with their receiver
  const { all, first } = Connection.prototype;
  // oxlint-disable-next-line typescript/unbound-method -- likewise
  const { charge } = Turns.prototype;
  spyOn(Turns.prototype, "charge").mockImplementation(function (this: Turns, ...charged) {
    endPiece();
    return charge.apply(this, charged);
  });
  spyOn(Connection.prototype, "all").mockImplementation(function (this: Connection, ...parameters) {
    return count(() => all.apply(this, parameters));
  });
  spyOn(Connection.prototype, "first").mockImplementation(function (this: Connection, ...parameters) {
    return count(() => first.apply(this, parameters));
  });
  await service.store.run("UPDATE shops SET animals_allowed = NULL");
  shop = await CostlyShop.fill(send, service.clock.now(), operations);
});
afterAll(() => service.stop());

/** Does something, after which no piece of work may have run many statements, or read much. */
async function watched<T>(what: string, act: () => Promise<T>, share = 1): Promise<T> {
  most = { statements: 0, read: 0 };
  const done = await act();
  expect([what, most, most.statements <= MOST_STATEMENTS * share]).toEqual([what, most, true]);
  expect([what, most, most.read <= MOST_READ * share]).toEqual([what, most, true]);
  return done;
}

test("the events of a large import are sent in small pieces", async () => {
  const importPets = operations.find(({ name }) => name === "importPets") as Operation;
  for await (const { what, method, path, body } of shop.of(importPets)) {
    const ended = new AbortController();
    const { body: events } = await fetch(`${service.app.base}/events/stream`, {
      headers: { Authorization: `Bearer ${key}` },
      signal: ended.signal,
    });
    await watched(
      what,
      async () => {
        const { json } = await service.call(method, path, { key, body });
        let left = json.animals?.length ?? 0;
        const decoder = new TextDecoder();
        if (left > 0)
          for await (const part of events as ReadableStream<Uint8Array>)
            if ((left -= decoder.decode(part).split("\nid: ").length - 1) <= 0) break;
      },
      shareOf(importPets.name),
    );
    ended.abort();
  }
});

test.each(costlyTools(operations).map((tool) => [tool.name, tool] as const))(
  "the tool %s does little work at once, and its answer is small",
  async (name, tool) => {
    const agent = new Agent(service, key);
    for await (const { what, given } of shop.ofTool(tool)) {
      const answer = await watched(what, () => agent.request("tools/call", { name, arguments: given }));
      const text = await answer.text();
      const { isError } = JSON.parse(text).result;
      expect([what, isError && what !== "deep" ? text : ""]).toEqual([what, ""]);
      expect([what, text.length, Buffer.byteLength(text) <= TOOL_BYTES]).toEqual([what, text.length, true]);
    }
  },
);

test.each(operations.map((operation) => [operation.name, operation] as const))(
  "%s does little work at once, and its answer is small",
  async (name, operation) => {
    service.clock.advance(60_000); // for the limit of operations that cost no quota
    for await (const { what, method, path, body } of shop.of(operation)) {
      const { status, text } = await watched(what, () => service.call(method, path, { key, body }), shareOf(name));
      const isExpected = status < 400 || (what === "deep" && status === 400) || (status === 404 && missing.has(name));
      expect([what, isExpected, isExpected ? "" : text]).toEqual([what, true, ""]);
      const size = Buffer.byteLength(text); // of a stream, its first piece
      expect([what, size, size <= PAGE_BYTES]).toEqual([what, size, true]);
    }
  },
);
