import { readConfig, valuesOf } from "../../src/config.ts";
import { scopes } from "../../src/contract/caller.ts";
import type { BoundOperation, BoundRead } from "../../src/contract/handler.ts";
import { timestampOf } from "../../src/contract/schemas.ts";
import { openCallerParts, type ServedDomain } from "../../src/domains/callers.ts";
import { settingsOf } from "../../src/domains/domain.ts";
import { webhookSettings } from "../../src/domains/webhooks/webhooks.settings.ts";
import type { Limiter } from "../../src/http/interfaces.ts";
import { WindowLimiter } from "../../src/limits/limiter.ts";
import { MemoryCounts } from "../../src/limits/memory-counts.ts";
import type { Migration } from "../../src/storage/applied-migrations.ts";
import { type PostgresAddress, parsePostgresAddress } from "../../src/storage/postgres/address.ts";
import { Connection } from "../../src/storage/postgres/connection.ts";
import { openPostgres } from "../../src/storage/postgres/opening.ts";
import { isShared, listsOf, readTogether } from "../../src/storage/postgres/shared-reads.ts";
import type { QueryStatement } from "../../src/storage/statement.ts";
import type { StatementStep } from "../../src/storage/step.ts";
import type { OpenStorage } from "../../src/storage/storage.ts";
import { Log } from "../../src/telemetry/log.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";
import { ExpiryClock, systemClock } from "../../src/timing/clock.ts";
import { callerWith } from "./callers.ts";
import { insertsForEmptyTables } from "./fill-tables.ts";
import { development } from "./key-environments.ts";
import { walkPages } from "./pages.ts";
import { PostgresServer } from "./postgres-server.ts";
import { readStepwise } from "./stepwise-read.ts";

/** Makes filling the tables cheaper. Nothing but the test itself then changes the statistics of the tables. */
const fillFast = ["autovacuum=off", "wal_level=minimal", "max_wal_senders=0"];

/** Rows of the larger tables, which have some hundred blocks each. */
export const ROWS = 60_000;
/** Blocks that a read may touch: for a page, and for a page that scans 10,000 rows or 31 days. */
export const MAX_BLOCKS = 60;
export const MAX_BLOCKS_OF_SCAN = 400;
export const DAY = 86_400;
/** The time of the requests for pages, in unix seconds. */
export const NOW = 100 * DAY;
export const clock = { ...systemClock, now: () => NOW * 1_000 };

/** Costs as if tables exceeded memory and parallel workers were free. They tempt the planner to choose bad plans. */
const large = [
  "effective_cache_size=1MB",
  "parallel_setup_cost=0",
  "parallel_tuple_cost=0",
  "min_parallel_table_scan_size=0",
  "min_parallel_index_scan_size=0",
];

export const half = BigInt(ROWS / 2);
export const end = BigInt(ROWS - 100);
/** Ids of an animal with few orders (3), an animal without orders, and a category without animals (99). */
const samples = { ids: [3n, end / 3n, 99n], positions: [half, end], times: [timestampOf(half)] };
const caller = callerWith({ keyId: "key 30000", accountId: "account 500", mode: "live", scopes: new Set(scopes) });

/** A key for the secrets of webhooks. */
const environment = {
  PETSTORE_SECRET_KEY: Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString("base64"),
};
const surroundings = { dataFolder: undefined, isDevelopment: true };

const accounts = `
  INSERT INTO accounts (id, name, plan, created_at) SELECT 'account ' || i, 'Ada', 'free', i FROM generate_series(0, ${ROWS / 60}) AS i;
`;

/** How many blocks a read touches, and its plan. */
interface Cost {
  readonly blocks: number;
  readonly plan: string;
}

/** Sessions that explain reads. */
interface Readers {
  /** Like those that serve requests. */
  readonly service: Connection;
  /** Plans for the values of each read. Such a plan must not be bad either: other engines may always plan so. */
  readonly custom: Connection;
}

/** Records the reads of a store. */
export class Recorder {
  readonly storage: OpenStorage;
  /** The reads since the last call of `take`. */
  #reads: StatementStep[] = [];

  constructor(storage: OpenStorage) {
    const recording: Partial<OpenStorage> = {
      follow: () => {},
      onCommit: () => {},
      read: (transaction) =>
        readStepwise(
          (step) => storage.read(step),
          transaction,
          (call) => void this.#reads.push(call),
        ),
    };
    this.storage = recording as OpenStorage;
  }

  take(): StatementStep[] {
    return this.#reads.splice(0);
  }
}

/** The statement of two requests that share a read. */
function twice({ statement, parameters }: StatementStep): StatementStep {
  const [types, lists] = listsOf([parameters, parameters]);
  return { statement: readTogether(statement as QueryStatement, types), parameters: lists };
}

/** A store in PostgreSQL with large tables that measures the cost of reads. */
export class PageCosts {
  readonly storage: OpenStorage;
  /** The SQL of all reads so far. */
  readonly made = new Set<string>();
  /** The costs of all reads so far, by mode, SQL and values. */
  readonly #costs = new Map<string, Cost>();
  readonly #server: PostgresServer;
  readonly #readers: Readers;
  readonly #limiter: Limiter;

