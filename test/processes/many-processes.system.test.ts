// Several processes on one store in PostgreSQL.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { scopes } from "../../src/contract/caller.ts";
import { type LoggedEvent, Replay } from "../conformance/replay.ts";
import { Animals, createUntilGone } from "../harness/animals.ts";
import { Client } from "../harness/client.ts";
import { stopwatch } from "../harness/cpu-time.ts";
import { environment } from "../harness/keys.ts";
import { Ledger, readExactly, type ShownAnimal } from "../harness/ledger.ts";
import { Listener } from "../harness/listener.ts";
import { nextOf } from "../harness/next-page.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { newAccount, startSeveral } from "../harness/processes.ts";
import { eventually, newDataDir, Program, runCommand, runJson } from "../harness/program.ts";
import { Random } from "../harness/random.ts";
import { EVERYWHERE_WITHIN } from "../harness/test-length.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";
import { secretKey } from "../harness/webhook-service.ts";
import { Receiver, type ReceiverOptions } from "../harness/webhooks.ts";

/** More messages than are on their way to one endpoint at once. */
const MANY = 100;

const status = async ({ base }: Program, key: string) => (await new Client(base, key).call("GET", "/pets")).status;

describe.skipIf(postgresMissing !== undefined)("processes on one PostgreSQL", () => {
  let server: PostgresServer;
  let settings: Record<string, string>;
  beforeAll(async () => {
    server = await PostgresServer.start();
    settings = { ...environment, PETSTORE_DATABASE_URL: server.url(await server.newDatabase()) };
  });
  afterAll(() => server.remove());

  const start = () => Program.start(newDataDir(), settings);
  test("create one first account if they start at once on an empty database", async () => {
    const ofDevelopment = {
      PETSTORE_ENV: "development",
      PETSTORE_DATABASE_URL: server.url(await server.newDatabase()),
    };
    const programs = await startSeveral(4, ofDevelopment);
    expect(await runJson(newDataDir(), ["accounts", "list"], ofDevelopment)).toMatchObject([{ name: "First account" }]);
    expect(programs.filter(({ output }) => output.includes("psk_test_"))).toHaveLength(1);
    await Promise.all(programs.map((program) => program.end()));
  });

  test("all apply a new key, a changed plan and a revoked key within a second", async () => {
    const programs = await startSeveral(2, settings);
    const { key, record, accounts, keys, account, storage } = await newAccount(settings);
    for (const program of programs) expect(await status(program, key)).toBe(200);

    const pids = programs.map(({ child }) => child.pid);
    const sinceChanged = stopwatch(...pids);
    await accounts.setPlan(account.id, "pro", undefined);
    for (const { base } of programs) {
      const limit = async () => (await new Client(base, key).call("GET", "/pets")).headers.get("x-ratelimit-limit");
      await eventually(async () => (await limit()) === "300");
    }
    expect(sinceChanged()).toBeLessThan(EVERYWHERE_WITHIN);

    const sinceRevoked = stopwatch(...pids);
    await keys.revokeKey(record.id, Date.now());
    for (const program of programs) await eventually(async () => (await status(program, key)) === 401);
    expect(sinceRevoked()).toBeLessThan(EVERYWHERE_WITHIN);
    await storage.close();
    for (const program of programs) expect(await program.end()).toBe(0);
  });

  test("end the streams of a deleted account within a second, and send no more messages to its endpoints", async () => {
    const own = {
      PETSTORE_ENV: "development", // where endpoints may be on this machine
      PETSTORE_SECRET_KEY: secretKey,
      PETSTORE_DATABASE_URL: server.url(await server.newDatabase()),
    };
    const programs = await startSeveral(2, own);
    const [{ base }] = programs as [Program];
    const mayRespond = Promise.withResolvers<void>();
    /** An account that both processes stream events of, and its endpoint; more animals than go to that at once. */
    const newShop = async (respond?: ReceiverOptions["respond"]) => {
      const { key, account, accounts, storage } = await newAccount(own, unlimitedQuota, scopes);
      const receiver = new Receiver(respond ? { respond } : {});
      const streams = await Promise.all(programs.map((one) => Listener.open(`${one.base}/events/stream`, key)));
      const client = new Client(base, key);
      const endpoint = { url: `http://127.0.0.1:${receiver.port}/`, types: ["pet.created"] };
      expect((await client.call("POST", "/webhook-endpoints", JSON.stringify(endpoint))).status).toBe(201);
      const add = () => client.call("POST", "/pets", JSON.stringify({ name: "Rex", categoryId: 1 }));
      return { account, accounts, receiver, streams, add, storage };
    };
    const doomed = await newShop(() => mayRespond.promise.then(() => new Response("taken")));
    const kept = await newShop();
    await Promise.all(Array.from({ length: MANY }, doomed.add));
    await eventually(() => doomed.receiver.received.length > 0);

    await doomed.accounts.delete(doomed.account.id, Date.now());
    const sinceDeleted = stopwatch(...programs.map(({ child }) => child.pid));
    expect(await Promise.all(doomed.streams.map(({ ended }) => ended))).toEqual([undefined, undefined]);
    expect(sinceDeleted()).toBeLessThan(EVERYWHERE_WITHIN);

    // Those on their way may arrive; then the responses would make room for the others.
    const removed = `"event":"account_deleted","accountId":"${doomed.account.id}"`;
    await eventually(() => programs.some(({ output }) => output.includes(removed)));
    const before = doomed.receiver.received.length;
    expect(before).toBeLessThan(MANY);
    mayRespond.resolve();
    await kept.add();
    await eventually(() => kept.receiver.received.length > 0);
    for (const stream of kept.streams) await stream.until(({ events }) => events.length > 0);
    expect(doomed.receiver.received.length).toBe(before);

    for (const stream of kept.streams) stream.close();
    for (const program of programs) expect(await program.end()).toBe(0);
    for (const { receiver, storage } of [doomed, kept]) await Promise.all([receiver.stop(), storage.close()]);
  });

  test("lose and duplicate no acknowledged animal when they are killed under load; the log reports each kill", async () => {
    const ledger = new Ledger();
    const random = new Random(6);
    const animals = new Animals(random);
    const { key, storage } = await newAccount(settings, unlimitedQuota, scopes);
    for (let round = 0; round < 3; round++) {
      const programs = await startSeveral(4, settings);
      let isGone = false;
      const loads = programs.map(({ base }) =>
        createUntilGone(new Client(base, key), 16, animals, ledger, () => isGone),
      );
      const wanted = ledger.acknowledged + 200 + random.below(200);
      await eventually(() => ledger.acknowledged >= wanted);
      isGone = true;
      await Promise.all(programs.map((program) => program.end("SIGKILL")));
      await Promise.all(loads);
      const reader = await start();
      ledger.expectAllAgain();
      const client = new Client(reader.base, key);
      for (let path: string | undefined = "/pets?limit=100"; path; ) {
        const { text = "", headers } = await client.call("GET", path);
        for (const animal of readExactly(text) as ShownAnimal[]) ledger.see(animal);
        path = nextOf({ headers });
      }
      ledger.settle();
      expect(await reader.end()).toBe(0);
    }
    await storage.close();
    expect(ledger.violations).toEqual([]);
    const program = await start();
    const reader = new Client(program.base, key);
    const replay = new Replay();
    for (let path: string | undefined = "/events?limit=100"; path; ) {
      const { text = "", headers } = await reader.call("GET", path);
      for (const event of readExactly(text) as LoggedEvent[]) replay.add(event);
      path = nextOf({ headers });
    }
    expect(await program.end()).toBe(0);
    expect(replay.violations).toEqual([]);
    ledger.expectAllAgain();
    for (const animal of replay.all("pet")) ledger.see(animal as unknown as ShownAnimal);
    ledger.settle();
    expect(ledger.violations).toEqual([]);
  });

  test("each need a port of their own", async () => {
    const first = await start();
    const samePort = { ...settings, PETSTORE_PORT: String(first.port) };
    const second = await runCommand(newDataDir(), ["serve"], samePort);
    expect(second).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`Port ${first.port} on 127.0.0.1 is in use.`),
    });
    expect(await first.end()).toBe(0);
  });

  test("refuse a database without a store, and explain how to migrate one", async () => {
    const empty = { PETSTORE_DATABASE_URL: server.url(await server.newDatabase()) };
    const listing = await runCommand(newDataDir(), ["accounts", "list"], empty);
    expect([listing.status, listing.stderr]).toEqual([1, expect.stringContaining("There is no store in postgres://")]);
    const account = await runJson(newDataDir(), ["accounts", "create", "--name", "Shop", "--plan", "pro"], empty);
    expect(await runJson(newDataDir(), ["accounts", "list"], empty)).toEqual([account]);
    const backup = await runCommand(newDataDir(), ["backups", "take", "--file", "copy.db"], empty);
    expect([backup.status, backup.stderr]).toEqual([1, expect.stringContaining("pg_dump")]);
  });

  test("never show the password of the database", async () => {
    const secret = { ...settings, PETSTORE_LOG_LEVEL: "debug" };
    const address = settings["PETSTORE_DATABASE_URL"]?.replace("petstore@", "petstore:hidden@") ?? "";
    const program = await Program.start(newDataDir(), { ...secret, PETSTORE_DATABASE_URL: address });
    await program.end();
    expect(program.output).toContain('"database":"postgres://petstore@127.0.0.1');
    const wrong = await runCommand(newDataDir(), ["serve"], { PETSTORE_DATABASE_URL: `${address}/hidden` });
    expect(wrong.stderr).toContain("PETSTORE_DATABASE_URL must be an address");
    expect(program.output + program.errors + wrong.stdout + wrong.stderr).not.toContain("hidden");
  });
});
