// Processes on one PostgreSQL, while it is stopped, or the one that leads is killed.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { shopNumber } from "../../src/contract/caller.ts";
import { operator } from "../../src/domains/events/publish.ts";
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
import { nextOf } from "../harness/next-page.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { newAccount, startSeveral } from "../harness/processes.ts";
import { eventually, type Program } from "../harness/program.ts";
import { Random } from "../harness/random.ts";
import { unchecked } from "../harness/unchecked-pets.ts";

const PROCESSES = 3;
/** The promise: after PostgreSQL is back, requests succeed again within this time, in milliseconds. */
const BACK_WITHIN = 2_000;
/** A leader that dies has a successor within this time, in milliseconds. */
const LED_WITHIN = 10_000;

describe.skipIf(postgresMissing !== undefined)("processes on one PostgreSQL", () => {
  let server: PostgresServer;
  let settings: Record<string, string>;
  let database: string;
  let programs: Program[];
  let account: Awaited<ReturnType<typeof newAccount>>;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    database = await server.newDatabase();
    settings = { ...environment, PETSTORE_DATABASE_URL: server.url(database) };
    account = await newAccount(settings);
    programs = await startSeveral(PROCESSES, settings);
  });
  afterEach(async () => {
    await account.storage.close();
    for (const program of programs) expect(await program.end()).toBe(0);
  });

  const clientOf = (index: number) => new Client(programs[index % programs.length]?.base ?? "", account.key);
  const clock = () => stopwatch(...programs.map(({ child }) => child.pid));

  /** Shows the ledger all animals that are there. */
  async function showAll(ledger: Ledger): Promise<void> {
    const client = clientOf(0);
    for (let path: string | undefined = "/pets?limit=100"; path; ) {
      const { text = "", headers } = await client.call("GET", path);
      for (const animal of readExactly(text) as ShownAnimal[]) ledger.see(animal);
      path = nextOf({ headers });
    }
    ledger.settle();
  }

  /** Resolves when the reservation of an animal has ended. */
  const untilLetGo = (id: bigint) => {
    const client = clientOf(0);
    return eventually(async () => (await client.call("GET", `/pets/${id}`)).text?.includes('"available"'));
  };

  /** The process that leads. */
  const leader = async () => {
    const [row] = await server.run<{ holder: string }>("SELECT holder FROM petstore_leader", database);
    return Number(row?.holder.split(" ")[1]);
  };

  test("return only 503 while PostgreSQL is stopped under load, and recover within 2 s", async () => {
    const ledger = new Ledger();
    const animals = new Animals(new Random(8));
    const clients = programs.map((_, index) => clientOf(index));
    const seen = new Set<number>();
    let sinceBack: (() => number) | undefined;
    let lastRefused = 0;
    const load = new Load(16, async (index) => {
      const animal = animals.next();
      ledger.send(animal);
      const { status, text = "" } = await (clients[index % PROCESSES] as Client).call(
        "POST",
        "/pets",
        createBody(animal),
      );
      seen.add(status);
      if (status === 201) ledger.acknowledge(animal, readExactly(text) as ShownAnimal);
      else {
        lastRefused = sinceBack?.() ?? 0;
        if (!text.includes('"storage_unavailable"')) ledger.violations.push(text);
      }
    });
    await eventually(() => ledger.acknowledged > 200);
    const areReady = (wanted: number) =>
      eventually(
        () => Promise.all(programs.map(({ port }) => fetch(`http://127.0.0.1:${port}/readyz`, { keepalive: false }))),
        (all) => all.every(({ status }) => status === wanted),
      );
    await server.stop("at once");
    await areReady(503);
    await server.start();
    const elapsed = clock();
    sinceBack = elapsed;
    await areReady(200);
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
    const pets = new PetStore(storage, { ...unchecked, orderOf: decidingOrder });
    const orders = new OrderStore(systemClock, 1);
    /** Places an order whose reservation ends at once, and returns its animal. */
    const overdue = async () => {
      const pet = await storage.write(() =>
        pets.add(operator(shopNumber(shop)), { name: "Rex", categoryId: 1n, status: "available" }),
      );
      const petId = (pet as Pet).id;
      await storage.write(() => orders.place(operator(shopNumber(shop)), { petId }));
      return petId;
    };
    await untilLetGo(await overdue());
    for (let round = 0; round < 2; round++) {
      const pid = await leader();
      const leading = programs.find(({ child }) => child.pid === pid);
      programs = programs.filter((program) => program !== leading);
      await leading?.end("SIGKILL");
      expect(programs).toHaveLength(PROCESSES - 1 - round);
      const sinceKilled = clock();
      await untilLetGo(await overdue());
      expect(sinceKilled()).toBeLessThan(LED_WITHIN);
      expect(await leader()).not.toBe(pid);
    }
  });
});
