// What the log and the metrics tell operators about banned keys and guessed keys.
import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { StorageUnavailable } from "../../src/storage/errors.ts";
import { runJsonInProcess } from "../harness/commands.ts";
import { ManualClock } from "../harness/manual-clock.ts";
import { metric as metricOf } from "../harness/metrics.ts";
import { eventually } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";
import { hasValkey, ValkeyServer } from "../harness/valkey-server.ts";

let service: TestService;
afterEach(() => service.stop());

/** Lines of the events, as far as they are written. */
const linesOf = ({ logLines }: TestService, ...names: string[]) =>
  logLines.map((line) => JSON.parse(line)).filter(({ event }) => names.includes(event));

/** Waits until at least `count` lines of these events are written. */
const awaitLines = (count: number, ...names: string[]) =>
  eventually(
    () => linesOf(service, ...names),
    ({ length }) => length >= count,
  );

/** Waits for the starts and ends of bans in the log: how many seconds each ban lasts, and "ended" for each end. */
const bansLogged = async (count: number) =>
  (await awaitLines(count, "ban_started", "ban_ended")).map(({ event, seconds }) =>
    event === "ban_started" ? seconds : "ended",
  );

const metric = (name: string) => metricOf(service.app.base, name);

const events = () => service.store.rows("SELECT id FROM events WHERE type = 'key.banned'");
/** Waits until exactly `count` bans have added an event. */
const awaitEvents = (count: number) => eventually(events, ({ length }) => length === count);

/** Starts a service with the time of the machine, which commands read. */
const startInRealTime = () => TestService.start({ clock: new ManualClock(Date.now()) });
const newKey = () => service.newAccountWithKey("enterprise", { perMinute: 2, perDay: 1_000 });
const lift = (id: string) => runJsonInProcess(service.store.folder, ["bans", "lift", id], service.store.settings);

/** Sends requests until the key is banned, and two more. */
async function ban(key: string): Promise<void> {
  for (let count = 0; count < 3; count++) await service.call("GET", "/pets", { key });
  service.clock.advance(1_000);
  for (let count = 0; count < 20 + 2; count++) await service.call("GET", "/pets", { key });
}

