import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { logViolations } from "../conformance/replay.ts";
import { Animals, createUntilGone } from "../harness/animals.ts";
import { Bans } from "../harness/bans.ts";
import { Client } from "../harness/client.ts";
import { runQueueDelayOf, stopwatch } from "../harness/cpu-time.ts";
import { environment, newKey } from "../harness/keys.ts";
import { Ledger, readExactly, type ShownAnimal } from "../harness/ledger.ts";
import { nextOf } from "../harness/next-page.ts";
import { newDataDir, Program, serveCommand } from "../harness/program.ts";
import { Random } from "../harness/random.ts";
import { UNLIMITED, unlimitedQuota } from "../harness/unlimited.ts";
import { DayCount } from "./day-count.ts";
import { OrderWorkload } from "./order-workload.ts";
import { ShopLedger } from "./shop-ledger.ts";
import { rowViolations, shopRows } from "./shop-rows.ts";

/** What a round does besides the changes of orders. */
interface Load {
  /** Connections that create animals. */
  readonly connections: number;
  /** Whether one round in ten gets a key banned. */
  readonly bans: boolean;
}

const usualLoad: Load = { connections: 24, bans: true };
/** A start that takes longer than this hangs, in milliseconds. The report says how long the slowest one took. */
const READY_WITHIN = 10_000;
/** One round in this many gets a key banned, which takes a second. */
const BAN_EVERY = 10;
/** The latest moments of a kill, in milliseconds, in a start and under load. */
const LATEST = { inStart: 200, underLoad: 160 };
/** The same after a ban was reported, by turns: at once, or after counts have been saved several times. */
const LATEST_AFTER_BAN = [5, 1_000];

/**
 * Kills the service over and over on one data folder, each time at another moment, and checks after
 * each start that everything acknowledged is there. The seed decides the times and the animals.
 */
export class CrashTest implements AsyncDisposable {
  readonly dataDir = newDataDir();
  readonly #moments: Random;
  readonly #command: readonly string[];
  readonly #load: Load;
  readonly #ledger = new Ledger();
  readonly #shop = new ShopLedger((id, name) => this.#ledger.claim(id, name));
  readonly #workload: OrderWorkload;
  readonly #dayCount = new DayCount(UNLIMITED);
  readonly #bans = new Bans();
  readonly #violations: string[] = [];
  readonly #animals: Animals;
  #program: Program | undefined;
  #writer = "";
  #rounds = 0;
  /** The last page of the animals that was read: what is new comes on it and after it. */
  #lastPage = "/pets?limit=100";
  #kills = 0;
  /** The longest time from a start to readiness, in milliseconds. */
  #slowestStart = 0;

  constructor(seed: number, command = serveCommand, load = usualLoad) {
    this.#moments = new Random(seed);
    this.#animals = new Animals(new Random(seed)); // apart: how many are made depends on the machine
    this.#workload = new OrderWorkload(seed, this.#shop);
    this.#command = command;
    this.#load = load;
  }

