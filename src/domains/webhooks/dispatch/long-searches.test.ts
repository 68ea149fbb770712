// An endpoint that wants few of the events in a long log.
import { expect, test } from "bun:test";
import { endlessSearch } from "../../../../test/harness/endless-search.ts";
import { WebhookService } from "../../../../test/harness/webhook-service.ts";
import type { Storage } from "../../../storage/storage.ts";
import type { Clock } from "../../../timing/clock.ts";
import { EventLog } from "../../events/events.store.ts";
import { continueSequence } from "./continue-sequence.ts";
import type { CourierEndpoint } from "./dispatch.store.ts";
import type { EndpointProgress } from "./endpoint-progress.ts";

test("requests are answered while a long log is searched for what an endpoint wants", async () => {
  const webhooks = await WebhookService.start();
  try {
    const receiver = webhooks.receiver();
    await webhooks.endpoint(receiver, { types: ["pet.deleted"] });
    const petId = await webhooks.addPet();
    await webhooks.call("DELETE", `/pets/${petId}`);
    {
      using search = endlessSearch();
      await webhooks.round();
      const { status } = await webhooks.call("GET", "/pets");
      expect([status, search.isGoingOn]).toEqual([200, true]);
    }
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(1);
  } finally {
    await webhooks.stop();
  }
});

test("one page is read in each turn of the event loop while the next event of a sequence is searched", async () => {
  const [pages, turns] = [100, 10];
  let read = 0;
  const storage = { read: async () => ({ items: [], next: BigInt(++read) }) } as unknown as Storage;
  let isUnparked = false;
  const progress = { window: { readUpTo: BigInt(pages) }, unpark: () => void (isUnparked = true) };
  const endpoint = { shop: 1, types: ["*"] } as unknown as CourierEndpoint;
  const parts = { storage, log: new EventLog(), types: ["category.created"], clock: { now: () => 0 } as Clock };
  const search = continueSequence(parts, endpoint, progress as unknown as EndpointProgress, "category:5", 0n);
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
  expect(read).toBeGreaterThan(1);
  expect(read).toBeLessThanOrEqual(turns + 1);
  await search;
  expect([read, isUnparked]).toEqual([pages, true]);
});