describe("a ban", () => {
  test("is logged when it starts and when it ends, and counted", async () => {
    service = await TestService.start();
    const { key, account, record } = await newKey();
    expect(await metric("petstore_bans_total")).toBe(0);
    await ban(key);
    const told = { keyId: record.id, accountId: account.id };
    const [started] = await awaitLines(1, "ban_started");
    expect(started).toMatchObject({ level: "warn", ...told, seconds: 60, strikes: 20, message: expect.any(String) });
    expect(new Date(started.until).getTime()).toBe(Math.ceil((service.clock.now() + 60_000) / 1000) * 1000);
    expect(await metric("petstore_bans_total")).toBe(1);
    service.clock.advance(60_000);
    const [ended] = await awaitLines(1, "ban_ended");
    expect(ended).toMatchObject({ level: "info", ...told });
    expect(await metric("petstore_bans_total")).toBe(1);

    await ban(key);
    expect(await bansLogged(3)).toEqual([60, "ended", 120]);
    expect(service.logLines.join("\n")).not.toContain(key.slice(12));
  });

  test("that continues after a restart is logged again when a key is rejected", async () => {
    service = await TestService.start();
    const { key, record } = await newKey();
    await ban(key);
    const [before] = await awaitLines(1, "ban_started");
    service = await service.restart();
    await service.call("GET", "/pets", { key });
    const [after] = await awaitLines(1, "ban_started");
    expect(after).toMatchObject({ keyId: record.id, until: before.until });
  });

  test("is logged after a lift, although the lifted ban would still last", async () => {
    service = await startInRealTime();
    const { key, record } = await newKey();
    await ban(key);
    await awaitLines(1, "ban_started");
    await lift(record.id);
    service.clock.advance(5_000);
    await eventually(async () => (await service.call("GET", "/pets", { key })).json.code !== "key_banned");
    await ban(key);
    await awaitLines(2, "ban_started");

    await service.call("POST", "/sandbox/fast-forward", { key, body: { seconds: 60 } });
    service.clock.advance(5_000);
    await ban(key);
    const lines = await awaitLines(3, "ban_started");
    expect(lines.map(({ seconds }) => seconds)).toEqual([60, 60, 120]);
    expect(await metric("petstore_bans_total")).toBe(3);
    await awaitEvents(3);
  });

  test("adds its event as soon as the store is available again", async () => {
    service = await TestService.start();
    const { key } = await newKey();
    spyOn(service.app.keys, "noteBan").mockRejectedValueOnce(new StorageUnavailable("full"));
    await ban(key);
    await awaitEvents(1);
    expect(linesOf(service, "task_failed")).toMatchObject([{ task: "note_ban" }]);
  });

  test("adds its event while that of another key cannot be added", async () => {
    service = await TestService.start();
    const failing = await newKey();
    const other = await newKey();
    const { keys } = service.app;
    const noteBan = keys.noteBan.bind(keys);
    let isAvailable = false;
    spyOn(keys, "noteBan").mockImplementation(async (keyId, ...times) => {
      if (!isAvailable || keyId === failing.record.id) throw new StorageUnavailable("full");
      await noteBan(keyId, ...times);
    });
    await ban(failing.key);
    await ban(other.key);
    isAvailable = true;
    await awaitEvents(1);
  });

  test("adds no event if it is lifted before the store is available again", async () => {
    service = await startInRealTime();
    const { key, record } = await newKey();
    const noteBan = spyOn(service.app.keys, "noteBan").mockRejectedValue(new StorageUnavailable("full"));
    await ban(key);
    await lift(record.id);
    await awaitLines(1, "ban_ended");
    noteBan.mockRestore();
    service = await service.restart(); // the stop does all work that waits
    expect(await events()).toEqual([]);
  });

  test("is logged after a longer ban was lifted, although it ends earlier", async () => {
    service = await startInRealTime();
    const { key, record } = await newKey();
    await ban(key);
    await awaitEvents(1);
    service.clock.advance(60_000);
    await ban(key);
    await awaitEvents(2);
    await lift(record.id);
    await awaitLines(2, "ban_ended");
    service.clock.advance(5_000);
    await ban(key);
    expect(await bansLogged(5)).toEqual([60, "ended", 120, "ended", 60]);
    expect(await metric("petstore_bans_total")).toBe(3);
    await awaitEvents(3);
  });

  test("is logged after a fast-forward ended a longer ban, although it ends earlier", async () => {
    service = await TestService.start();
    const { key } = await newKey();
    for (const [index, seconds] of [0, 60, 120].entries()) {
      service.clock.advance(seconds * 1_000);
      await ban(key);
      await awaitEvents(index + 1);
    }
    const forward = (seconds: number) => service.call("POST", "/sandbox/fast-forward", { key, body: { seconds } });
    await forward(20);
    // The quota of the sandbox is used up after 20 requests. Its refusals do not mean that the ban is over.
    for (let count = 0; count < 20; count++) await service.call("GET", "/sandbox", { key });
    expect((await service.call("GET", "/pets", { key })).json.code).toBe("key_banned");
    service.clock.advance(60_000); // the quota is full again
    await forward(86_400 + 240 - 20 - 60);
    await ban(key);
    const lines = await awaitLines(4, "ban_started");
    expect(lines.map(({ seconds }) => seconds)).toEqual([60, 120, 240, 60]);
    await awaitEvents(4);
  });

  test("adds an event after a fast-forward ended a longer ban, also if the process does not know that ban", async () => {
    service = await TestService.start();
    const { key } = await newKey();
    await ban(key);
    await awaitEvents(1);
    service.clock.advance(60_000);
    await ban(key);
    await awaitEvents(2);
    await service.call("POST", "/sandbox/fast-forward", { key, body: { seconds: 86_400 + 120 } });
    service = await service.restart();
    await ban(key);
    expect((await awaitLines(1, "ban_started"))[0].seconds).toBe(60);
    await awaitEvents(3);
  });

  test("is logged once while earlier refused requests still send their bodies", async () => {
    service = await TestService.start();
    const { key } = await newKey();
    for (let count = 0; count < 3; count++) await service.call("GET", "/pets", { key });
    service.clock.advance(1_000);
    const bodies = Array.from({ length: 3 }, () => new TransformStream<Uint8Array, Uint8Array>());
    const responses = bodies.map(({ readable: body }) =>
      fetch(`${service.app.base}/pets`, { method: "POST", headers: { Authorization: `Bearer ${key}` }, body }),
    );
    const writers = bodies.map(({ writable }) => writable.getWriter());
    for (const writer of writers) await writer.write(new Uint8Array(1));
    await eventually(() => service.app.controls.drains.size === 3);
    for (let count = 0; count < 22; count++) await service.call("GET", "/pets", { key });
    for (const [index, writer] of writers.entries()) {
      await writer.close();
      expect(await (await responses[index])?.json()).toMatchObject({ code: "rate_limit_exceeded" });
      expect((await service.call("GET", "/pets", { key })).json.code).toBe("key_banned");
    }
    expect(await metric("petstore_bans_total")).toBe(1);
    await service.app.stop();
    expect(linesOf(service, "ban_started", "ban_ended")).toMatchObject([{ event: "ban_started" }]);
    await awaitEvents(1);
  });

  test.skipIf(!hasValkey)("is logged if many processes share their counts", async () => {
    const valkey = await ValkeyServer.start();
    service = await TestService.start({ settings: { PETSTORE_VALKEY_URL: valkey.url } });
    const { key, record } = await newKey();
    const statuses = new Set<string>();
    while (!statuses.has("key_banned")) statuses.add((await service.call("GET", "/pets", { key })).json.code);
    const [started] = await awaitLines(1, "ban_started");
    expect(started).toMatchObject({ keyId: record.id, seconds: 60, strikes: 20 });
    expect(await metric("petstore_bans_total")).toBe(1);
    await valkey.stop();
  });
});

