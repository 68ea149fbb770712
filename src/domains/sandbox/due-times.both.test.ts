// Whatever is placed, stored and fast-forwarded in whatever order: all that is due then has happened, and nothing else.
import { expect, test } from "bun:test";
import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  integer,
  oneof,
  record,
} from "fast-check";
import { ManualTasks } from "../../../test/harness/manual-tasks.ts";
import { TestService } from "../../../test/harness/service.ts";
import { rounds } from "../../../test/harness/test-length.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../timing/clock.ts";

type Step =
  | { readonly kind: "order" }
  | { readonly kind: "keyed"; readonly key: string }
  | { readonly kind: "forward"; readonly seconds: number; readonly isRepeated: boolean }
  | { readonly kind: "time passes"; readonly seconds: number };

const seconds = oneof(integer({ min: 1, max: 5_400 }), constantFrom(899, 900, 43_200, 86_399, 86_400));
const step: Arbitrary<Step> = oneof(
  record({ kind: constantFrom("order") }),
  record({ kind: constantFrom("keyed"), key: constantFrom("a", "b", "c") }),
  record({ kind: constantFrom("forward"), seconds, isRepeated: boolean() }),
  record({ kind: constantFrom("time passes"), seconds }),
);

class Walk {
  readonly #service: TestService;
  readonly #tasks: ManualTasks;
  readonly #key: string;
  /** When reservations end, by the ids of their orders, and stored responses, by their keys, in Unix milliseconds. */
  #orders = new Map<number, number>();
  #responses = new Map<string, number>();
  #pets = 0;
  #forwards = 0;

  constructor(service: TestService, tasks: ManualTasks, key: string) {
    this.#service = service;
    this.#tasks = tasks;
    this.#key = key;
  }

  async take(one: Step): Promise<void> {
    const { clock } = this.#service;
    if (one.kind === "order") {
      const { json } = await this.#create();
      const placed = await this.#call("POST", "/store/orders", { petId: json.id });
      this.#orders.set(placed.json.id, clock.now() + 15 * MINUTE_MS);
    } else if (one.kind === "keyed") {
      const isKnown = (this.#responses.get(one.key) ?? 0) > clock.now();
      expect(isReplay(await this.#create(one.key))).toBe(isKnown);
      if (!isKnown) this.#responses.set(one.key, clock.now() + DAY_MS);
    } else if (one.kind === "forward") await this.#forward(one.seconds, one.isRepeated);
    else {
      clock.advance(one.seconds * SECOND_MS);
      await this.#tasks.run();
    }
    await this.#compare();
  }

  async #forward(by: number, isRepeated: boolean): Promise<void> {
    this.#service.clock.advance(MINUTE_MS / 20); // 20 a minute are admitted
    const send = (key: string) => this.#call("POST", "/sandbox/fast-forward", { seconds: by }, key);
    const key = `forward-${++this.#forwards}`;
    expect(isReplay(await send(key))).toBe(false);
    if (isRepeated) expect(isReplay(await send(key))).toBe(true);
    const nearer = <K>([name, due]: [K, number]): [K, number] => [name, due - by * SECOND_MS];
    this.#orders = new Map([...this.#orders].map(nearer));
    this.#responses = new Map([...this.#responses].map(nearer));
    this.#responses.set(key, this.#service.clock.now() + DAY_MS); // its own response lasts as long as any other
  }

  async #compare(): Promise<void> {
    const now = this.#service.clock.now();
    const { json: sandbox } = await this.#call("GET", "/sandbox");
    for (const [kind, all] of [
      ["reservation", this.#orders],
      ["stored_response", this.#responses],
    ] as const) {
      const due = [...all.values()].filter((time) => time > now);
      const shown = sandbox.waiting.find((one: { kind: string }) => one.kind === kind);
      const expected = { kind, count: due.length, next: due.length > 0 && new Date(Math.min(...due)).toISOString() };
      expect(shown).toEqual(due.length > 0 ? expected : undefined);
    }
    expect([sandbox.animals, sandbox.orders]).toEqual([this.#pets, this.#orders.size]);
    const { json: orders } = await this.#call("GET", "/store/orders?limit=100");
    for (const { id, status, placedAt, expiresAt } of orders) {
      expect([id, status]).toEqual([id, (this.#orders.get(id) as number) > now ? "placed" : "expired"]);
      // The log and the resources never name a time to come, apart from the announced end.
      expect(Date.parse(placedAt)).toBeLessThanOrEqual(now);
      if (status === "expired") expect(Date.parse(expiresAt)).toBeLessThanOrEqual(now);
    }
    const [newest] = (await this.#call("GET", "/events?sort=-id&limit=1")).json;
    if (newest) expect(Date.parse(newest.at)).toBeLessThanOrEqual(now);
  }

  async #create(key?: string) {
    const response = await this.#call("POST", "/pets", { name: "Rex", categoryId: 1, status: "available" }, key);
    if (!isReplay(response)) this.#pets++;
    return response;
  }

  async #call(method: string, path: string, body?: unknown, key?: string) {
    const headers = key === undefined ? {} : { "Idempotency-Key": key };
    const response = await this.#service.call(method, path, { key: this.#key, headers, body });
    expect(response.status).toBeLessThan(300);
    return response;
  }
}

const isReplay = ({ headers }: { readonly headers: Headers }) => headers.get("idempotent-replayed") === "true";

test(
  "what is due by the sum of fast-forwards and of the time that passes has happened, and nothing else",
  async () => {
    const tasks = new ManualTasks();
    const service = await TestService.start({ domains: tasks.domains });
    await assert(
      asyncProperty(array(step, { maxLength: 40, size: "max" }), async (steps) => {
        const { key } = await service.newAccountWithKey("enterprise");
        const walk = new Walk(service, tasks, key);
        for (const one of steps) await walk.take(one);
      }),
      { numRuns: rounds(10, 300) },
    );
    await service.stop();
  },
  rounds(240_000, 3_600_000),
);
