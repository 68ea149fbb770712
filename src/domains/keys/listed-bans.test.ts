import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestService } from "../../../test/harness/service.ts";
import type { CommandContext } from "../../terminal/command.ts";
import { banCommands } from "./bans.command.ts";

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

const quota = { perMinute: 10, perDay: 1_000 };

/** An account with a key that lists the others, two tills and a revoked key. That key and the first till are banned. */
async function newShop() {
  const { keys } = service.app;
  const { account, key: admin } = await service.newAccountWithKey("enterprise", quota, ["admin"]);
  const issue = (name: string) => {
    service.clock.advance(1_000); // keys are listed in the order of creation
    return keys.issueKey(account.id, name, ["read"], service.clock.now());
  };
  const [banned, other, ended] = [await issue("banned"), await issue("other"), await issue("ended")];
  for (let request = 0; request < 11; request++) await get(banned.key, "/pets");
  await get(ended.key, "/pets");
  service.clock.advance(1_000);
  for (const { key } of [banned, ended]) for (let strike = 0; strike < 20; strike++) await get(key, "/pets");
  await keys.revokeKey(ended.record.id, service.clock.now());
  service.clock.advance(59_000); // the account's minute window is over; the bans of one minute last for another second
  return { admin, banned, other, ended };
}

const get = (key: string, path: string) => service.call("GET", path, { key });
const bansOf = async (key: string, path = "/keys?limit=100") =>
  Object.fromEntries((await get(key, path)).json.map(({ name, ban }: { name: string; ban?: object }) => [name, ban]));

test("listKeys returns the ban of a key until it ends, like getCurrentKey", async () => {
  const { admin, banned } = await newShop();
  const { ban } = (await get(banned.key, "/key")).json;
  expect(ban).toEqual({
    reason: "It kept sending requests after a 429.",
    endsAt: new Date(service.clock.now() + 1_000).toISOString(),
  });
  expect(await bansOf(admin)).toEqual({ test: undefined, banned: ban, other: undefined, ended: undefined });
  expect(await bansOf(admin, "/keys?limit=2")).toEqual({ test: undefined, banned: ban });
  service.clock.advance(1_000);
  expect((await bansOf(admin))["banned"]).toBeUndefined();
});

test("listKeys returns a ban from before a restart", async () => {
  const { admin } = await newShop();
  service = await service.restart();
  expect((await bansOf(admin))["banned"]).toBeDefined();
});

test("`bans lift` says that the ban may remain if Valkey fails during the command", async () => {
  const { record } = await service.newAccountWithKey("enterprise", quota);
  const store: Partial<CommandContext["store"]> = {
    open: () => service.store.open(),
    requireEnvironment: async () => false,
    banEnds: async () => new Map([[record.id, service.clock.now() / 1000 + 60]]),
    liftBan: () => Promise.reject(new Error("The connection was lost.")),
  };
  const context = { store, settings: () => ({ PETSTORE_CELL: "00" }) } as unknown as CommandContext;
  const lift = banCommands.find(({ name }) => name === "bans lift");
  const lifted = Promise.resolve(lift?.run({ args: [record.id], options: {}, json: false }, context));
  expect(await lifted.catch(({ message }: Error) => message)).toBe(
    "The ban may not have been lifted, so run the command again: The connection was lost.",
  );
});