describe("invalid keys", () => {
  test("are logged in one line for each address and minute, including those over its limit", async () => {
    service = await TestService.start({ settings: { PETSTORE_TRUSTED_PROXIES: "127.0.0.1" } });
    const guess = (address: string) =>
      service.call("GET", "/pets", { key: "wrong", headers: { "X-Forwarded-For": address } });
    for (let count = 0; count < 65; count++) await guess("192.0.2.1");
    for (let count = 0; count < 10; count++) await guess("2001:db8::1");
    for (let count = 0; count < 9; count++) await guess("192.0.2.3");
    for (let count = 0; count < 3; count++) await guess("192.0.2.4");
    await service.call("GET", "/pets", { headers: { "X-Forwarded-For": "192.0.2.5" } }); // without a key
    expect(await metric("petstore_invalid_keys_total")).toBe(87);
    expect(await metric('petstore_requests_failed_total{operation="listPets",code="invalid_api_key"}')).toBe(82);
    expect(await metric('petstore_requests_failed_total{operation="listPets",code="missing_api_key"}')).toBe(1);
    expect(linesOf(service, "invalid_keys_rejected")).toEqual([]);
    service.clock.advance(60_000);
    const lines = await awaitLines(3, "invalid_keys_rejected");
    expect(lines.map(({ level, count, address, addresses }) => [level, count, address, addresses])).toEqual([
      ["warn", 65, "192.0.2.1", undefined],
      ["warn", 10, "2001:db8:0:0::/64", undefined],
      ["warn", 12, undefined, 2],
    ]);
    for (let count = 0; count < 9; count++) await guess("192.0.2.3");
    service.clock.advance(60_000);
    await guess("192.0.2.3");
    await service.app.stop(); // nine are no burst, and no more are to come
    expect(linesOf(service, "invalid_keys_rejected")).toHaveLength(3);
  });
});
