// An account that was deleted leaves no row, and its id in no file of the store. Others keep all.
import { describe, expect, spyOn, test } from "bun:test";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { AccountStore } from "../../src/domains/accounts/accounts.store.ts";
import { WindowLimiter } from "../../src/limits/limiter.ts";
import { DAY_MS, MINUTE_MS } from "../../src/timing/clock.ts";
import { turns } from "../../src/timing/turns.ts";
import { runInProcess, runJsonInProcess } from "../harness/commands.ts";
import { newKeyIn } from "../harness/keys.ts";
import { untilMetric, untilWaiting } from "../harness/metrics.ts";
import { eventually, newDataDir, Program } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";
import { onPostgres, type TestStore } from "../harness/test-store.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";

const ALL = ["read", "write", "admin"] as const;

/** An account with both shops, whose texts all hold a word. */
async function newAccount(
  { app, clock, call }: Pick<TestService, "app" | "clock"> & { call: TestService["call"] },
  word: string,
) {
  const { accounts, keys } = app;
  const { id } = await accounts.createAccount(`Shop of ${word}`, "enterprise", unlimitedQuota, clock.now());
  const issue = async (mode: "live" | "test") =>
    (await keys.issueKey(id, `Key of ${word}`, ALL, clock.now(), mode)).key;
  const issued = { live: await issue("live"), test: await issue("test") };
  for (const key of Object.values(issued)) {
    const send = (path: string, body: unknown) =>
      call("POST", path, { key, body, headers: { "Idempotency-Key": crypto.randomUUID() } });
    await send("/categories", { name: `Category of ${word}`, metadata: { note: `Pair of ${word}` } });
    const names = Array.from({ length: 40 }, (_, number) => `Animal ${number} of ${word}`);
    await Promise.all(names.map((name) => send("/pets", { name, categoryId: 1, status: "available" })));
    await call("PATCH", "/pets/2", { key, body: { metadata: { [`Key of ${word}`]: `Value of ${word}` } } });
    await send("/store/orders", { petId: 1, reference: `Order of ${word}` });
    await send("/keys", { name: `Another key of ${word}`, scopes: ["read"] });
    await call("GET", "/pets/1", { key });
    await call("GET", "/usage", { key });
  }
  return { id, ...issued };
}

/** Resolves when nothing is left of a deleted account. */
async function untilGone({ clock, store }: TestService, id: string): Promise<void> {
  clock.advance(5_000);
  await eventually(async () => (await store.rows(`SELECT 1 FROM accounts WHERE id = '${id}'`)).length === 0);
}

/** All rows, without the old copies that SQLite leaves where it moves rows to other pages. */
async function rowsOf(store: TestStore): Promise<string> {
  if (onPostgres) return store.contents();
  const copy = `${store.folder}.copy`;
  await store.run(`VACUUM INTO '${copy}'`);
  const rows = readFileSync(copy, "latin1");
  rmSync(copy);
  return rows;
}

const production = { PETSTORE_ENV: "production" };

