// The costliest requests that each operation accepts, made from the contract: their answers are small, and no turn of
// the event loop runs many statements. `npx bun bench/costs.ts` measures their time.
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { domains } from "../../src/app/domains.ts";
import { PAGE_BYTES } from "../../src/contract/paging.ts";
import { Connection } from "../../src/storage/sqlite/connection.ts";
import { Agent } from "../harness/agents.ts";
import { CostlyShop, costlyOperations, type Send } from "../harness/costly-requests.ts";
import { TestService } from "../harness/service.ts";

const operations = costlyOperations(domains.flatMap((domain) => domain.operations));
/** Statements of one turn of the event loop. */
const MOST_STATEMENTS = 500;
/** Bytes of the answer of a tool. */
const TOOL_BYTES = 64 * 1024;
/** The shop has none of these. */
const missing = new Set(["getRequest", "getWebhookDelivery"]);

let service: TestService;
let key: string;
let send: Send;
let shop: CostlyShop;
/** Statements of this turn of the event loop, and the most of any since it was reset. */
let [inTurn, most] = [0, 0];
function countStatement(): void {
  if (inTurn++ === 0) setImmediate(() => ([inTurn, most] = [0, Math.max(most, inTurn)]));
}
beforeAll(async () => {
  service = await TestService.start();
  ({ key } = await service.newAccountWithKey("enterprise", undefined, ["read", "write", "admin"]));
  send = (method, path, body) => service.call(method, path, { key, body });
  // oxlint-disable-next-line typescript/unbound-method -- they are called with their receiver
  const { all, first } = Connection.prototype;
  spyOn(Connection.prototype, "all").mockImplementation(function (this: Connection, ...parameters) {
    countStatement();
    return all.apply(this, parameters);
  });
  spyOn(Connection.prototype, "first").mockImplementation(function (this: Connection, ...parameters) {
    countStatement();
    return first.apply(this, parameters);
  });
  shop = await CostlyShop.fill(send, service.clock.now(), operations);
});
afterAll(() => service.stop());

test("the tools that read give small answers", async () => {
  const agent = new Agent(service, key);
  for (const { name, annotations, inputSchema } of await agent.tools()) {
    if (!annotations.readOnlyHint) continue;
    const { limit, petIds } = inputSchema.properties;
    const given = { ...(limit && { limit: limit.maximum }), ...(petIds && { petIds: ["1", "2", "3"] }) };
    const response = await agent.request("tools/call", { name, arguments: given });
    const size = (await response.bytes()).length;
    expect([name, size, size <= TOOL_BYTES]).toEqual([name, size, true]);
  }
});

test.each(operations.map((operation) => [operation.name, operation] as const))(
  "%s does little work at once, and its answer is small",
  async (name, operation) => {
    for await (const { what, method, path, body } of shop.of(operation)) {
      most = 0;
      const { status, text } = await service.call(method, path, { key, body });
      const isAccepted = status < 400 || (status === 404 && missing.has(name));
      expect([what, isAccepted, isAccepted ? "" : text]).toEqual([what, true, ""]);
      const size = Buffer.byteLength(text);
      expect([what, size, size <= PAGE_BYTES]).toEqual([what, size, true]);
      expect([what, most, most <= MOST_STATEMENTS]).toEqual([what, most, true]);
    }
  },
);
