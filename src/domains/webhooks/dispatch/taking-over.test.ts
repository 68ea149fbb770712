// A process begins to deliver to many endpoints.
import { expect, spyOn, test } from "bun:test";
import { WebhookService } from "../../../../test/harness/webhook-service.ts";
import { DispatchStore } from "./dispatch.store.ts";

test("two endpoints are taken over at once, and one that fails does not stop the others", async () => {
  const webhooks = await WebhookService.start();
  try {
    const receiver = webhooks.receiver();
    for (let count = 0; count < 6; count++) await webhooks.endpoint(receiver, { types: ["pet.created"] });
    await webhooks.addPet();
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its receiver
    const takeOver = DispatchStore.prototype.takeOver;
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
      while (receiver.received.length < 5) await new Promise(setImmediate);
    }
    expect(most).toBe(2);
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(6);
  } finally {
    await webhooks.stop();
  }
});

test("a round takes over endpoints for one second only, and begins to deliver to each at once", async () => {
  const webhooks = await WebhookService.start();
  try {
    const receiver = webhooks.receiver();
    for (let count = 0; count < 6; count++) await webhooks.endpoint(receiver, { types: ["pet.created"] });
    await webhooks.addPet();
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its receiver
    const takeOver = DispatchStore.prototype.takeOver;
    {
      using slow = spyOn(DispatchStore.prototype, "takeOver").mockImplementation(function (this: DispatchStore, name) {
        webhooks.service.clock.advance(600);
        return takeOver.call(this, name);
      });
      await webhooks.round();
      expect(slow).toHaveBeenCalledTimes(2);
      while (receiver.received.length < 2) await new Promise(setImmediate);
    }
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(6);
  } finally {
    await webhooks.stop();
  }
});
