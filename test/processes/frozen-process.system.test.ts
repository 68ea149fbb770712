// A process that is frozen in the middle of a transaction holds a shop's lock. Its siblings must not wait for it for long.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { stopwatch } from "../harness/cpu-time.ts";
import { environment } from "../harness/keys.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { ask, askEach, endAll, newAccount, startSeveral } from "../harness/processes.ts";
import { eventually, type Program } from "../harness/program.ts";
import { timeBound } from "../harness/test-length.ts";

/** How long the process is frozen, in milliseconds: longer than any deadline of the store. */
const FROZEN = 18_000;
/** The documented time after which the shop of a frozen process takes changes again, in milliseconds. */
const SAME_SHOP_WITHIN = timeBound(FROZEN / 2, 3_000);
/** The longest time without an acknowledged change of another shop, in milliseconds. */
const OTHER_SHOP_WITHIN = timeBound(FROZEN / 2, 1_500);

/** Clients of a shop that add animals, each with an `Idempotency-Key`, and repeat what was not acknowledged. */
class Writers {
  readonly names = new Set<string>();
  /** The names of acknowledged animals. */
  readonly added = new Set<string>();
  /** The longest time between two acknowledged changes since `watch`, in milliseconds. */
  longestGap = 0;
  readonly #key: string;
  readonly #writers: Promise<unknown>;
  #sinceLast = stopwatch();
  #isOver = false;

  /** `pause` is that of each client after a change, in milliseconds. */
  constructor(program: Program, key: string, count: number, pause = 0) {
    this.#key = key;
    const watched = [program.child.pid];
    this.#sinceLast = stopwatch(...watched);
    const write = async () => {
      while (!this.#isOver) {
        const name = crypto.randomUUID();
        this.names.add(name);
        while (!(await this.#add(program.base, name)) && !this.#isOver) await Bun.sleep(20);
        this.longestGap = Math.max(this.longestGap, this.#sinceLast());
        this.#sinceLast = stopwatch(...watched);
        if (pause > 0) await Bun.sleep(pause);
      }
    };
    this.#writers = Promise.all(Array.from({ length: count }, write));
  }

  /** Forgets the gaps so far. */
  watch(): void {
    this.longestGap = 0;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#writers;
  }

  /** Repeats what was sent and not acknowledged. */
  async repeat(base: string): Promise<void> {
    for (const name of this.names) if (!this.added.has(name)) await eventually(() => this.#add(base, name));
  }

  async #add(base: string, name: string): Promise<boolean> {
    const headers = {
      Authorization: `Bearer ${this.#key}`,
      "Content-Type": "application/json",
      "Idempotency-Key": name,
    };
    const body = JSON.stringify({ name, categoryId: 1 });
    const response = await fetch(`${base}/pets`, { method: "POST", headers, body }).catch(() => undefined);
    const text = await response?.text().catch(() => undefined);
    if (response?.status !== 201 || text === undefined) return false;
    this.added.add(name);
    return true;
  }
}

describe.skipIf(postgresMissing !== undefined)("a process that is frozen", () => {
  let server: PostgresServer;
  beforeAll(async () => void (server = await PostgresServer.start()));
  afterAll(() => server.remove());

  test("in a transaction, stops changes of its shop for 3 s at most, and nothing else; nothing is lost or done twice", async () => {
    const database = await server.newDatabase();
    const settings = { ...environment, PETSTORE_DATABASE_URL: server.url(database) };
    const [{ key, storage }, other] = [await newAccount(settings), await newAccount(settings)];
    await Promise.all([storage.close(), other.storage.close()]);
    const [frozen, sibling] = (await startSeveral(2, settings)) as [Program, Program];
    const ofFrozen = new Writers(frozen, key, 8);
    const sameShop = new Writers(sibling, key, 8, 50);
    const otherShop = new Writers(sibling, other.key, 4, 50);
    for (const { added } of [ofFrozen, sameShop, otherShop]) await eventually(() => added.size >= 50);

    const idle =
      "SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction' AND xact_start < now() - interval '0.5 s'";
    await eventually(async () => {
      frozen.child.kill("SIGSTOP");
      await Bun.sleep(600);
      if ((await server.run(idle, database)).length > 0) return true; // it holds the lock of the shop
      frozen.child.kill("SIGCONT");
      return false;
    });
    for (const writers of [sameShop, otherShop]) writers.watch();
    const notReady: string[] = [];
    const before = sameShop.added.size;
    for (const end = performance.now() + FROZEN; performance.now() < end; await Bun.sleep(200)) {
      const ready = await fetch(new URL("/readyz", sibling.base));
      if (!ready.ok) notReady.push(await ready.text());
    }
    const gaps = { same: sameShop.longestGap, other: otherShop.longestGap };
    const more = sameShop.added.size - before;
    frozen.child.kill("SIGCONT");
    await eventually(() => ofFrozen.added.size > 100);
    await Promise.all([ofFrozen, sameShop, otherShop].map((writers) => writers.stop()));

    expect(notReady).toEqual([]);
    expect(gaps.same).toBeLessThan(SAME_SHOP_WITHIN);
    expect(gaps.other).toBeLessThan(OTHER_SHOP_WITHIN);
    expect(more).toBeGreaterThan(0);
    expect(sibling.output).not.toContain("connections to the database are in use");
    for (const writers of [ofFrozen, sameShop, otherShop]) await writers.repeat(sibling.base);
    const stored = "SELECT name, count(*)::int AS times FROM pets GROUP BY name";
    const rows = await server.run<{ name: string; times: number }>(stored, database);
    const sent = ofFrozen.names.union(sameShop.names).union(otherShop.names);
    expect(rows.map(({ name }) => name).toSorted()).toEqual([...sent].toSorted());
    expect(rows.filter(({ times }) => times !== 1)).toEqual([]);
    for (const program of [frozen, sibling]) expect(await program.end()).toBe(0);
  });

  test("refuses the key of an account that was deleted completely in between", async () => {
    const settings = { ...environment, PETSTORE_DATABASE_URL: server.url(await server.newDatabase()) };
    const programs = await startSeveral(2, settings);
    const [frozen, sibling] = programs as [Program, Program];
    const { key, account, accounts, storage } = await newAccount(settings);
    for (const { status } of await askEach(programs, key)) expect(status).toBe(200);
    frozen.child.kill("SIGSTOP");
    await accounts.delete(account.id, Date.now());
    await sibling.until(() => sibling.output.includes('"event":"account_deleted"'));
    frozen.child.kill("SIGCONT");
    await eventually(async () => (await ask(frozen.base, key)).status === 401);
    await storage.close();
    expect(await endAll(programs)).toEqual([0, 0]);
  });
});