  /** Makes the store and fills it with `rows`, statements in SQL. Tables that these leave empty are filled as well. */
  static async open(migrations: readonly Migration[], rows = ""): Promise<PageCosts> {
    const server = await PostgresServer.start([...large, ...fillFast]);
    const address = parsePostgresAddress(server.url()) as PostgresAddress;
    const storage = await openPostgres(address, { migrations });
    const limiter = new WindowLimiter(new MemoryCounts(clock));
    await server.run(accounts + rows);
    const values = { account_id: "'account ' || i / 60" };
    await server.run(await insertsForEmptyTables((sql) => server.run(sql), ROWS, values));
    await server.run("VACUUM ANALYZE");
    const newReader = () => Connection.open({ address, deadline: 10_000, isReader: true });
    const readers: Readers = { service: await newReader(), custom: await newReader() };
    await readers.custom.runScript("SET plan_cache_mode = force_custom_plan");
    return new PageCosts(server, storage, limiter, readers);
  }

  private constructor(server: PostgresServer, storage: OpenStorage, limiter: Limiter, readers: Readers) {
    [this.#server, this.storage, this.#limiter, this.#readers] = [server, storage, limiter, readers];
  }

  async remove(): Promise<void> {
    for (const reader of Object.values(this.#readers)) reader.close();
    await this.storage.close();
    await this.#server.remove();
  }

  /**
   * The pages of a list, in all ways that its contract has, that touch more blocks than they may.
   * Throws if no page has an item, because that would prove nothing.
   */
  async expensivePagesOf(name: string, domains: readonly ServedDomain[]): Promise<unknown[]> {
    const recorder = new Recorder(this.storage);
    const bound = bindAll(recorder.storage, this.#limiter, domains).find(({ operation }) => operation.name === name);
    const expensive: unknown[] = [];
    const items = await walkPages(recorder.storage, bound as BoundRead, caller, samples, async (request) => {
      const reads = recorder.take();
      if (reads.length === 0) throw new Error(`A page of ${name} reads nothing of the store.`);
      const looksThrough = reads.some(({ statement }) => statement.sql.includes("AS scanned_rows"));
      const maxBlocks = ["getUsage", "listRequests"].includes(name) || looksThrough ? MAX_BLOCKS_OF_SCAN : MAX_BLOCKS;
      const found = await this.tooExpensive(reads, maxBlocks);
      if (found.length > 0) expensive.push({ request, found });
    });
    if (items === 0) throw new Error(`No page of ${name} has an item: give its table rows that it finds.`);
    return expensive;
  }

  /** The reads that touch more blocks than they may, each with its plan. */
  async tooExpensive(reads: readonly StatementStep[], maxBlocks: number) {
    for (const { statement } of reads) this.made.add(statement.sql);
    const shared = reads.filter(({ statement }) => isShared(statement as QueryStatement)).map(twice);
    const expensive: Cost[] = [];
    for (const mode of ["service", "custom"] as const) {
      for (const read of reads) expensive.push(...(await this.#above(maxBlocks, read, mode)));
      for (const read of shared) expensive.push(...(await this.#above(2 * maxBlocks, read, mode)));
    }
    return expensive;
  }

  /** The cost of a read if it is above the limit. Many pages make the same reads, which cost the same each time. */
  async #above(maxBlocks: number, read: StatementStep, mode: keyof Readers): Promise<Cost[]> {
    const given = read.parameters.map((value) => `${typeof value} ${value}`);
    const key = JSON.stringify([mode, read.statement.sql, ...given]);
    const cost = this.#costs.get(key) ?? (await this.explain(read, mode));
    this.#costs.set(key, cost);
    return cost.blocks > maxBlocks ? [cost] : [];
  }

  /** The plan of a read in one of the sessions, and how many blocks it touches. */
  async explain({ statement, parameters }: StatementStep, mode: keyof Readers = "service"): Promise<Cost> {
    const reader = this.#readers[mode];
    await reader.runScript(`PREPARE read AS ${statement.sql}`);
    const values = parameters.map((value) => (typeof value === "string" ? `'${value}'` : String(value)));
    const given = values.length > 0 ? `(${values.join(", ")})` : "";
    const lines = await reader.run({ sql: `EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) EXECUTE read${given}` });
    await reader.runScript("DEALLOCATE read");
    const plan = lines.map((line) => String(line["QUERY PLAN"])).join("\n");
    const [first = ""] = plan.match(/Buffers:.*/) ?? [];
    const blocks = [...first.matchAll(/(?:hit|read)=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0);
    return { blocks, plan };
  }
}

/** The operations of domains, on a store, without their background tasks. */
function bindAll(storage: OpenStorage, limiter: Limiter, domains: readonly ServedDomain[]): BoundOperation[] {
  const log = new Log("error", async () => {});
  const host = {
    storage,
    generation: "",
    clock,
    expiry: new ExpiryClock(clock, () => {}),
    log,
    metrics: new Metrics(),
    limiter,
    repeat: () => {},
    hasDueTimes: () => {},
    dueTimes: [],
    runSoon: () => {},
    ...surroundings,
  };
  const callers = openCallerParts(host, development);
  const config = readConfig(environment, "/", { ...webhookSettings, ...settingsOf(domains) });
  const operations = domains.flatMap((domain) => domain.operations);
  const callerHost = { ...host, callers, operations };
  return domains.flatMap((domain) => domain.open(callerHost, valuesOf(config, domain.settings ?? {})));
}
