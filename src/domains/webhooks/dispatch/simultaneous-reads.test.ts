// The log is read ahead while an event of a parked sequence is finished: no later event of the sequence is left out.
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { WebhookService } from "../../../../test/harness/webhook-service.ts";
import { waitFor } from "../../../storage/transaction.ts";
import { EventLog } from "../../events/events.store.ts";

let webhooks: WebhookService;
beforeAll(async () => {
  webhooks = await WebhookService.start();
});
afterAll(() => webhooks.stop());

/** Lets the next two reads of the log, of which one is for a sequence, end this many microtasks after one another. */
function readTogether(distance: number) {
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its receiver
  const read = EventLog.prototype.after;
  const waiting = new Map<boolean, () => void>();
  return spyOn(EventLog.prototype, "after").mockImplementation(function* (this: EventLog, ...parameters) {
    const page = yield* read.apply(this, parameters);
    if (waiting.size === 2) return page;
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.set(parameters[3]?.petId !== undefined, resolve);
    if (waiting.size === 2) void endAll();
    yield* waitFor(promise);
    return page;
  });

  async function endAll(): Promise<void> {
    waiting.get(true)?.();
    for (let turn = 0; turn < distance; turn++) await Promise.resolve();
    waiting.get(false)?.();
  }
}

test.each(Array.from({ length: 10 }, (_, distance) => distance))(
  "an event that is read %d microtasks after the end of the previous one is sent",
  async (distance) => {
    await webhooks.newShop();
    let status = 500;
    const receiver = webhooks.receiver(() => new Response(null, { status }));
    await webhooks.endpoint(receiver, { types: ["pet.created", "pet.updated"] });
    const petId = await webhooks.addPet("one");
    await webhooks.deliver();
    status = 200;
    // An event that is read in the meantime could have been of the parked sequence, so it is read from the log.
    await webhooks.addPet("other");
    await webhooks.deliver();
    await webhooks.rename(petId, "two");
    const reads = readTogether(distance);
    await webhooks.after(10_000);
    reads.mockRestore();
    const names = receiver.received.map(({ body }) => JSON.parse(body).data.data.name as string);
    expect(names).toEqual(["one", "other", "one", "two"]);
  },
);
