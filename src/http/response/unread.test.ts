import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestService } from "../../../test/harness/service.ts";

/** Less than may be unread in all, and together with `MORE` too much, in bytes. */
const [MUCH, MORE] = [24_000_000, 12_000_000];

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

test("while too much is unread, the shop that leaves the most may write, and not read", async () => {
  const [busy, other] = [await service.newAccountWithKey("enterprise"), await service.newAccountWithKey("enterprise")];
  const leave = async ({ account }: typeof busy, bytes: number) =>
    service.app.controls.unread.add(await service.shop(account.id), bytes);
  const read = async ({ key }: typeof busy) => (await service.call("GET", "/pets", { key })).status;
  await leave(busy, MUCH);
  expect(await read(busy)).toBe(200);
  await leave(other, MORE);
  expect([await read(busy), await read(other)]).toEqual([503, 200]);
  const added = await service.call("POST", "/pets", { key: busy.key, body: { name: "Rex", categoryId: 1 } });
  expect(added.status).toBe(201);
  await leave(busy, -MUCH);
  expect(await read(busy)).toBe(200);
});
