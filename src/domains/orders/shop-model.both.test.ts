// The service against a simple model of it: whatever clients do and whatever happens to the service,
// each answer and everything that it holds is as the model says.

import { expect, test } from "bun:test";
import { array, assert, asyncProperty } from "fast-check";
import { type Fields, type LoggedEvent, Replay } from "../../../test/conformance/replay.ts";
import {
  type Act,
  arbitraryEvent,
  type Happening,
  RESERVATION,
  ShopModel,
} from "../../../test/conformance/shop-model.ts";
import { readExactly } from "../../../test/harness/ledger.ts";
import { ManualTasks } from "../../../test/harness/manual-tasks.ts";
import { nextOf } from "../../../test/harness/next-page.ts";
import { type TestResponse, TestService } from "../../../test/harness/service.ts";
import { rounds } from "../../../test/harness/test-length.ts";
import { scopes } from "../../contract/caller.ts";
import { DAY_MS, MINUTE_MS } from "../../timing/clock.ts";

/** On this day, summer time ends in Berlin and Beirut. */
const START = Date.parse("2026-10-24T12:00:00Z");

interface Client {
  readonly key: string;
  readonly seller: { readonly keyId: string; readonly name: string };
}

/** The service and its model, to which the same is done. */
class Walk {
  #service: TestService;
  /** The clients take turns. */
  readonly #clients: readonly Client[];
  #steps = 0;
  readonly #tasks: ManualTasks;
  readonly #model: ShopModel;
  #fastForwards = 0;

