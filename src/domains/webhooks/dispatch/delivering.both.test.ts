// What is sent to webhook endpoints, with real receivers and a clock that the tests move.
import { afterAll, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { verifyWebhook } from "../../../../client/src/index.ts";
import { metric } from "../../../../test/harness/metrics.ts";
import { eventually } from "../../../../test/harness/program.ts";
import { onPostgres } from "../../../../test/harness/test-store.ts";
import { messageOf, WebhookService } from "../../../../test/harness/webhook-service.ts";
import { StorageUnavailable } from "../../../storage/errors.ts";
import { SqliteStorage } from "../../../storage/sqlite/sqlite-storage.ts";
import { waitFor } from "../../../storage/transaction.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../timing/clock.ts";
import { eventLog } from "../../events/events.store.ts";
import { deliveryDelays } from "../sending/backoff.ts";
import { DispatchStore } from "./dispatch.store.ts";

/** A delay times this is longer than the delay with its jitter. */
const LATE_FACTOR = 1.21;

/** True for a message about the first animal of a shop. */
const isBad = (body: string) => JSON.parse(body).data.subject.id === "1" || body.includes('"petId":1');

let webhooks: WebhookService;
beforeAll(async () => {
  webhooks = await WebhookService.start();
});
afterAll(() => webhooks.stop());
beforeEach(() => webhooks.newShop());

test("nothing is sent after the account is deleted, neither new events nor messages that wait for a retry", async () => {
  const failing = webhooks.receiver(() => new Response(null, { status: 500 }));
  const working = webhooks.receiver();
  await webhooks.endpoint(failing);
  await webhooks.endpoint(working);
  await webhooks.addPet();
  await webhooks.deliver();
  await webhooks.addPet("not sent yet");
  expect(working.received).toHaveLength(1);
  const { app, clock } = webhooks.service;
  await app.accounts.delete(webhooks.accountId, clock.now());
  const before = failing.received.length;
  expect(before).toBeGreaterThan(0);
  for (const delay of deliveryDelays) await webhooks.after(LATE_FACTOR * delay);
  expect([failing.received.length, working.received.length]).toEqual([before, 1]);
});

describe("a change", () => {
  test("is sent once, as a message that its receiver can verify", async () => {
    const receiver = webhooks.receiver();
    const { id, secret, publicKey } = await webhooks.endpoint(receiver);
    const petId = await webhooks.addPet();
    await webhooks.deliver();
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(1);
    const [{ headers, body, path } = { headers: new Headers(), body: "", path: "" }] = receiver.received;
    expect(path).toBe("/hook");
    const now = webhooks.service.clock.now();
    await verifyWebhook(body, headers, secret, { now });
    await verifyWebhook(body, headers, publicKey, { now });
    const [event] = (await webhooks.call("GET", "/events?sort=-id")).json;
    expect(JSON.parse(body)).toEqual({
      id: headers.get("webhook-id"),
      type: "pet.created",
      timestamp: event.at,
      mode: "test",
      data: event,
    });
    expect(event.subject).toEqual({ type: "pet", id: String(petId) });
    const [delivery] = await webhooks.deliveries(id);
    expect(delivery).toMatchObject({
      kind: "event",
      type: "pet.created",
      attempt: 1,
      outcome: "succeeded",
      status: 200,
    });
    const { json } = await webhooks.call("GET", `/webhook-endpoints/${id}/deliveries/${delivery.id}`);
    expect(json).toEqual({ ...delivery, response: "taken" });
    expect(await webhooks.getEndpoint(id)).toMatchObject({ successRate24h: 1 });
  });

  test("is sent to every endpoint that subscribes to its type, and to none of another shop", async () => {
    const [all, some, foreign] = [webhooks.receiver(), webhooks.receiver(), webhooks.receiver()];
    await webhooks.endpoint(foreign);
    await webhooks.addShop();
    await webhooks.endpoint(all, { types: ["*"] });
    await webhooks.endpoint(some, { types: ["order.placed", "pet.deleted"] });
    const petId = await webhooks.addPet();
    await webhooks.call("POST", "/store/orders", { petId });
    await webhooks.deliver();
    const types = ({ received }: typeof all) => received.map((one) => messageOf(one).type).toSorted();
    expect(types(all)).toEqual(["order.placed", "pet.created", "pet.updated", "webhook_endpoint.created"]);
    expect(types(some)).toEqual(["order.placed"]);
    expect(types(foreign)).toEqual([]);
  });

  // On the embedded store, a change can be read before it is on disk.
  test.skipIf(onPostgres)("is not sent before it is on disk", async () => {
    const receiver = webhooks.receiver();
    await webhooks.endpoint(receiver, { types: ["pet.created"] });
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let onDisk = first.promise;
    const settled = spyOn(SqliteStorage.prototype, "settled").mockImplementation(() => onDisk);
    // oxlint-disable-next-line typescript/unbound-method -- it uses no `this`
    const read = eventLog.after;
    const reads = spyOn(eventLog, "after").mockImplementationOnce(function* (...parameters) {
      onDisk = second.promise;
      yield* waitFor(webhooks.addPet("two"));
      return yield* read(...parameters);
    });
    const names = async () => receiver.received.map(({ body }) => JSON.parse(body).data.data.name as string);
    const roundWaits = () => eventually(() => settled.mock.results.at(-1)?.value === onDisk);
    await webhooks.addPet("one");
    const delivering = webhooks.deliver();
    await roundWaits();
    expect(await names()).toEqual([]);
    first.resolve();
    await eventually(names, ({ length }) => length > 0);
    await roundWaits();
    expect(await names()).toEqual(["one"]);
    second.resolve();
    await delivering;
    expect(await names()).toEqual(["one", "two"]);
    settled.mockRestore();
    reads.mockRestore();
  });

  test("is not sent to an endpoint that was created later", async () => {
    await webhooks.addPet();
    const receiver = webhooks.receiver();
    await webhooks.endpoint(receiver);
    await webhooks.deliver();
    expect(receiver.received).toEqual([]);
  });
});

test("an endpoint and its deliveries are unknown in another account, which changes nothing about them", async () => {
  const receiver = webhooks.receiver();
  const { id, publicKey } = await webhooks.endpoint(receiver);
  await webhooks.addPet();
  await webhooks.deliver();
  const [{ id: deliveryId }] = await webhooks.deliveries(id);
  const { key } = webhooks;
  await webhooks.addShop();
  const own = await webhooks.endpoint(webhooks.receiver());
  for (const [method, endpoint, operation, body, code] of [
    ["POST", id, "rotate-secret", undefined, "webhook_endpoint_not_found"],
    ["POST", id, "test", undefined, "webhook_endpoint_not_found"],
    ["POST", id, "redeliver", {}, "webhook_endpoint_not_found"],
    ["POST", id, "redeliver", { deliveryId }, "webhook_endpoint_not_found"],
    ["GET", id, "deliveries", undefined, "webhook_endpoint_not_found"],
    ["GET", id, `deliveries/${deliveryId}`, undefined, "webhook_endpoint_not_found"],
    ["POST", own.id, "redeliver", { deliveryId }, "webhook_delivery_not_found"],
    ["GET", own.id, `deliveries/${deliveryId}`, undefined, "webhook_delivery_not_found"],
  ] as const) {
    const { status, json } = await webhooks.call(method, `/webhook-endpoints/${endpoint}/${operation}`, body);
    expect([operation, status, json.code]).toEqual([operation, 404, code]);
  }
  await webhooks.deliver();
  webhooks.key = key;
  expect([receiver.received.length, (await webhooks.getEndpoint(id)).publicKey]).toEqual([1, publicKey]);
});

test("an endpoint, its deliveries and one of them are returned with 304 for their entity tags", async () => {
  const { id } = await webhooks.endpoint(webhooks.receiver());
  await webhooks.addPet();
  await webhooks.deliver();
  const [delivery] = await webhooks.deliveries(id);
  for (const path of ["", "/deliveries", `/deliveries/${delivery.id}`]) {
    const get = (headers = {}) =>
      webhooks.service.call("GET", `/webhook-endpoints/${id}${path}`, { key: webhooks.key, headers });
    const { status, headers } = await get();
    const again = await get({ "If-None-Match": headers.get("etag") ?? "" });
    expect([path, status, again.status, again.text]).toEqual([path, 200, 304, ""]);
  }
});

test("a message that fails, or hangs, delays no other, not even about the same animal", async () => {
  const held = Promise.withResolvers<Response>();
  const receiver = webhooks.receiver(({ body }) => {
    if (body.includes('"hangs"')) return held.promise;
    return new Response(null, { status: isBad(body) && body.includes("pet.created") ? 500 : 200 });
  });
  await webhooks.endpoint(receiver);
  const bad = await webhooks.addPet("bad");
  await webhooks.addPet("hangs");
  for (let count = 0; count < 200; count++) await webhooks.rename(bad, `Rex ${count}`);
  while (receiver.received.length < 202) await webhooks.round();
  expect(new Set(receiver.received.map((one) => messageOf(one).eventId)).size).toBe(202);
  held.resolve(new Response());
  await webhooks.deliver();
  await webhooks.after(5 * SECOND_MS * LATE_FACTOR);
  expect(receiver.received.slice(202).map((one) => messageOf(one).subjectId)).toEqual([String(bad)]);
});

describe("a message that fails", () => {
  test("is sent ten times, with growing delays", async () => {
    const receiver = webhooks.receiver(() => new Response("broken", { status: 500 }));
    const { id } = await webhooks.endpoint(receiver);
    await webhooks.addPet("Rex");
    await webhooks.deliver();
    for (const [index, delay] of deliveryDelays.entries()) {
      if (index === 0) continue;
      await webhooks.after(delay - 1);
      expect(receiver.received).toHaveLength(index);
      await webhooks.after(delay * 0.21);
      expect(receiver.received.length).toBeGreaterThan(index);
    }
    const ids = receiver.received.map((one) => messageOf(one).id);
    expect([ids.length, new Set(ids).size]).toEqual([10, 1]);
    const failed = await webhooks.deliveries(id, "&outcome=failed");
    expect(failed.map(({ attempt }) => attempt)).toEqual([...failed.keys()].map((index) => failed.length - index));
    expect(failed.at(-1)).toMatchObject({ attempt: 1, failure: "error_status", status: 500, type: "pet.created" });
    const { lastFailure, failingSince, successRate24h } = await webhooks.getEndpoint(id);
    expect(lastFailure).toMatchObject({ failure: "error_status", status: 500 });
    expect([failingSince, successRate24h]).toEqual([expect.any(String), 0]);
    await webhooks.after(10 * DAY_MS);
    expect(receiver.received).toHaveLength(10);
  });

  test("is sent again after the receiver's Retry-After", async () => {
    const headers = { "retry-after": "3600" };
    const receiver = webhooks.receiver(() => new Response(null, { status: 503, headers }));
    await webhooks.endpoint(receiver);
    await webhooks.addPet();
    await webhooks.deliver();
    await webhooks.after(HOUR_MS - 1);
    expect(receiver.received).toHaveLength(1);
    await webhooks.after(HOUR_MS * 0.21);
    expect(receiver.received).toHaveLength(2);
  });

  test.each([1, 12])("is sent after the clock was ten years ahead (%d animals)", async (animals) => {
    const { clock } = webhooks.service;
    const right = clock.now();
    let isDown = true;
    const receiver = webhooks.receiver(() => new Response(null, { status: isDown ? 500 : 200 }));
    const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
    clock.setWall(right + 3_653 * DAY_MS);
    for (let count = 0; count < animals; count++) await webhooks.addPet();
    await webhooks.deliver();
    clock.setWall(right);
    isDown = false;
    receiver.received.length = 0;
    await webhooks.deliver();
    expect(new Set(receiver.received.map((one) => messageOf(one).subjectId)).size).toBe(animals);
    expect((await webhooks.getEndpoint(id)).successRate24h).toBe(1);
  });

  test("is sent again after a redirect, which is not followed", async () => {
    const target = webhooks.receiver();
    const location = `http://127.0.0.1:${target.port}/`;
    const receiver = webhooks.receiver(() => new Response(null, { status: 307, headers: { location } }));
    const { id } = await webhooks.endpoint(receiver);
    await webhooks.addPet();
    await webhooks.deliver();
    await webhooks.after(5 * SECOND_MS * LATE_FACTOR);
    expect([receiver.received.length, target.received.length]).toEqual([2, 0]);
    expect((await webhooks.getEndpoint(id)).lastFailure).toMatchObject({ failure: "redirected", status: 307 });
  });

  test("is sent earlier if the sandbox is fast-forwarded", async () => {
    const receiver = webhooks.receiver(() => new Response(null, { status: 500 }));
    await webhooks.endpoint(receiver);
    await webhooks.addPet();
    await webhooks.deliver();
    expect((await webhooks.call("GET", "/sandbox")).json.waiting).toEqual([
      { kind: "webhook_attempt", count: 1, next: expect.any(String) },
      { kind: "endpoint_disabling", count: 1, next: expect.any(String) },
    ]);
    const before = webhooks.tasks.requestedRuns;
    expect((await webhooks.call("POST", "/sandbox/fast-forward", { seconds: 10 })).status).toBe(200);
    expect(webhooks.tasks.requestedRuns).toBe(before + 1); // a run that sends it at once
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(2);
  });
});

describe("a failing endpoint", () => {
  test("is disabled by 410, which adds an event", async () => {
    const [gone, other] = [webhooks.receiver(() => new Response(null, { status: 410 })), webhooks.receiver()];
    const { id } = await webhooks.endpoint(gone);
    await webhooks.endpoint(other, { types: ["webhook_endpoint.disabled"] });
    await webhooks.addPet();
    await webhooks.addPet();
    await webhooks.deliver();
    while ((await webhooks.getEndpoint(id)).state === "enabled") await webhooks.round();
    await webhooks.after(61 * SECOND_MS); // they are counted once a minute
    expect((await webhooks.getEndpoint(id)).state).toBe("disabled");
    const { base } = webhooks.service.app;
    expect(await metric(base, "petstore_webhook_endpoints_disabled")).toBe(1);
    expect(await metric(base, "petstore_webhook_endpoints_disabled_total")).toBe(1);
    expect(other.received.map((one) => [messageOf(one).type, messageOf(one).subjectId])).toEqual([
      ["webhook_endpoint.disabled", id],
    ]);
    const before = gone.received.length;
    await webhooks.addPet();
    await webhooks.after(DAY_MS);
    expect(gone.received.length).toBe(before);
  });

  test("waits after ten animals in a row failed, gets one probe at a time, and after a success all messages at once", async () => {
    let isDown = true;
    const receiver = webhooks.receiver(() => new Response(null, { status: isDown ? 500 : 200 }));
    const { id } = await webhooks.endpoint(receiver);
    for (let count = 0; count < 60; count++) await webhooks.addPet();
    await webhooks.deliver();
    const failed = receiver.received.length;
    expect(failed).toBeWithin(10, 43); // ten, and those that were in progress at the same time
    const { retriesAt } = await webhooks.getEndpoint(id);
    await eventually(
      async () => (await webhooks.service.store.rows("SELECT 1 FROM webhook_attempts")).length === failed,
    );
    const { waiting } = (await webhooks.call("GET", "/sandbox")).json;
    expect(waiting[0]).toMatchObject({ kind: "webhook_attempt", count: failed });
    expect(Date.parse(waiting[0].next) - Date.parse(retriesAt)).toBeWithin(0, SECOND_MS);
    await webhooks.after(5 * SECOND_MS);
    expect(receiver.received.length).toBe(failed + 1);
    await webhooks.after(5 * MINUTE_MS - 1);
    expect(receiver.received.length).toBe(failed + 1);
    await webhooks.after(1);
    expect(receiver.received.length).toBe(failed + 2);
    isDown = false;
    await webhooks.after(30 * MINUTE_MS);
    const delivered = receiver.received.slice(failed + 2).map((one) => messageOf(one).subjectId);
    expect(new Set(delivered).size).toBe(60);
    expect(delivered).toHaveLength(60);
    const shown = await webhooks.getEndpoint(id);
    expect([shown.retriesAt, shown.failingSince]).toEqual([undefined, undefined]);
  });

  test.each([10, 12])("waits as long as the last response's Retry-After says (%d animals)", async (animals) => {
    const last = Promise.withResolvers<Response>();
    const receiver = webhooks.receiver(({ body }) =>
      body.includes("last") ? last.promise : new Response(null, { status: 500 }),
    );
    const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
    for (let count = 1; count < animals; count++) await webhooks.addPet();
    await webhooks.addPet("last");
    while ((await webhooks.deliveries(id)).length < animals - 1) await webhooks.round();
    last.resolve(new Response(null, { status: 503, headers: { "retry-after": "3600" } }));
    await webhooks.deliver();
    await webhooks.after(HOUR_MS - 1);
    expect(receiver.received).toHaveLength(animals);
    await webhooks.after(1);
    expect(receiver.received).toHaveLength(animals + 1);
  });

  test.each([-3_653, 6])("is not disabled because the clock was set, by %d days", async (days) => {
    const { clock } = webhooks.service;
    const right = clock.now();
    const receiver = webhooks.receiver(() => new Response(null, { status: 500 }));
    const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
    if (days < 0) clock.setWall(right + days * DAY_MS);
    await webhooks.addPet();
    await webhooks.deliver();
    clock.setWall(days < 0 ? right : right + days * DAY_MS);
    await webhooks.after(5 * SECOND_MS * LATE_FACTOR);
    expect(receiver.received).toHaveLength(2);
    const { state, failingSince } = await webhooks.getEndpoint(id);
    expect(state).toBe("enabled");
    expect(clock.now() - Date.parse(failingSince)).toBeWithin(0, 2 * DAY_MS);
  });

  test("is disabled after five days, and missed messages can be redelivered", async () => {
    let isDown = true;
    const receiver = webhooks.receiver(() => new Response(null, { status: isDown ? 500 : 200 }));
    const { id } = await webhooks.endpoint(receiver);
    for (let count = 0; count < 12; count++) await webhooks.addPet();
    await webhooks.deliver();
    const { failingSince } = await webhooks.getEndpoint(id);
    for (let hours = 0; hours < 5 * 24 - 12; hours += 12) await webhooks.after(12 * HOUR_MS);
    expect((await webhooks.getEndpoint(id)).state).toBe("enabled");
    await webhooks.after(12 * HOUR_MS);
    while ((await webhooks.getEndpoint(id)).state === "enabled") await webhooks.round();
    expect((await webhooks.getEndpoint(id)).state).toBe("disabled");
    const [last] = await webhooks.deliveries(id);
    expect(Date.parse(last.at) - Date.parse(failingSince)).toBe(5 * DAY_MS);
    const { missed } = await webhooks.getEndpoint(id);
    isDown = false;
    receiver.received.length = 0;
    await webhooks.addPet();
    await webhooks.call("PATCH", `/webhook-endpoints/${id}`, { paused: false });
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(0); // what it missed is sent again only if that is asked for
    await webhooks.addPet();
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(1);
    expect((await webhooks.getEndpoint(id)).missed).toBeUndefined();
    expect((await webhooks.call("POST", `/webhook-endpoints/${id}/redeliver`, missed)).status).toBe(200);
    await webhooks.deliver();
    const created = receiver.received.map(messageOf).filter(({ type }) => type === "pet.created");
    expect(new Set(created.map(({ subjectId }) => subjectId)).size).toBe(14);
  });

  test.each(["given up", "during a pause"])("says which event is the first that it missed: one %s", async (what) => {
    let status = 204;
    const receiver = webhooks.receiver(() => new Response(null, { status }));
    const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
    const pause = (paused: boolean) => webhooks.call("PATCH", `/webhook-endpoints/${id}`, { paused });
    await webhooks.addPet("accepted");
    await webhooks.deliver();
    status = 500;
    if (what === "during a pause") await pause(true);
    const missed = await webhooks.addPet();
    await webhooks.deliver();
    for (const delay of deliveryDelays) await webhooks.after(LATE_FACTOR * delay);
    expect(await webhooks.service.store.rows("SELECT 1 FROM webhook_attempts")).toEqual([]);
    await webhooks.addPet();
    status = 410;
    await pause(false);
    while ((await webhooks.getEndpoint(id)).state === "enabled") await webhooks.deliver();
    const [{ id: from }] = (await webhooks.call("GET", `/events?petId=${missed}`)).json;
    expect((await webhooks.getEndpoint(id)).missed).toEqual({ from });
  });

  test("gets nothing while it is paused, and afterwards everything that it missed", async () => {
    const receiver = webhooks.receiver();
    const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
    await webhooks.call("PATCH", `/webhook-endpoints/${id}`, { paused: true });
    for (let count = 0; count < 3; count++) await webhooks.addPet();
    await webhooks.after(DAY_MS);
    expect(receiver.received).toEqual([]);
    await webhooks.call("PATCH", `/webhook-endpoints/${id}`, { paused: false });
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(3);
  });

  test("gets nothing of what it missed while disabled, even if it is paused before it is enabled", async () => {
    let isGone = true;
    const receiver = webhooks.receiver(() => new Response(null, { status: isGone ? 410 : 200 }));
    const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
    await webhooks.addPet();
    await webhooks.deliver();
    while ((await webhooks.getEndpoint(id)).state === "enabled") await webhooks.round();
    isGone = false;
    receiver.received.length = 0;
    await webhooks.addPet();
    await webhooks.call("PATCH", `/webhook-endpoints/${id}`, { paused: true });
    const whilePaused = await webhooks.addPet();
    await webhooks.call("PATCH", `/webhook-endpoints/${id}`, { paused: false });
    await webhooks.deliver();
    expect(receiver.received.map((one) => messageOf(one).subjectId)).toEqual([String(whilePaused)]);
  });

  test("gets nothing of what it missed while disabled, even if its sandbox was reset", async () => {
    let isGone = true;
    const receiver = webhooks.receiver(() => new Response(null, { status: isGone ? 410 : 200 }));
    const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
    await webhooks.addPet();
    await webhooks.deliver();
    while ((await webhooks.getEndpoint(id)).state === "enabled") await webhooks.round();
    isGone = false;
    receiver.received.length = 0;
    await webhooks.call("POST", "/sandbox/reset", { animals: "samples" });
    await webhooks.call("PATCH", `/webhook-endpoints/${id}`, { paused: false });
    const afterwards = await webhooks.addPet();
    await webhooks.deliver();
    expect(receiver.received.map((one) => messageOf(one).subjectId)).toEqual([String(afterwards)]);
  });

  test("gets waiting messages at once after its URL was changed", async () => {
    const [wrong, right] = [webhooks.receiver(() => new Response(null, { status: 404 })), webhooks.receiver()];
    const { id } = await webhooks.endpoint(wrong);
    await webhooks.addPet();
    await webhooks.deliver();
    const url = `http://127.0.0.1:${right.port}/`;
    await webhooks.call("PATCH", `/webhook-endpoints/${id}`, { url });
    await webhooks.deliver();
    expect([wrong.received.length, right.received.map((one) => messageOf(one).type).toSorted()]).toEqual([
      1,
      ["pet.created", "webhook_endpoint.updated"],
    ]);
  });
});

test("a message that waits is sent once more after its type was deselected", async () => {
  let isDown = true;
  const receiver = webhooks.receiver(() => new Response(null, { status: isDown ? 500 : 200 }));
  const { id } = await webhooks.endpoint(receiver, { types: ["category.created"] });
  await webhooks.call("POST", "/categories", { name: "Hamsters" });
  await webhooks.deliver();
  await webhooks.call("PATCH", `/webhook-endpoints/${id}`, { types: ["pet.created"] });
  isDown = false;
  await webhooks.after(5 * SECOND_MS * LATE_FACTOR);
  await webhooks.addPet();
  await webhooks.deliver();
  const types = receiver.received.map((one) => messageOf(one).type);
  expect(types).toEqual(["category.created", "category.created", "pet.created"]);
});

describe("a redelivery", () => {
  test("sends one message, a range, or everything since an event, with the same ids", async () => {
    const receiver = webhooks.receiver();
    const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
    for (let count = 0; count < 5; count++) await webhooks.addPet();
    await webhooks.deliver();
    const originals = new Map(receiver.received.map((one) => [messageOf(one).eventId, messageOf(one).id]));
    const [, , third = 0, fourth = 0, last = 0] = [...originals.keys()].toSorted((one, other) => one - other);
    const again = async (body: object) => {
      receiver.received.length = 0;
      const { json } = await webhooks.call("POST", `/webhook-endpoints/${id}/redeliver`, body);
      await webhooks.deliver();
      const messages = receiver.received.map(messageOf).toSorted((one, other) => one.eventId - other.eventId);
      for (const message of messages) expect(message.id).toBe(originals.get(message.eventId) as string);
      return [json, messages.map(({ eventId }) => eventId)];
    };
    const [delivery] = await webhooks.deliveries(id);
    expect(await again({ deliveryId: delivery.id })).toEqual([
      { from: delivery.eventId, to: delivery.eventId },
      [delivery.eventId],
    ]);
    expect(await again({ from: third, to: fourth })).toEqual([{ from: third, to: fourth }, [third, fourth]]);
    expect(await again({ from: fourth })).toEqual([{ from: fourth, to: last }, [fourth, last]]);
    expect((await again({ from: 0, to: third }))[0]).toEqual({ from: 1, to: third });
    expect(await again({})).toEqual([
      { from: 1, to: last },
      [...originals.keys()].toSorted((one, other) => one - other),
    ]);
    expect((await webhooks.deliveries(id))[0]).toMatchObject({ kind: "redelivery", outcome: "succeeded" });
  });

  test("is tried again if it fails, and delays nothing else", async () => {
    let isDown = false;
    const receiver = webhooks.receiver(() => new Response(null, { status: isDown ? 500 : 200 }));
    const { id } = await webhooks.endpoint(receiver, { types: ["pet.created", "pet.updated"] });
    const petId = await webhooks.addPet();
    await webhooks.deliver();
    isDown = true;
    await webhooks.call("POST", `/webhook-endpoints/${id}/redeliver`, {});
    await webhooks.deliver();
    isDown = false;
    receiver.received.length = 0;
    await webhooks.rename(petId, "Ida");
    await webhooks.deliver();
    expect(receiver.received.map((one) => messageOf(one).type)).toEqual(["pet.updated"]);
    await webhooks.after(5 * SECOND_MS * LATE_FACTOR);
    expect(receiver.received.map((one) => messageOf(one).type)).toEqual(["pet.updated", "pet.created"]);
  });

  test.each([
    ["redeliver", { from: 1 }],
    ["redeliver", undefined],
    ["test", undefined],
  ])("is finished although the store failed when its end was saved (%s %j)", async (action, range) => {
    const { id } = await webhooks.endpoint(webhooks.receiver(), { types: ["pet.created"] });
    await webhooks.addPet();
    await webhooks.deliver();
    const [{ id: deliveryId }] = await webhooks.deliveries(id);
    const save = spyOn(DispatchStore.prototype, "save");
    save.mockRejectedValueOnce(new StorageUnavailable("no store"));
    await webhooks.call(
      "POST",
      `/webhook-endpoints/${id}/${action}`,
      action === "test" ? undefined : (range ?? { deliveryId }),
    );
    const left = async () => {
      await webhooks.round();
      return webhooks.service.store.rows(
        "SELECT id FROM webhook_redeliveries UNION SELECT event_id FROM webhook_attempts",
      );
    };
    expect(await eventually(left, (rows) => rows.length === 0)).toEqual([]);
    expect(save.mock.calls.length).toBeGreaterThan(1);
    save.mockRestore();
    expect(await webhooks.deliveries(id)).toHaveLength(2);
  });

  test("is refused if it is not possible", async () => {
    const { id } = await webhooks.endpoint(webhooks.receiver());
    const refused = async (body: object) => {
      const { status, json } = await webhooks.call("POST", `/webhook-endpoints/${id}/redeliver`, body);
      return [status, json.code];
    };
    expect(await refused({ deliveryId: 7 })).toEqual([404, "webhook_delivery_not_found"]);
    expect(await refused({ deliveryId: 7, from: 1 })).toEqual([400, "invalid_request"]);
    expect(await refused({ from: 9, to: 8 })).toEqual([400, "invalid_request"]);
    const { json } = await webhooks.call("POST", `/webhook-endpoints/${id}/redeliver`, { to: 0 });
    expect(json.details).toEqual([{ path: "/body", message: "names no stored event" }]);
    await webhooks.addPet();
    await webhooks.service.store.run("DELETE FROM events WHERE id = 1");
    expect(await refused({ from: 1 })).toEqual([410, "events_expired"]);
    for (let count = 0; count < 10; count++) await webhooks.call("POST", `/webhook-endpoints/${id}/test`);
    expect(await refused({ from: 2 })).toEqual([409, "too_many_webhook_redeliveries"]);
  });
});

test("a process without a round for a minute reports no lag", async () => {
  const lag = () => metric(webhooks.service.app.base, "petstore_webhook_lag_seconds");
  const held = Promise.withResolvers<Response>();
  const receiver = webhooks.receiver(() => held.promise);
  await webhooks.endpoint(receiver, { types: ["pet.created"] });
  await webhooks.addPet();
  while (receiver.received.length === 0) await webhooks.round();
  webhooks.service.clock.advance(30 * SECOND_MS);
  expect(await lag()).toBe(30);
  webhooks.service.clock.advance(30 * SECOND_MS);
  expect(await lag()).toBe(0);
  held.resolve(new Response());
  await webhooks.deliver();
});

test("a test message is sent even to a paused endpoint, with a separate id", async () => {
  const receiver = webhooks.receiver();
  const { id } = await webhooks.endpoint(receiver);
  await webhooks.call("PATCH", `/webhook-endpoints/${id}`, { paused: true });
  for (let count = 0; count < 2; count++) {
    expect((await webhooks.call("POST", `/webhook-endpoints/${id}/test`)).status).toBe(204);
    await webhooks.after(1);
  }
  const messages = receiver.received.map(messageOf);
  expect(messages.map(({ type, subjectId }) => [type, subjectId])).toEqual([
    ["webhook_endpoint.test", id],
    ["webhook_endpoint.test", id],
  ]);
  expect(new Set(messages.map((message) => message.id)).size).toBe(2);
  const [delivery] = await webhooks.deliveries(id);
  expect(delivery).toMatchObject({ kind: "test", type: "webhook_endpoint.test", outcome: "succeeded" });
  expect(delivery).not.toContainKey("eventId");
});

test("messages are signed with every secret that was replaced within a day, and a sixth is refused", async () => {
  const receiver = webhooks.receiver();
  const { id, secret, publicKey } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
  const keys: [string, string][] = [[secret, publicKey]];
  const rotate = async () => {
    const { status, json } = await webhooks.call("POST", `/webhook-endpoints/${id}/rotate-secret`);
    if (status === 200) keys.push([json.secret, json.publicKey]);
    return json.code;
  };
  const verifies = async (key: string) => {
    const { body, headers } = receiver.received.at(-1) ?? { body: "", headers: new Headers() };
    const verifying = verifyWebhook(body, headers, key, { now: webhooks.service.clock.now() });
    return verifying.then(
      () => true,
      () => false,
    );
  };
  /** Which of the keys verify a message that is sent after this time. */
  const validAfter = async (milliseconds: number) => {
    await webhooks.addPet();
    await webhooks.after(milliseconds);
    return Promise.all(keys.map(async (pair) => (await Promise.all(pair.map(verifies))).join()));
  };
  await rotate();
  expect(await validAfter(DAY_MS - 2)).toEqual(["true,true", "true,true"]);
  await rotate();
  expect(await validAfter(1)).toEqual(["true,true", "true,true", "true,true"]);
  expect(await validAfter(1)).toEqual(["false,false", "true,true", "true,true"]);
  expect([await rotate(), await rotate(), await rotate(), await rotate()]).toEqual([
    undefined,
    undefined,
    undefined,
    "too_many_webhook_secrets",
  ]);
  expect(keys).toHaveLength(6);
  expect(await validAfter(DAY_MS - 3)).toEqual(["false,false", ...Array(5).fill("true,true")]);
  expect(await validAfter(1)).toEqual(["false,false", "false,false", ...Array(4).fill("true,true")]);
  expect(await rotate()).toBeUndefined();
});

test.each(["ends", "does not end"])(
  "a service sends nothing again that the one before it delivered, if its last delivery %s",
  async (end) => {
    const held = Promise.withResolvers<void>();
    const receiver = webhooks.receiver(({ body }) =>
      body.includes('"pet.created"') && isBad(body) ? held.promise.then(() => new Response()) : new Response(),
    );
    await webhooks.endpoint(receiver, { types: ["pet.created", "pet.updated"] });
    const first = await webhooks.addPet();
    await webhooks.rename(first, "Ida");
    const second = await webhooks.addPet();
    await webhooks.rename(second, "Bo");
    while (receiver.received.length < 4) await webhooks.round();
    const finished = webhooks.tasks.finish();
    if (end === "ends") held.resolve();
    await finished;
    await webhooks.restart();
    held.resolve();
    await webhooks.deliver();
    const sent = receiver.received.map(messageOf).map(({ type, subjectId }) => `${type} ${subjectId}`);
    const again = end === "ends" ? [] : [`pet.created ${first}`];
    expect(sent.toSorted()).toEqual(
      [first, second]
        .flatMap((pet) => [`pet.created ${pet}`, `pet.updated ${pet}`])
        .concat(again)
        .toSorted(),
    );
  },
);

test("a service tries again what the one before it did not deliver", async () => {
  let isDown = true;
  const receiver = webhooks.receiver(() => new Response(null, { status: isDown ? 500 : 200 }));
  await webhooks.endpoint(receiver, { types: ["pet.created"] });
  await webhooks.addPet();
  await webhooks.deliver();
  await webhooks.restart();
  isDown = false;
  receiver.received.length = 0;
  await webhooks.after(5 * SECOND_MS * LATE_FACTOR);
  expect(receiver.received.map((one) => messageOf(one).type)).toEqual(["pet.created"]);
});
