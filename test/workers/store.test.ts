// Workers on one PostgreSQL, while the worst is done to them and to it.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { operator } from "../../src/domains/events/author.ts";
import { decidingOrder, OrderStore } from "../../src/domains/orders/orders.store.ts";
import type { Pet } from "../../src/domains/pets/pets.schemas.ts";
import { PetStore } from "../../src/domains/pets/pets.store.ts";
import { systemClock } from "../../src/timing/clock.ts";
import { Animals, createBody } from "../harness/animals.ts";
import { Client } from "../harness/client.ts";
import { stopwatch } from "../harness/cpu-time.ts";
import { environment } from "../harness/keys.ts";
import { Ledger, readExactly, type ShownAnimal } from "../harness/ledger.ts";
import { Load } from "../harness/load.ts";
import { metric } from "../harness/metrics.ts";
import { nextOf } from "../harness/next-page.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { eventually, type Program } from "../harness/program.ts";
import { Random } from "../harness/random.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";
import { ask, newAccount, startWorkers, workerOf, workerPids } from "../harness/workers.ts";

const WORKERS = 3;
/** The promise: a change of keys and plans by one process applies in all processes within this time, in milliseconds. */
const EVERYWHERE_WITHIN = 1_000;
/** The promise: after PostgreSQL is back, requests succeed again within this time, in milliseconds. */
const BACK_WITHIN = 2_000;
/** A leader that dies has a successor within this time, in milliseconds. */
const LED_WITHIN = 10_000;

const hasNewLimit = ({ headers }: Response) => headers.get("x-ratelimit-limit") === "1000";

