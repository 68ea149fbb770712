// An endpoint that wants few of the events in a long log.
import { expect, test } from "bun:test";
import { endlessSearch } from "../../../../test/harness/endless-search.ts";
import { eventually } from "../../../../test/harness/program.ts";
import { WebhookService } from "../../../../test/harness/webhook-service.ts";

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
      await eventually(() => search.isGoingOn);
      const { status } = await webhooks.call("GET", "/pets");
      expect([status, search.isGoingOn]).toEqual([200, true]);
    }
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(1);
  } finally {
    await webhooks.stop();
  }
});
