// What the log and the metrics tell operators about banned keys and guessed keys.
import { afterEach, describe, expect, test } from "bun:test";
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

const metric = (name: string) => metricOf(service.app.base, name);

const newKey = () => service.newAccountWithKey("enterprise", { perMinute: 2, perDay: 1_000 });

/** Sends requests until the key is banned, and two more. */
async function ban(key: string): Promise<void> {
  for (let count = 0; count < 3; count++) await service.call("GET", "/pets", { key });
  service.clock.advance(1_000);
  for (let count = 0; count < 20 + 2; count++) await service.call("GET", "/pets", { key });
}

describe("a ban", () => {
  test("is logged and counted once", async () => {
    service = await TestService.start();
    const { key, account, record } = await newKey();
    expect(await metric("petstore_bans_total")).toBe(0);
    await ban(key);
    const told = { keyId: record.id, accountId: account.id };
    const [started] = await awaitLines(1, "ban_started");
    expect(started).toMatchObject({ level: "warn", ...told, seconds: 60, strikes: 20, message: expect.any(String) });
    expect(new Date(started.until).getTime()).toBe(service.clock.now() + 60_000);
    expect(await metric("petstore_bans_total")).toBe(1);
    service.clock.advance(60_000);
    await ban(key);
    const lines = await awaitLines(2, "ban_started");
    expect(lines.map(({ seconds }) => seconds)).toEqual([60, 120]);
    expect(service.logLines.join("\n")).not.toContain(key.slice(12));
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
    expect(linesOf(service, "ban_started")).toHaveLength(1);
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