  get violations(): string[] {
    const parts = [this.#ledger, this.#shop, this.#dayCount, this.#bans];
    return [this.#violations, ...parts.map(({ violations }) => violations)].flat();
  }

  /** What it came to so far, in words. */
  get report(): string {
    const animals = `${this.#ledger.acknowledged} animals acknowledged`;
    const changes = `${this.#shop.acknowledged} changes, sales and deletions`;
    return `${animals}, ${changes}, ${this.#bans.count} bans, ${this.#kills} kills, slowest start ${Math.round(this.#slowestStart)} ms`;
  }

  /** Ends what a failure left running. The data folder stays, to be looked at. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program?.end("SIGKILL");
  }

  removeData(): void {
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** Makes the store, in a start that is killed and one that is not, and the account of the load. */
  async begin(): Promise<void> {
    await this.#killStart();
    const program = await this.#start();
    this.#writer = await newKey(this.dataDir, unlimitedQuota);
    await this.#kill(program);
  }

  /** One life of the service under load, ended by a kill. */
  async round(): Promise<void> {
    if (this.#moments.below(4) === 0) await this.#killStart();
    const program = await this.#start();
    const client = await this.#check(program);
    const bringsBan = this.#rounds++ % BAN_EVERY === 5 && this.#load.bans;
    let isGone = false;
    const load = Promise.all([
      createUntilGone(client, this.#load.connections, this.#animals, this.#ledger, () => isGone),
      this.#workload.untilGone(client, () => isGone),
    ]);
    if (bringsBan) await this.#bans.provoke(program.base, await newKey(this.dataDir, { perMinute: 1, perDay: 1_000 }));
    await this.#anyMoment(
      bringsBan ? (LATEST_AFTER_BAN[this.#bans.count % LATEST_AFTER_BAN.length] as number) : LATEST.underLoad,
    );
    isGone = true;
    this.#dayCount.killed();
    await this.#kill(program);
    await load;
  }

  /** A last start: everything is read once more from the beginning, and the service stopped gracefully. */
  async finish(): Promise<void> {
    const program = await this.#start();
    const client = await this.#check(program);
    const expected = this.#ledger.expectAllAgain() + this.#shop.present;
    await this.#readFrom("/pets?limit=100", client);
    this.#ledger.settle();
    const found = this.#inspect<{ count: number }>("SELECT count(*) AS count FROM pets")[0]?.count;
    const shops = this.#inspect<{ shop: bigint }>("SELECT DISTINCT shop FROM events");
    for (const { shop } of shops)
      this.#violations.push(...(await logViolations(shop, (sql) => this.#inspect(sql), readExactly)));
    if (found !== expected) this.#violations.push(`the store has ${found} animals instead of ${expected}`);
    const status = await program.end();
    if (status !== 0) this.#violations.push(`the service ended with ${status}: ${program.errors}`);
  }

  /** Starts the service and sees how soon it is ready. */
  async #start(): Promise<Program> {
    const elapsed = stopwatch();
    const program = await Program.start(this.dataDir, environment, this.#command);
    this.#program = program;
    const ready = await fetch(new URL("/readyz", program.base));
    const took = elapsed() - runQueueDelayOf(program.child.pid); // without the time that it waited for a processor
    this.#slowestStart = Math.max(this.#slowestStart, took);
    if (ready.status !== 200) this.#violations.push(`not ready after a kill: ${await ready.text()}`);
    if (took > READY_WITHIN) this.#violations.push(`ready only after ${Math.round(took)} ms`);
    return program;
  }

  /** Looks at all that the last kill might have damaged. */
  async #check(program: Program): Promise<Client> {
    const client = new Client(program.base, this.#writer);
    this.#dayCount.begin(client, await client.call("GET", "/pets?limit=1"));
    await this.#bans.check(program.base);
    this.#lastPage = await this.#readFrom(this.#lastPage, client);
    this.#ledger.settle();
    const read = <R>(sql: string) => this.#inspect<R>(sql);
    this.#shop.look(...shopRows(read));
    this.#violations.push(...rowViolations(read));
    for (const { integrity_check: found } of this.#inspect<{ integrity_check: string }>("PRAGMA integrity_check")) {
      if (found !== "ok") this.#violations.push(`the file is damaged: ${found}`);
    }
    return client;
  }

  async #killStart(): Promise<void> {
    const program = new Program(this.dataDir, environment, this.#command);
    await this.#anyMoment(LATEST.inStart);
    await this.#kill(program);
  }

  async #kill(program: Program): Promise<void> {
    this.#kills++;
    await program.end("SIGKILL");
    if (program.errors !== "") this.#violations.push(`the service complained: ${program.errors}`);
  }

  /** Waits for a random time. */
  #anyMoment(latest: number): Promise<void> {
    return Bun.sleep(this.#moments.below(latest * 1_000) / 1_000);
  }

  /** Shows the ledger all animals from a page on. Returns the last page. */
  async #readFrom(path: string, client: Client): Promise<string> {
    const { status, headers, text = "" } = await client.call("GET", path);
    if (status !== 200) {
      this.#violations.push(`${path} was answered with ${status}: ${text}`);
      return path;
    }
    const shown = readExactly(text) as ShownAnimal[];
    for (const animal of shown) if (!this.#shop.owns(animal)) this.#ledger.see(animal);
    const next = nextOf({ headers });
    return next === undefined ? path : this.#readFrom(next, client);
  }

  /** Looks into the file alongside the running service: to open it alone would repair what the service must repair. */
  #inspect<R>(sql: string): R[] {
    const database = new Database(join(this.dataDir, "petstore.db"), { readonly: true });
    database.run("PRAGMA busy_timeout = 10000");
    const rows = database.query<R, []>(sql).all();
    database.close();
    return rows;
  }
}
