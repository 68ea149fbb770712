import { Animals, createBody } from "../harness/animals.ts";
import { Ledger, readExactly, type ShownAnimal } from "../harness/ledger.ts";
import { nextOf } from "../harness/next-page.ts";
import { Random } from "../harness/random.ts";

const WRITERS = 8;
const READERS = 2;
/** Milliseconds between a response and the client's next request, and after one that failed. */
const PAUSE = 20;
/** The longest that a client waits for a response, in milliseconds. */
const RESPONSE_TIMEOUT = 5_000;
/** How long unanswered creates are repeated after the end, in milliseconds. */
const LAST_TRIES = 20_000;

/** When requests of one kind succeeded. */
class Successes {
  #last = performance.now();
  #longest = 0;
  count = 0;

  note(): void {
    const now = performance.now();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
    this.count++;
  }

  /** The longest time without a success, in seconds. */
  get longestGap(): number {
    return this.#longest / 1_000;
  }
}

/** Clients that add animals, each with an `Idempotency-Key` until it is acknowledged, and clients that read. */
export class Load {
  readonly ledger = new Ledger();
  readonly writes = new Successes();
  readonly reads = new Successes();
  /** Unsuccessful responses by status; 0 for requests without a response. */
  readonly failures = new Map<number, number>();
  readonly #base: string;
  readonly #key: string;
  readonly #animals = new Animals(new Random(1));
  readonly #clients: Promise<void>[];
  #success = Promise.withResolvers<void>();
  #isOver = false;
  #endsAt = Number.POSITIVE_INFINITY;

  constructor(base: string, key: string) {
    this.#base = base;
    this.#key = key;
    this.#clients = [
      ...Array.from({ length: WRITERS }, () => this.#write()),
      ...Array.from({ length: READERS }, () => this.#read()),
    ];
  }

  /** Resolves when this many more writes and reads have succeeded. */
  async untilServed(writes: number, reads: number): Promise<void> {
    const [enoughWrites, enoughReads] = [this.writes.count + writes, this.reads.count + reads];
    while (this.writes.count < enoughWrites || this.reads.count < enoughReads) await this.#success.promise;
  }

  /** Ends the load, then compares the store with the ledger. */
  async finish(): Promise<void> {
    this.#isOver = true;
    this.#endsAt = performance.now() + LAST_TRIES;
    await Promise.all(this.#clients);
    await this.#readFrom("/pets?limit=100");
    this.ledger.settle();
  }

  async #write(): Promise<void> {
    while (!this.#isOver) {
      const animal = this.#animals.next();
      this.ledger.send(animal);
      const init = { method: "POST", body: createBody(animal), headers: { "Idempotency-Key": crypto.randomUUID() } };
      while (performance.now() < this.#endsAt) {
        const text = await this.#call("/pets", init);
        if (text !== undefined) {
          this.ledger.acknowledge(animal, readExactly(text) as ShownAnimal);
          this.#note(this.writes);
          break;
        }
        await Bun.sleep(PAUSE);
      }
      await Bun.sleep(PAUSE);
    }
  }

  async #read(): Promise<void> {
    while (!this.#isOver) {
      if ((await this.#call("/pets?limit=1")) !== undefined) this.#note(this.reads);
      await Bun.sleep(PAUSE);
    }
  }

  #note(successes: Successes): void {
    successes.note();
    this.#success.resolve();
    this.#success = Promise.withResolvers();
  }

  /** The text of a success; undefined for anything else. */
  async #call(path: string, init: { method?: string; body?: string; headers?: Record<string, string> } = {}) {
    const headers = { Authorization: `Bearer ${this.#key}`, "Content-Type": "application/json", ...init.headers };
    const signal = AbortSignal.timeout(RESPONSE_TIMEOUT);
    let status = 0;
    try {
      const response = await fetch(this.#base + path, { ...init, headers, signal });
      ({ status } = response);
      const text = await response.text();
      if (response.ok) return text;
    } catch {
      // No response, or a part of one.
    }
    this.failures.set(status, (this.failures.get(status) ?? 0) + 1);
    return undefined;
  }

  async #readFrom(path: string): Promise<void> {
    const headers = { Authorization: `Bearer ${this.#key}` };
    let response = await fetch(this.#base + path, { headers });
    while (!response.ok) response = await fetch(this.#base + path, { headers });
    for (const shown of readExactly(await response.text()) as ShownAnimal[]) this.ledger.see(shown);
    const next = nextOf(response);
    if (next !== undefined) await this.#readFrom(next);
  }
}

/** A client that sends at a fixed rate, whatever it is answered, and counts what was admitted. */
export class LimitedClient {
  static readonly limit = 300;
  /** Milliseconds between two requests. */
  static readonly #period = 33;
  admitted = 0;
  readonly #timer: Timer;
  readonly #sent: Promise<void>[] = [];

  constructor(base: string, key: string) {
    const send = async () => {
      const init = { headers: { Authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(RESPONSE_TIMEOUT) };
      const response = await fetch(`${base}/pets?limit=1`, init).catch(() => undefined);
      if (response?.ok) this.admitted++;
    };
    this.#timer = setInterval(() => this.#sent.push(send()), LimitedClient.#period);
  }

  /** Requests that were admitted beyond the limit. */
  async finish(): Promise<number> {
    clearInterval(this.#timer);
    await Promise.all(this.#sent);
    return Math.max(0, this.admitted - LimitedClient.limit);
  }
}
