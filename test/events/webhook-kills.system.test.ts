// The process that delivers webhooks is killed: no event is lost.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { stopwatch } from "../harness/cpu-time.ts";
import { newKeyIn } from "../harness/keys.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { eventually, newDataDir, Program } from "../harness/program.ts";
import { rounds, timeBound } from "../harness/test-length.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";
import { messageOf, type WebhookMessage } from "../harness/webhook-service.ts";
import { Receiver } from "../harness/webhooks.ts";

/** The promise: another process delivers within this time, in milliseconds. */
const TAKEN_OVER_WITHIN = timeBound(15_000, 5_000);
const ANIMALS = 5;

const secretKey = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 3)).toString("base64");

const toStop: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of toStop.splice(0)) await stop();
});

/** What was acknowledged to clients, by the id of its event, and what a receiver has got. */
class EventLedger {
  readonly receiver = new Receiver();
  readonly #messages: WebhookMessage[] = [];
  #base = "";
  #key = "";

  async begin(base: string, dataDir: string, settings: Record<string, string>): Promise<void> {
    toStop.push(() => this.receiver.stop());
    this.#base = base;
    const scopes = ["read", "write", "admin"] as const;
    this.#key = (await newKeyIn(dataDir, { quota: unlimitedQuota, scopes, settings })).key;
    await this.call("POST", "/webhook-endpoints", { url: `http://127.0.0.1:${this.receiver.port}/`, types: ["*"] });
    for (let count = 0; count < ANIMALS; count++) {
      await this.call("POST", "/pets", { name: "Rex", categoryId: 1, status: "available" });
    }
  }

  /** What the receiver has got, read once. */
  get messages(): readonly WebhookMessage[] {
    this.#messages.push(...this.receiver.received.slice(this.#messages.length).map(messageOf));
    return this.#messages;
  }

  async call(method: string, path: string, body?: unknown, base = this.#base): Promise<Response> {
    return fetch(base + path, {
      method,
      headers: { Authorization: `Bearer ${this.#key}`, "Content-Type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** Changes animals until the service is gone. Changes come slowly while more than `mostWaiting` are not delivered. */
  async changeUntilGone(round: number, base: string, mostWaiting = 50): Promise<void> {
    this.#base = base;
    const known = this.receiver.received.length;
    try {
      for (let turn = 0; ; turn++) {
        if (turn - (this.receiver.received.length - known) > mostWaiting) await Bun.sleep(20);
        await this.call("PATCH", `/pets/${(turn % ANIMALS) + 1}`, { name: `Rex ${round} ${turn}` });
      }
    } catch {
      // It was killed.
    }
  }

  /** Waits until every event after the creation of the endpoint was received. Returns how many there are. */
  async settle(base: string): Promise<number> {
    const [newest] = (await (await this.call("GET", "/events?sort=-id&limit=1", undefined, base)).json()) as [
      { id: number },
    ];
    const [created] = (await (
      await this.call("GET", "/events?type=webhook_endpoint.created", undefined, base)
    ).json()) as [{ id: number }];
    const expected = Array.from({ length: newest.id - created.id }, (_, index) => created.id + 1 + index);
    await eventually(() => {
      const ids = new Set(this.messages.map(({ eventId }) => eventId));
      return expected.every((id) => ids.has(id));
    });
    return new Set(this.messages.map(({ eventId }) => eventId)).size;
  }
}

test("a service with the embedded store that is killed again and again loses no event", async () => {
  const ledger = new EventLedger();
  const [dataDir, settings] = [newDataDir(), { PETSTORE_SECRET_KEY: secretKey }];
  let program = await Program.start(dataDir, settings);
  await ledger.begin(program.base, dataDir, settings);
  for (let round = 0; round < rounds(2, 8); round++) {
    const known = ledger.receiver.received.length;
    const changing = ledger.changeUntilGone(round, program.base);
    // Killed while it delivers: some messages of this round have come, and others wait.
    await eventually(() => ledger.receiver.received.length >= known + 20);
    await program.end("SIGKILL");
    await changing;
    program = await Program.start(dataDir, settings);
  }
  // At least 40 messages came before the kills. Some of them came again after the next start.
  expect(await ledger.settle(program.base)).toBeGreaterThan(20);
  await program.end();
});

async function start(settings: Record<string, string>): Promise<Program> {
  const program = await Program.start(newDataDir(), settings);
  toStop.push(() => program.end("SIGKILL"));
  return program;
}

describe.skipIf(postgresMissing !== undefined)("with PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.remove());

  const holderIn = async (database: string) =>
    (await server.run<{ holder: string }>("SELECT holder FROM petstore_leader", database))[0]?.holder ?? "";

  test("another process delivers within 5 s after the delivering one was killed", async () => {
    const ledger = new EventLedger();
    const database = await server.newDatabase();
    const settings = { PETSTORE_SECRET_KEY: secretKey, PETSTORE_DATABASE_URL: server.url(database) };
    const [one, other] = [await start(settings), await start(settings)];
    await ledger.begin(one.base, one.dataDir, settings);
    await ledger.settle(one.base);
    const holder = await holderIn(database);
    const [leader, heir] = holder.includes(` ${one.child.pid} `) ? [one, other] : [other, one];
    const changing = ledger.changeUntilGone(0, leader.base);
    const known = ledger.receiver.received.length;
    await eventually(() => ledger.receiver.received.length >= known + 20);
    await leader.end("SIGKILL");
    await changing;
    const sinceKilled = stopwatch(heir.child.pid);
    await ledger.call("PATCH", "/pets/1", { name: "Ida" }, heir.base);
    // Not any message: this process may still have to read one that the killed process sent.
    await eventually(() => ledger.receiver.received.some(({ body }) => body.includes('"Ida"')));
    expect(sinceKilled()).toBeLessThan(TAKEN_OVER_WITHIN);
    await ledger.settle(heir.base);
  });

  test("a process that is stopped while it delivers saves the results of its last deliveries before it closes the store", async () => {
    const ledger = new EventLedger();
    const settings = { PETSTORE_SECRET_KEY: secretKey, PETSTORE_DATABASE_URL: server.url(await server.newDatabase()) };
    let program = await start(settings);
    await ledger.begin(program.base, program.dataDir, settings);
    const { received } = ledger.receiver;
    for (let round = 0; round < rounds(2, 8); round++) {
      const known = received.length;
      // As fast as possible: only a busy database saves results late.
      const changing = Promise.all([1, 2, 3].map(() => ledger.changeUntilGone(round, program.base, Infinity)));
      await eventually(() => received.length >= known + 50);
      expect(await program.end()).toBe(0);
      await changing;
      expect(program.output.split("\n").filter((line) => line.includes('"event":"task_failed"'))).toEqual([]);
      program = await start(settings);
    }
    await ledger.settle(program.base);
    const ids = ledger.messages.map(({ eventId }) => eventId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });
});
