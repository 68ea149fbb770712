// The background tasks of a whole service.
import { expect, spyOn, test } from "bun:test";
import { DistantStorage } from "../../test/harness/distant-storage.ts";
import { TestService } from "../../test/harness/service.ts";
import { secretKey } from "../../test/harness/webhook-service.ts";
import { HOUR_MS } from "../timing/clock.ts";
import { BackgroundTasks } from "./background-tasks.ts";
import { openStorage } from "./store/engines.ts";

test("what a process has in memory is saved by each, and what the store has is worked off by one", async () => {
  using add = spyOn(BackgroundTasks.prototype, "add");
  const service = await TestService.start({ settings: { PETSTORE_SECRET_KEY: secretKey } });
  await service.stop();
  const tasks = add.mock.calls.map(([{ name, by }]) => [name, by] as const);
  expect(Object.fromEntries(tasks)).toEqual({
    check_store: "each",
    count_disabled_endpoints: "leader",
    delete_accounts: "leader",
    delete_expired_responses: "leader",
    delete_old_events: "leader",
    delete_old_requests: "leader",
    delete_old_usage: "leader",
    delete_old_webhook_deliveries: "leader",
    delete_shops: "leader",
    deliver_webhooks: "leader",
    disable_expired_endpoints: "leader",
    expire_orders: "leader",
    log_abuse: "each",
    note_key_uses: "each",
    renew_time_zones: "leader",
    save_limits: "each",
    save_requests: "each",
    save_usage: "each",
    watch_clock: "each",
    watch_event_loop: "each",
    watch_times_of_shops: "leader",
  });
});

test("a service that stops saves all its counts and records, however many wait", async () => {
  const stores: DistantStorage[] = [];
  const openStore = async (...args: Parameters<typeof openStorage>) => {
    const storage = new DistantStorage(await openStorage(...args));
    stores.push(storage);
    return storage;
  };
  const service = await TestService.start({ openStore });
  const { key } = await service.newAccountWithKey("enterprise");
  const [storage] = stores as [DistantStorage];
  storage.writesLeft = 0; // so that no round saves any before the last one
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its receiver
  const { stop } = BackgroundTasks.prototype;
  using _ = spyOn(BackgroundTasks.prototype, "stop").mockImplementation(function (this: BackgroundTasks) {
    storage.writesLeft = Number.POSITIVE_INFINITY;
    return stop.call(this);
  });
  const paths = ["/nothing", "/pets/1", "/categories/1", "/store/orders/1", "/pets?x=1"];
  const hours = 110; // 550 counts and as many records, of which one save takes 250 and 500
  for (let hour = 0; hour < hours; hour++) {
    await Promise.all(paths.map((path) => service.call("GET", path, { key })));
    service.clock.advance(HOUR_MS);
  }
  const restarted = await service.restart();
  const days = (await restarted.call("GET", "/usage?granularity=day", { key })).json as { requests: number }[];
  const counted = days.reduce((sum, { requests }) => sum + requests, 0);
  const [recorded] = await service.store.rows("SELECT count(*) AS records FROM request_records");
  expect([counted, recorded]).toEqual([hours * paths.length, { records: hours * paths.length }]);
  await restarted.stop();
});
