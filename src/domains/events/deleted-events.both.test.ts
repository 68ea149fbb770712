// Old events are deleted while a request for a page is handled: after it has read which events are stored.
import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import { type TestResponse, TestService } from "../../../test/harness/service.ts";
import { waitFor } from "../../storage/transaction.ts";
import { eventLog } from "./events.store.ts";

let service: TestService;
let key: string;
let shop: number;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

/** The events 1 to 6, each a second after the previous one. The first of these times is `start`. */
let start: number;
beforeEach(async () => {
  const { account, key: own } = await service.newAccountWithKey("enterprise");
  key = own;
  shop = await service.shop(account.id);
  start = service.clock.now();
  const events = [1, 2, 3, 4, 5, 6].map(
    (id) =>
      `(${shop}, ${id}, ${start + id * 1_000}, 'pet.deleted', ${id}, 'system', '{"id":${id},"name":"Rex","categoryId":1}')`,
  );
  await service.store.run(`
    DELETE FROM events WHERE shop = ${shop};
    INSERT INTO events (shop, id, at, type, under, actor, previous) VALUES ${events.join(", ")};
    UPDATE shops SET last_event_id = 6 WHERE shop = ${shop};
  `);
});

/** Lists events. The first three are deleted as soon as the range of the stored ones has been read. */
async function listDuringDeletion(query: string): Promise<TestResponse> {
  // oxlint-disable-next-line typescript/unbound-method -- it uses no `this`
  const read = eventLog.storedRange;
  using _ = spyOn(eventLog, "storedRange").mockImplementationOnce(function* (...parameters) {
    const range = yield* read(...parameters);
    yield* waitFor(service.store.run(`DELETE FROM events WHERE shop = ${shop} AND id <= 3`));
    return range;
  });
  return await service.call("GET", `/events?${query}`, { key }); // the spy is needed until then
}

const at = (second: number) => encodeURIComponent(new Date(start + second * 1_000).toISOString());

test.each(["after=0", "after=2&sort=-id", "after=1&type=pet.deleted", "after=0&limit=2"])(
  "a client that continues with %s learns that it has missed events",
  async (query) => {
    const { status, json } = await listDuringDeletion(query);
    expect([status, json.code]).toEqual([410, "events_expired"]);
    expect(json.message).toEndWith(" 4.");
  },
);

test("a client that has the deleted events misses none", async () => {
  const { json } = await listDuringDeletion("after=3");
  expect(json.map(({ id }: { id: number }) => id)).toEqual([4, 5, 6]);
});

test.each([
  [() => `since=${at(0)}`, [4, 5, 6]],
  [() => `until=${at(2)}`, []],
  [() => `since=${at(5)}`, [5, 6]],
])("the remaining events are found by time", async (query, expected) => {
  const { json } = await listDuringDeletion(query());
  expect(json.map(({ id }: { id: number }) => id)).toEqual(expected);
});