describe("a deleted account", () => {
  test("leaves no data, and other accounts keep theirs", async () => {
    const service = await TestService.start({ settings: production });
    const made = { app: service.app, clock: service.clock, call: service.call.bind(service) };
    // Side by side, so that their rows share pages.
    const [gone, kept] = await Promise.all([newAccount(made, "Vanishing"), newAccount(made, "Remaining")]);
    const look = (key: string, path: string) => service.call("GET", path, { key });
    const before = (await look(kept.live, "/pets?limit=100")).text;
    const word = /Vanishing/;
    expect(await service.store.contents()).toMatch(word);

    await service.app.accounts.delete(gone.id, service.clock.now());
    for (const key of [gone.live, gone.test]) expect((await look(key, "/pets")).status).toBe(401);
    await untilGone(service, gone.id);
    // The log of the store is emptied in the same round.
    await eventually(async () => !(await service.store.contents()).includes(gone.id));
    const left = await rowsOf(service.store);
    expect(left.match(/.{0,40}Vanishing.{0,40}/g) ?? []).toEqual([]);
    expect(left).not.toContain(gone.id);
    expect(left).toContain("Remaining");
    for (const key of [kept.live, kept.test]) {
      expect((await look(key, "/pets?limit=100")).text.replaceAll(/"id":\d+,/g, "").length).toBeGreaterThan(1_000);
      expect((await look(key, "/store/orders/1")).json.reference).toBe("Order of Remaining");
    }
    expect((await look(kept.live, "/pets?limit=100")).text).toBe(before);
    await service.stop(); // writes what waits
    expect(service.logLines.filter((line) => line.includes('"account_deleted"'))).toHaveLength(1);
  });

  // With PostgreSQL, either of two waiting changes may come first.
  test.skipIf(onPostgres).each(["live", "test"] as const)(
    "refuses a change with its %s key that was waiting",
    async (mode) => {
      const service = await TestService.start({ settings: production });
      const { accounts, base } = service.app;
      const { account, key } = await service.newAccountWithKey("enterprise", unlimitedQuota, ALL, mode);
      await eventually(() => !turns.isInDebt(undefined)); // otherwise changes of shops come before its own
      const release = await service.store.lock();
      const deleted = accounts.delete(account.id, service.clock.now());
      const headers = { "Idempotency-Key": "waiting" };
      const added = service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 }, headers });
      await untilWaiting(base, 1);
      await release();
      await deleted;
      const { status, json } = await added;
      expect([status, json.code]).toEqual([401, "invalid_api_key"]);
      await service.stop();
    },
  );

  test("is removed by the next service that starts, also if one is stopped in between", async () => {
    let service = await TestService.start();
    const { account, key } = await service.newAccountWithKey("enterprise", unlimitedQuota, ALL);
    const shop = await service.shop(account.id);
    const ANIMALS = 25_000;
    const rows = Array.from({ length: ANIMALS }, (_, id) => `(${shop}, ${id + 1}, 'Vanishing', 1, 0)`).join(", ");
    await service.store.run(`INSERT INTO pets (shop, id, name, category_id, added_at) VALUES ${rows}`);
    const left = async () => (await service.store.rows(`SELECT id FROM pets WHERE shop = ${shop}`)).length;
    const beside = await service.store.open();
    await new AccountStore(beside).delete(account.id, service.clock.now());
    await beside.close();
    await eventually(async () => (await service.call("GET", "/pets", { key })).status === 401);
    service.clock.advance(5_000);
    await eventually(async () => (await left()) !== ANIMALS);
    service = await service.restart();
    expect(await left()).toBeLessThan(ANIMALS);
    await untilGone(service, account.id);
    expect([await left(), await service.store.rows(`SELECT 1 FROM shops WHERE shop = ${shop}`)]).toEqual([0, []]);
    await service.stop();
  });

  test("leaves no usage of a request that ends after its data was deleted", async () => {
    const service = await TestService.start();
    const { account, key } = await service.newAccountWithKey("enterprise", unlimitedQuota, ALL);
    const body = '{"name":"Rex","categoryId":1}';
    const head = [
      "POST /v1/pets HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${key}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ];
    const { base } = service.app;
    const socket = connect(Number(new URL(base).port), "127.0.0.1", () =>
      socket.write(`${head.join("\r\n")}\r\n\r\n{`),
    );
    await untilMetric(base, "petstore_requests_pending", 1);
    await service.app.accounts.delete(account.id, service.clock.now());
    await untilGone(service, account.id);
    const responded = once(socket, "data");
    socket.write(body.slice(1));
    await responded;
    socket.destroy();
    await service.app.stop(); // writes what waits
    const usage = await service.store.rows(`SELECT 1 FROM usage_counts WHERE account_id = '${account.id}'`);
    expect(usage).toEqual([]);
    await service.store.remove();
  });

  test("is forgotten by the limiter, which would save its counts again", async () => {
    using forget = spyOn(WindowLimiter.prototype, "forget");
    const service = await TestService.start();
    const { account } = await service.newAccountWithKey("pro");
    await service.app.accounts.delete(account.id, service.clock.now());
    await untilGone(service, account.id);
    expect(forget).toHaveBeenCalledWith(account.id);
    await service.stop();
  });

  test("is removed if the clock was a day ahead when it was deleted", async () => {
    const service = await TestService.start();
    const { account } = await service.newAccountWithKey("enterprise", unlimitedQuota, ALL);
    await service.app.accounts.delete(account.id, service.clock.now() + DAY_MS);
    await untilGone(service, account.id);
    await service.stop();
  });

  test("stays for late writes if the clock was a minute ahead when it was deleted", async () => {
    const service = await TestService.start();
    const { accounts } = service.app;
    const add = async () => (await service.newAccountWithKey("enterprise", unlimitedQuota, ALL)).account.id;
    const [withShops, without] = [await add(), await add()];
    await service.store.run(`DELETE FROM shops WHERE account_id = '${without}'`);
    for (const id of [withShops, without]) await accounts.delete(id, service.clock.now() + MINUTE_MS);
    // The second is deleted in a later round than the first, so one whole round has passed.
    for (const id of [await add(), await add()]) {
      await accounts.delete(id, service.clock.now());
      await untilGone(service, id);
    }
    const shops = await service.store.rows(`SELECT 1 FROM shops WHERE former_account_id = '${withShops}'`);
    const left = await service.store.rows(`SELECT 1 FROM accounts WHERE id IN ('${withShops}', '${without}')`);
    expect([shops.length > 0, left.length]).toEqual([true, 2]);
    service.clock.advance(MINUTE_MS);
    for (const id of [withShops, without]) await untilGone(service, id);
    await service.stop();
  });
});

