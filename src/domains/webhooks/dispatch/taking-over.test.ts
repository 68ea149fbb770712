// A process begins to deliver to many endpoints.
import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import { WebhookService } from "../../../../test/harness/webhook-service.ts";
import type { Receiver } from "../../../../test/harness/webhooks.ts";
import { DispatchStore } from "./dispatch.store.ts";

const ENDPOINTS = 6;
// oxlint-disable-next-line typescript/unbound-method -- it is called with its receiver
const takeOver = DispatchStore.prototype.takeOver;

let webhooks: WebhookService;
let receiver: Receiver;
beforeAll(async () => {
  webhooks = await WebhookService.start();
});
afterAll(() => webhooks.stop());
beforeEach(async () => {
  await webhooks.newShop();
  receiver = webhooks.receiver();
  for (let count = 0; count < ENDPOINTS; count++) await webhooks.endpoint(receiver, { types: ["pet.created"] });
  await webhooks.addPet();
});

/** Resolves when the endpoints have received this many messages. */
async function untilReceived(messages: number): Promise<void> {
  while (receiver.received.length < messages) await new Promise(setImmediate);
}

test("two endpoints are taken over at once, and one that fails does not stop the others", async () => {
  let running = 0;
  let most = 0;
  {
    using _ = spyOn(DispatchStore.prototype, "takeOver")
      .mockImplementation(async function (this: DispatchStore, name) {
        most = Math.max(most, ++running);
        return takeOver.call(this, name).finally(() => running--);
      })
      .mockRejectedValueOnce(new Error("The endpoint is locked."));
    // oxlint-disable-next-line typescript/await-thenable -- `bun:test` declares the result as void
    await expect(webhooks.round()).rejects.toThrow("The endpoint is locked.");
    await untilReceived(ENDPOINTS - 1);
  }
  expect(most).toBe(2);
  await webhooks.deliver();
  expect(receiver.received).toHaveLength(ENDPOINTS);
});

test("a round takes over endpoints for one second only, and begins to deliver to each at once", async () => {
  {
    using slow = spyOn(DispatchStore.prototype, "takeOver").mockImplementation(function (this: DispatchStore, name) {
      webhooks.service.clock.advance(600);
      return takeOver.call(this, name);
    });
    await webhooks.round();
    expect(slow).toHaveBeenCalledTimes(2);
    await untilReceived(2);
  }
  await webhooks.deliver();
  expect(receiver.received).toHaveLength(ENDPOINTS);
});