  static async start(): Promise<Walk> {
    const tasks = new ManualTasks();
    const settings = { PETSTORE_RESERVATION_MINUTES: String(RESERVATION) };
    const service = await TestService.start({ domains: tasks.domains, settings });
    service.clock.setWall(START);
    const { account, key, record } = await service.newAccountWithKey("enterprise", undefined, scopes);
    const till = await service.app.keys.issueKey(account.id, "test", scopes, START);
    const clients = [{ key, record }, till].map((one) => ({
      key: one.key,
      seller: { keyId: one.record.id, name: one.record.name },
    }));
    const walk = new Walk(service, tasks, clients);
    const { id, name } = walk.#model.category;
    expect((await walk.#call("POST", "/categories", { name })).json.id).toBe(id);
    return walk;
  }

  private constructor(service: TestService, tasks: ManualTasks, clients: readonly Client[]) {
    this.#service = service;
    this.#tasks = tasks;
    this.#clients = clients;
    this.#model = new ShopModel(() => service.clock.now(), this.#client.seller);
  }

  get #client(): Client {
    return this.#clients[this.#steps % this.#clients.length] as Client;
  }

  async step(event: Act | Happening): Promise<void> {
    const { clock } = this.#service;
    this.#steps++;
    this.#model.seller = this.#client.seller;
    if (event.kind === "time passes") clock.advance(event.milliseconds);
    else if (event.kind === "clock is set") clock.setWall(clock.now() + event.milliseconds);
    else if (event.kind === "fast-forward") await this.#fastForward(event.seconds);
    else if (event.kind === "restart") this.#service = await this.#service.restart();
    else if (event.kind === "background tasks") {
      await this.#tasks.run();
      this.#model.expire();
    } else {
      const { status, json } = await this.#act(event);
      const answer = status < 400 ? String(status) : `${status} ${json.code}`;
      expect([event, answer]).toEqual([event, this.#model.act(event)]);
    }
    await this.#compare();
  }

  /** The log, from its first event on, tells what the service holds. */
  async replay(): Promise<void> {
    const replay = new Replay();
    for (let path: string | undefined = "/events?limit=100"; path !== undefined; ) {
      const { text, headers } = await this.#call("GET", path);
      for (const event of readExactly(text) as LoggedEvent[]) replay.add(event);
      path = nextOf({ headers });
    }
    expect(replay.violations).toEqual([]);
    const read = async (path: string) => readExactly((await this.#call("GET", path)).text) as Fields[];
    expect(replay.all("pet")).toEqual(await read("/pets?limit=100"));
    expect(replay.all("category")).toEqual(await read("/categories?limit=100"));
    expect(replay.all("order")).toEqual(await read("/store/orders?limit=100"));
    expect(replay.length).toBeGreaterThan(0);
  }

  stop(): Promise<void> {
    return this.#service.stop();
  }

  async #fastForward(seconds: number): Promise<void> {
    if (this.#fastForwards++ % 20 === 19) this.#service.clock.advance(MINUTE_MS); // 20 a minute are admitted
    const { status, json } = await this.#call("POST", "/sandbox/fast-forward", { seconds });
    this.#model.fastForward(seconds);
    expect(status).toBe(200);
    const waiting = json.waiting.find(({ kind }: { kind: string }) => kind === "reservation");
    expect(waiting).toEqual(this.#model.waiting);
  }

  /** All that the service holds is what the model holds, however it is asked. */
  async #compare(): Promise<void> {
    const { animals, orders, category } = this.#model;
    const shown = (await this.#call("GET", "/pets?limit=100")).json as { id: number }[];
    // Absent where the model has undefined: `toEqual` takes both for the same.
    expect(shown).toEqual(animals.map((animal) => ({ name: "Rex", categoryId: category.id, ...animal })));
    expect((await this.#call("GET", "/categories")).json).toEqual([category]);
    expect((await this.#call("GET", "/store/orders?limit=100")).json).toEqual(orders);
    const open = orders.filter(({ status }) => status === "placed");
    expect((await this.#call("GET", "/store/orders?status=placed")).json).toEqual(open);
    expect((await this.#call("GET", "/shop")).json).toEqual(this.#model.summary);
    const [since, until] = [START - DAY_MS, this.#service.clock.now() + 1];
    const span = `since=${new Date(since).toISOString()}&until=${new Date(until).toISOString()}`;
    expect((await this.#call("GET", `/store/sales?${span}`)).json).toMatchObject(this.#model.sales(since, until));
    const { petId } = orders.at(-1) ?? { petId: 1 };
    const ofAnimal = orders.filter((order) => order.petId === petId);
    expect((await this.#call("GET", `/store/orders?petId=${petId}`)).json).toEqual(ofAnimal.slice(0, 20));
    // The model itself must hold: an animal has at most one open order, and is pending while it has one.
    expect(new Set(open.map((order) => order.petId)).size).toBe(open.length);
    for (const order of open)
      expect(animals).toContainEqual(expect.objectContaining({ id: order.petId, status: "pending" }));
  }

  #act(act: Act): Promise<TestResponse> {
    switch (act.kind) {
      case "add":
        return this.#call("POST", "/pets", { name: "Rex", categoryId: 1, status: act.status, metadata: act.metadata });
      case "update":
        return this.#call("PATCH", `/pets/${act.petId}`, { status: act.status });
      case "delete":
        return this.#call("DELETE", `/pets/${act.petId}`);
      case "place": {
        const { kind: _, ahead, ...order } = act;
        return this.#call("POST", "/store/orders", { ...order, expiresAt: this.#timeIn(ahead) });
      }
      case "confirm":
        return this.#call("POST", `/store/orders/${this.#model.orderId(act)}/confirm`, {
          price: act.price,
          seller: act.seller,
        });
      case "correct":
        return this.#call("PATCH", `/store/orders/${this.#model.orderId(act)}`, {
          price: act.price,
          expiresAt: this.#timeIn(act.ahead),
        });
      case "name order":
        return this.#call("PATCH", `/store/orders/${this.#model.orderId(act)}`, { reference: act.reference });
      case "note on animal":
        return this.#call("PATCH", `/pets/${act.petId}`, { metadata: act.metadata });
      case "note on order":
        return this.#call("PATCH", `/store/orders/${this.#model.orderId(act)}`, { metadata: act.metadata });
      case "settings": {
        const { kind: _, ...patch } = act;
        return this.#call("PATCH", "/shop", patch);
      }
      case "note on category":
        return this.#call("PATCH", `/categories/${this.#model.category.id}`, { metadata: act.metadata });
      default:
        return this.#call("POST", `/store/orders/${this.#model.orderId(act)}/${act.kind}`);
    }
  }

  #timeIn(milliseconds: number | undefined): string | undefined {
    return milliseconds === undefined ? undefined : new Date(this.#service.clock.now() + milliseconds).toISOString();
  }

  #call(method: string, path: string, body?: unknown): Promise<TestResponse> {
    return this.#service.call(method, path, { key: this.#client.key, body });
  }
}

const threeAnimals = Array.from({ length: 3 }, (): Act => ({ kind: "add", status: "available" }));

test(
  "holds what a simple model of a shop holds, after every step of a random walk",
  async () => {
    await assert(
      asyncProperty(array(arbitraryEvent, { maxLength: 120, size: "max" }), async (events) => {
        const walk = await Walk.start();
        try {
          for (const event of [...threeAnimals, ...events]) await walk.step(event);
          await walk.replay();
        } finally {
          await walk.stop();
        }
      }),
      { numRuns: rounds(4, 200) },
    );
  },
  rounds(240_000, 3_600_000),
);
