// No read is older than a change that was acknowledged before it began, or than what the same client has seen.
// Several clients read and change animals at once, and so does another process on the same store.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openStorage } from "../../src/app/store/engines.ts";
import type { OpenStorage } from "../../src/storage/storage.ts";
import { nextOf } from "../harness/next-page.ts";
import { Random } from "../harness/random.ts";
import { TestService } from "../harness/service.ts";
import { rounds } from "../harness/test-length.ts";

const CLIENTS = 8;
const STEPS = rounds(240, 5_000);
const ANIMALS = 16;
const LISTS = ["/pets?limit=5", "/pets?limit=5&status=available", "/pets?limit=5&status=pending"];

/** What an animal shows; undefined once it is deleted. */
type State = { readonly name: string; readonly status: string } | undefined;

/** An animal with all its states so far. Those after `acknowledged` may be in the store already. */
interface Animal {
  readonly id: number;
  readonly states: State[];
  acknowledged: number;
  /** True while a client changes it: its states have an order because clients take turns. */
  isChanging: boolean;
}

/** A process that changes animals in the store of the service. */
class OtherProcess {
  readonly #child;
  readonly #acknowledged: AsyncIterator<Uint8Array>;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(settings: Record<string, string>) {
    this.#child = Bun.spawn([process.execPath, join(import.meta.dir, "animal-writer.ts")], {
      env: { ...process.env, ...settings },
      stdin: "pipe",
    });
    this.#acknowledged = this.#child.stdout[Symbol.asyncIterator]();
  }

  /** Resolves when the change is acknowledged. One runs at a time. */
  change(shop: number, id: number, patch: State): Promise<unknown> {
    const change = async () => {
      void this.#child.stdin.write(`${JSON.stringify({ shop, id, patch })}\n`);
      void this.#child.stdin.flush();
      if ((await this.#acknowledged.next()).done) throw new Error("The other process has ended.");
    };
    return (this.#turn = this.#turn.then(change));
  }

  async end(): Promise<void> {
    await this.#child.stdin.end();
    await this.#child.exited;
  }
}

/** One run of the clients. */
class Run {
  readonly #service: TestService;
  readonly #key: string;
  readonly #shop: number;
  readonly #other: OtherProcess;
  readonly #animals: Animal[] = [];
  #names = 0;
  /** Descriptions of reads that were too old. */
  readonly stale: string[] = [];

  static async of(seed: number, changeStorage: (storage: OpenStorage) => void): Promise<string[]> {
    const service = await TestService.start({
      openStore: async (...options) => {
        const storage = await openStorage(...options);
        changeStorage(storage);
        return storage;
      },
    });
    const other = new OtherProcess(service.store.settings);
    try {
      const run = new Run(service, await service.newKey(), await service.shop(), other);
      for (let index = 0; index < ANIMALS; index++) await run.#add();
      await Promise.all(Array.from({ length: CLIENTS }, (_, index) => run.#client(new Random(seed + index))));
      return run.stale;
    } finally {
      await other.end();
      await service.stop();
    }
  }

  private constructor(service: TestService, key: string, shop: number, other: OtherProcess) {
    [this.#service, this.#key, this.#shop, this.#other] = [service, key, shop, other];
  }

  async #client(random: Random): Promise<void> {
    const seen = new Map<Animal, number>();
    let page = { path: random.pick(LISTS), after: 0 };
    for (let step = 0; step < STEPS; step++) {
      const kind = random.below(30);
      // In turn: a page that one kind of change has left too old must not be refreshed by the other kind.
      if (kind === 0) await this.#add();
      else if (kind <= 2) await this.#change(random, step % 40 < 20);
      else if (kind <= 6) await this.#readOne(seen, random.pick(this.#animals));
      else page = (await this.#readPage(seen, page)) ?? { path: random.pick(LISTS), after: 0 };
    }
  }

  async #call(method: string, path: string, body?: unknown) {
    const response = await this.#service.call(method, path, { key: this.#key, body });
    if (response.status >= 400 && response.status !== 404) throw new Error(`${method} ${path}: ${response.text}`);
    return response;
  }

  async #add(): Promise<void> {
    const state = { name: `n${++this.#names}`, status: "available" };
    const { json } = await this.#call("POST", "/pets", { ...state, categoryId: 1 });
    this.#animals.push({ id: json.id, states: [state], acknowledged: 0, isChanging: false });
  }

  async #change(random: Random, byOther: boolean): Promise<void> {
    const animal = random.pick(this.#animals);
    const { id, states } = animal;
    if (animal.isChanging || states.at(-1) === undefined) return;
    animal.isChanging = true;
    const isDeletion = random.below(20) === 0;
    const state = isDeletion
      ? undefined
      : { name: `n${++this.#names}`, status: random.pick(["available", "pending", "sold"]) };
    states.push(state);
    if (isDeletion) await this.#call("DELETE", `/pets/${id}`);
    else if (byOther) await this.#other.change(this.#shop, id, state);
    else await this.#call("PATCH", `/pets/${id}`, state);
    animal.acknowledged = states.length - 1;
    animal.isChanging = false;
  }

  async #readOne(seen: Map<Animal, number>, animal: Animal): Promise<void> {
    const note = this.#noter(seen);
    const { status, json, text } = await this.#call("GET", `/pets/${animal.id}`);
    note(animal, status === 404 ? isDeleted : isLike(json), text);
  }

  /** Reads the page of a list whose first animal has an id above `after`. Returns the next page. */
  async #readPage(seen: Map<Animal, number>, { path, after }: { path: string; after: number }) {
    const note = this.#noter(seen);
    const response = await this.#call("GET", path);
    const items: { readonly id: number; readonly name: string; readonly status: string }[] = response.json;
    const next = nextOf(response);
    const last = next === undefined ? Number.POSITIVE_INFINITY : (items.at(-1)?.id ?? 0);
    const listed = /status=(\w+)/.exec(path)?.[1];
    for (const animal of this.#animals) {
      if (animal.id <= after || animal.id > last) continue;
      const item = items.find(({ id }) => id === animal.id);
      const isAbsent = (state: State) => state === undefined || (listed !== undefined && state.status !== listed);
      note(animal, item ? isLike(item) : isAbsent, `${path}: ${response.text}`);
    }
    return next === undefined ? undefined : { path: next, after: last };
  }

  /** For a read that begins now: a function that notes what it has shown of an animal. */
  #noter(seen: Map<Animal, number>) {
    const oldest = new Map(
      this.#animals.map((animal) => [animal, Math.max(animal.acknowledged, seen.get(animal) ?? 0)]),
    );
    return (animal: Animal, fits: (state: State) => boolean, text: string) => {
      const from = oldest.get(animal);
      if (from === undefined) return; // it was not there yet
      const index = animal.states.findIndex((state, at) => at >= from && fits(state));
      if (index >= 0) seen.set(animal, index);
      else this.stale.push(`animal ${animal.id}, ${JSON.stringify(animal.states[from])}: ${text}`);
    };
  }
}

const isDeleted = (state: State) => state === undefined;
const isLike = (shown: { readonly name: string; readonly status: string }) => (state: State) =>
  state?.name === shown.name && state.status === shown.status;

const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);

test(`a read shows what was acknowledged before it, and what its client has seen (SEED=${seed})`, async () => {
  expect(await Run.of(seed, () => {})).toEqual([]);
});

test("a service whose shops always have the same version does not", async () => {
  const stale = await Run.of(seed, (storage) => void (storage.versionOf = () => 1));
  expect(stale.length).toBeGreaterThan(0);
});
