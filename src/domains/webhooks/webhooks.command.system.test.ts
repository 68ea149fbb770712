// `petstore webhooks` next to a running service.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { runInProcess, runJsonInProcess } from "../../../test/harness/commands.ts";
import { messageOf, WebhookService } from "../../../test/harness/webhook-service.ts";

let webhooks: WebhookService;
beforeAll(async () => {
  webhooks = await WebhookService.start();
});
afterAll(() => webhooks.stop());

const run = (...words: string[]) =>
  runJsonInProcess(webhooks.service.store.folder, words, webhooks.service.store.settings);

test("operators list endpoints, pause one and resume it", async () => {
  const receiver = webhooks.receiver();
  const { id, url } = await webhooks.endpoint(receiver, { types: ["pet.created", "webhook_endpoint.updated"] });
  const [listed] = await run("webhooks", "list");
  expect(listed).toMatchObject({ id, url, mode: "test", state: "enabled", failingSince: null, lastFailure: null });
  expect(await run("webhooks", "list", "--account", webhooks.accountId)).toMatchObject([{ id }]);
  expect(await run("webhooks", "pause", id)).toMatchObject({ id, state: "paused" });
  expect((await webhooks.getEndpoint(id)).state).toBe("paused");
  await webhooks.addPet();
  await webhooks.deliver();
  expect(receiver.received).toEqual([]);
  expect(await run("webhooks", "resume", id)).toMatchObject({ id, state: "enabled" });
  await webhooks.deliver();
  const types = receiver.received.map((one) => messageOf(one).type).toSorted();
  expect(types).toEqual(["pet.created", "webhook_endpoint.updated", "webhook_endpoint.updated"]);
  const [event] = (await webhooks.call("GET", "/events?type=webhook_endpoint.updated")).json;
  expect(event).toMatchObject({
    actor: { kind: "operator" },
    data: { state: "paused" },
    previous: { state: "enabled" },
  });
});

test("an endpoint that is resumed is shown without its failures before", async () => {
  await webhooks.newShop();
  const { id } = await webhooks.endpoint(webhooks.receiver(() => new Response(null, { status: 500 })));
  await webhooks.addPet();
  await webhooks.deliver();
  expect(await run("webhooks", "pause", id)).toMatchObject({ failingSince: expect.any(String) });
  expect(await run("webhooks", "resume", id)).toMatchObject({ id, failingSince: null });
});

test("an endpoint that expires is listed with its end, after which operators cannot resume it", async () => {
  await webhooks.newShop();
  const scopes = ["read", "admin"];
  webhooks.key = (await webhooks.call("POST", "/keys", { name: "short", scopes, expiresIn: 60 })).json.key;
  const { id, expiresAt } = await webhooks.endpoint(webhooks.receiver());
  expect(await run("webhooks", "list")).toMatchObject([{ id, expiresAt }]);
  const { folder, settings } = webhooks.service.store;
  expect((await runInProcess(folder, ["webhooks", "list"], settings)).stdout).toContain(expiresAt);
  await webhooks.service.store.run("UPDATE webhook_endpoints SET expires_at = 1"); // commands use the clock of the machine
  const { status, stderr } = await runInProcess(folder, ["webhooks", "resume", id], settings);
  expect([status, stderr]).toEqual([1, expect.stringContaining("A key of its shop must confirm it first.")]);
});

test.each([
  [["pause", "we_none"], "There is no webhook endpoint we_none."],
  [["list", "--account", "acc_none"], "There is no account acc_none."],
])("webhooks %j fails, because it does not exist", async (words, message) => {
  const { folder, settings } = webhooks.service.store;
  const { status, stderr } = await runInProcess(folder, ["webhooks", ...words], settings);
  expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
});