describe.skipIf(postgresMissing !== undefined)("workers on one PostgreSQL", () => {
  let server: PostgresServer;
  let settings: Record<string, string>;
  let database: string;
  let program: Program;
  let account: Awaited<ReturnType<typeof newAccount>>;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    database = await server.newDatabase();
    settings = { ...environment, PETSTORE_DATABASE_URL: server.url(database) };
    account = await newAccount(settings, unlimitedQuota);
    program = await startWorkers(WORKERS, settings);
  });
  afterEach(async () => {
    await account.storage.close();
    expect(await program.end()).toBe(0);
  });

  /** Shows the ledger all animals that are there. */
  async function showAll(ledger: Ledger): Promise<void> {
    const client = new Client(program.base, account.key);
    for (let path: string | undefined = "/pets?limit=100"; path; ) {
      const { text = "", headers } = await client.call("GET", path);
      for (const animal of readExactly(text) as ShownAnimal[]) ledger.see(animal);
      path = nextOf({ headers });
    }
    ledger.settle();
  }

  /** Sends requests until every worker gives the wanted response. Returns how long it took, in milliseconds. */
  async function untilEach(isWanted: (response: Response) => boolean): Promise<number> {
    const elapsed = stopwatch(program.child.pid, ...workerPids(program).values());
    const fitting = new Set<string>();
    while (fitting.size < WORKERS) {
      const response = await ask(program.base, account.key);
      if (isWanted(response)) fitting.add(await workerOf(program, response));
    }
    return elapsed();
  }

  /** The process that leads. */
  const leader = async () => {
    const [row] = await server.run<{ holder: string }>("SELECT holder FROM petstore_leader", database);
    return Number(row?.holder.split(" ")[1]);
  };

  test("all apply a new key, a changed plan and a revoked key within a second", async () => {
    expect(await untilEach(({ status }) => status === 200)).toBeLessThan(EVERYWHERE_WITHIN);
    await account.accounts.setPlan(account.account.id, "business", undefined);
    expect(await untilEach(hasNewLimit)).toBeLessThan(EVERYWHERE_WITHIN);
    await account.keys.revokeKey(account.record.id, Date.now());
    expect(await untilEach(({ status }) => status === 401)).toBeLessThan(EVERYWHERE_WITHIN);
  });

  test("lose and duplicate nothing when one is killed under load; the others continue, and it is replaced", async () => {
    const ledger = new Ledger();
    const animals = new Animals(new Random(7));
    const client = new Client(program.base, account.key);
    let broken = 0;
    const load = new Load(
      24,
      async () => {
        const animal = animals.next();
        ledger.send(animal);
        try {
          const { status, text } = await client.call("POST", "/pets", createBody(animal));
          if (status !== 201) ledger.violations.push(`createPet was answered with ${status}: ${text}`);
          else if (text === undefined) ledger.acknowledge(animal);
          else ledger.acknowledge(animal, readExactly(text) as ShownAnimal);
        } catch {
          broken++; // its worker was killed
        }
      },
      0,
    );
    const more = async (count: number) => {
      const wanted = ledger.acknowledged + count;
      await eventually(() => ledger.acknowledged >= wanted);
    };
    for (const number of [1, 2, 3]) {
      await more(200);
      const pid = workerPids(program).get(number) as number;
      program.child.kill("SIGSTOP"); // the others continue before it can be replaced
      process.kill(pid, "SIGKILL");
      await more(20);
      program.child.kill("SIGCONT");
      await program.until(() => workerPids(program).get(number) !== pid);
    }
    await load.end();
    await showAll(ledger);
    expect(ledger.violations).toEqual([]);
    expect(broken).toBeGreaterThan(0);
    expect(await metric(program.base, "petstore_workers_replaced_total")).toBe(3);
  });

  test("return only 503 while PostgreSQL is stopped under load, and recover within 2 s", async () => {
    const ledger = new Ledger();
    const animals = new Animals(new Random(8));
    const client = new Client(program.base, account.key);
    const seen = new Set<number>();
    let sinceBack: (() => number) | undefined;
    let lastRefused = 0;
    const load = new Load(16, async () => {
      const animal = animals.next();
      ledger.send(animal);
      const { status, text = "" } = await client.call("POST", "/pets", createBody(animal));
      seen.add(status);
      if (status === 201) ledger.acknowledge(animal, readExactly(text) as ShownAnimal);
      else {
        lastRefused = sinceBack?.() ?? 0;
        if (!text.includes('"storage_unavailable"')) ledger.violations.push(text);
      }
    });
    await eventually(() => ledger.acknowledged > 200);
    const ready = () => fetch(`http://127.0.0.1:${program.port}/readyz`, { keepalive: false });
    await server.stop("at once");
    await eventually(ready, ({ status }) => status === 503);
    await server.start();
    const elapsed = stopwatch(program.child.pid, ...workerPids(program).values());
    sinceBack = elapsed;
    await eventually(ready, ({ status }) => status === 200);
    expect(elapsed()).toBeLessThan(BACK_WITHIN);
    let calmSince = performance.now();
    for (let refused = lastRefused; performance.now() - calmSince < BACK_WITHIN; await Bun.sleep(10)) {
      if (refused !== lastRefused) calmSince = performance.now();
      refused = lastRefused;
    }
    await load.end();
    expect(lastRefused).toBeLessThan(BACK_WITHIN);
    expect(seen).toEqual(new Set([201, 503]));
    await showAll(ledger);
    expect(ledger.violations).toEqual([]);
  });

  test("have one leader for the background tasks; when it is killed, another takes over within seconds", async () => {
    const { storage, shop } = account;
    const pets = new PetStore(storage, { decidingOrder });
    const orders = new OrderStore(storage, pets, systemClock, 1);
    /** Places an order whose reservation ends at once, and returns its animal. */
    const overdue = async () => {
      const pet = await storage.write(() =>
        pets.add(operator(shop), { name: "Rex", categoryId: 1n, status: "available" }),
      );
      const petId = (pet as Pet).id;
      await storage.write(() => orders.place(operator(shop), { petId }));
      return petId;
    };
    const client = new Client(program.base, account.key);
    // A killed worker resets the connections that it has accepted.
    const untilLetGo = (id: bigint) =>
      eventually(
        () =>
          client.call("GET", `/pets/${id}`).then(
            ({ text }) => text ?? "",
            () => "",
          ),
        (text) => text.includes('"available"'),
      );
    await untilLetGo(await overdue());
    for (let round = 0; round < 2; round++) {
      const pid = await leader();
      expect([...workerPids(program).values()]).toContain(pid);
      process.kill(pid, "SIGKILL");
      const sinceKilled = stopwatch(program.child.pid, ...workerPids(program).values());
      await untilLetGo(await overdue());
      expect(sinceKilled()).toBeLessThan(LED_WITHIN);
      expect(await leader()).not.toBe(pid);
    }
  });
});