describe.skipIf(onPostgres)("accounts delete", () => {
  test("asks for confirmation, and invalidates the keys of the account in a running service", async () => {
    const dataDir = newDataDir();
    const { accountId: id, key } = await newKeyIn(dataDir, { name: "Vanishing" });
    const program = await Program.start(dataDir);
    const status = async () =>
      (await fetch(`${program.base}/pets`, { headers: { Authorization: `Bearer ${key}` } })).status;
    expect(await status()).toBe(200);

    const unasked = await runInProcess(dataDir, ["accounts", "delete", id]);
    expect([unasked.status, unasked.stdout]).toEqual([2, ""]);
    expect(unasked.stderr).toContain(
      `Account ${id} (Vanishing) will be deleted with all its data. Add --yes to do it.`,
    );
    const unknown = await runInProcess(dataDir, ["accounts", "delete", "acc_0000000000000000", "--yes"]);
    expect([unknown.status, unknown.stderr]).toEqual([1, "There is no account acc_0000000000000000.\n"]);
    expect(await status()).toBe(200);

    const { stdout } = await runInProcess(dataDir, ["accounts", "delete", id, "--yes"]);
    expect(stdout).toStartWith(`Account ${id} (Vanishing) is deleted.`);
    await eventually(async () => (await status()) === 401);
    for (const words of [
      ["accounts", "rename", id, "Again"],
      ["keys", "create", "--account", id],
    ])
      expect((await runInProcess(dataDir, words)).stderr).toBe(`There is no account ${id}.\n`);
    await program.until(() => program.output.includes(`"event":"account_deleted","accountId":"${id}"`));
    expect(await runJsonInProcess(dataDir, ["accounts", "list"])).toEqual([]);
    expect(await program.end()).toBe(0);
  });

  test("can be repeated while the account is listed, and then changes nothing", async () => {
    const dataDir = newDataDir();
    const { id } = await runJsonInProcess(dataDir, ["accounts", "create", "--name", "Vanishing", "--plan", "pro"]);
    const first = await runInProcess(dataDir, ["accounts", "delete", id, "--yes"]);
    const shown = await runJsonInProcess(dataDir, ["accounts", "show", id]);
    expect(await runInProcess(dataDir, ["accounts", "delete", id])).toEqual({ ...first, status: 0, stderr: "" });
    expect(await runJsonInProcess(dataDir, ["accounts", "delete", id])).toEqual(shown);
    expect(await runJsonInProcess(dataDir, ["accounts", "show", id])).toEqual(shown);
  });

  test("hides the keys of the account from commands, also before a service removes them", async () => {
    const dataDir = newDataDir();
    const { accountId: account, id } = await newKeyIn(dataDir);
    await runInProcess(dataDir, ["accounts", "delete", account, "--yes"]);
    for (const [words, message] of [
      [["keys", "revoke", id], `There is no key ${id}.`],
      [["keys", "rotate", id], `There is no key ${id}.`],
      [["keys", "list", "--account", account], `There is no account ${account}.`],
    ] as const) {
      const { status, stderr } = await runInProcess(dataDir, words);
      expect([words, status, stderr]).toEqual([words, 1, expect.stringContaining(message)]);
    }
    expect(await runJsonInProcess(dataDir, ["keys", "list"])).toEqual([]);
  });
});
