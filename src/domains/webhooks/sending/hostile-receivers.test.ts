// Receivers that misbehave, as the owner of an endpoint sees it: each delivery is listed with its result.
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Authority, canCertify } from "../../../../test/harness/certificates.ts";
import { DnsServer } from "../../../../test/harness/dns-server.ts";
import { WebhookService } from "../../../../test/harness/webhook-service.ts";
import { RawReceiver, Receiver, sendForever } from "../../../../test/harness/webhooks.ts";
import { SECOND_MS } from "../../../timing/clock.ts";

const toLoopback = () => Promise.resolve(["127.0.0.1"]);

const toStop: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of toStop.splice(0)) await started.stop();
});

async function start(...options: Parameters<typeof WebhookService.start>): Promise<WebhookService> {
  const webhooks = await WebhookService.start(...options);
  toStop.push(webhooks);
  return webhooks;
}

/** Has one message sent to the URL. Gives the endpoint's id, and its first delivery with the start of the response. */
async function firstDelivery(webhooks: WebhookService, url: string) {
  const { json } = await webhooks.call("POST", "/webhook-endpoints", { url, types: ["pet.created"] });
  await webhooks.addPet();
  await webhooks.deliver();
  const [{ id }] = await webhooks.deliveries(json.id);
  const shown = await webhooks.call("GET", `/webhook-endpoints/${json.id}/deliveries/${id}`);
  return { endpoint: json.id as string, delivery: shown.json };
}

describe.skipIf(!canCertify)("a receiver over TLS", () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-hostile-tls-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    ["for its name", "DNS:hook.test", true, undefined],
    ["for another name", "DNS:other.test", true, "tls_failed"],
    ["that it has signed itself", "DNS:hook.test", false, "tls_failed"],
  ] as const)("with a certificate %s", async (_what, altName, isTrusted, failure) => {
    const trusted = await Authority.make(mkdtempSync(join(folder, "trusted-")));
    const own = await Authority.make(mkdtempSync(join(folder, "own-")));
    const receiver = new Receiver({ tls: [await (isTrusted ? trusted : own).certify(altName)] });
    toStop.push(receiver);
    const webhooks = await start({ resolve: toLoopback, authorities: trusted.certificate });
    const { endpoint, delivery } = await firstDelivery(webhooks, `https://hook.test:${receiver.port}/`);
    if (failure === undefined) expect(delivery).toMatchObject({ outcome: "succeeded", status: 200 });
    else expect(delivery).toMatchObject({ outcome: "failed", failure, message: expect.any(String) });
    expect(receiver.received).toHaveLength(failure === undefined ? 1 : 0);
    await webhooks.after(6 * SECOND_MS);
    expect(await webhooks.deliveries(endpoint)).toHaveLength(failure === undefined ? 1 : 2);
  });
});

describe("a response", () => {
  const head = "HTTP/1.1 200 OK\r\n";
  test.each([
    ["without an end", `${head}\r\n`, "a".repeat(10_000), { outcome: "succeeded", response: "a".repeat(1024) }],
    ["whose head has no end", head, `X-A: ${"a".repeat(1000)}\r\n`, { outcome: "failed", failure: "response_invalid" }],
  ])("%s is cut, and the next message is sent", async (_what, start_, more, expected) => {
    const raw = await RawReceiver.start((socket: Socket) => {
      socket.write(start_);
      sendForever(socket, more);
    });
    toStop.push(raw);
    const webhooks = await start();
    const { delivery, endpoint } = await firstDelivery(webhooks, `http://127.0.0.1:${raw.port}/`);
    expect(delivery).toMatchObject(expected);
    await raw.closed;
    await webhooks.addPet();
    await webhooks.deliver();
    expect(await webhooks.deliveries(endpoint)).toHaveLength(2);
  });

  test("of 1 MB is accepted, and its first KiB is stored", async () => {
    const webhooks = await start();
    const receiver = webhooks.receiver(() => new Response("a".repeat(1_000_000)));
    const { delivery } = await firstDelivery(webhooks, `http://127.0.0.1:${receiver.port}/`);
    expect(delivery).toMatchObject({ outcome: "succeeded", status: 200, response: "a".repeat(1024) });
  });
});

test("a name that resolves to a denied address the second time gets no second message", async () => {
  const open = new Receiver();
  const forbidden = new Receiver({ address: "127.0.0.2", port: open.port });
  const dns = await DnsServer.start({ "hook.test": (lookup) => [lookup === 1 ? "127.0.0.1" : "127.0.0.2"] });
  toStop.push(open, forbidden, dns);
  const webhooks = await start({ resolve: dns.resolve }, { settings: { PETSTORE_WEBHOOK_DENY: "127.0.0.2" } });
  const { delivery, endpoint } = await firstDelivery(webhooks, `http://hook.test:${open.port}/`);
  expect([delivery.outcome, dns.lookups]).toEqual(["succeeded", ["hook.test"]]);
  await webhooks.addPet();
  await webhooks.deliver();
  const [second] = await webhooks.deliveries(endpoint);
  expect(second).toMatchObject({ outcome: "failed", failure: "address_denied" });
  expect([open.received.length, forbidden.received.length]).toEqual([1, 0]);
});
