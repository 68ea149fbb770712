import { type Clock, systemClock } from "./clock.ts";
import type { Config } from "./config.ts";
import { checkContract } from "./contract/check.ts";
import { type Failure, failure, storageUnavailable } from "./contract/errors.ts";
import { type BoundOperation, bind, type Operation } from "./contract/operation.ts";
import { isDoneWithin } from "./deadline.ts";
import { operationAnchor } from "./derive/reference-page.ts";
import { derivePaths } from "./derive/routes.ts";
import { baseAddress, documentPages } from "./documents.ts";
import { AccountStore } from "./domains/accounts/accounts.store.ts";
import { KeyAuthenticator } from "./domains/accounts/authenticator.ts";
import { categoryHandlers } from "./domains/categories/categories.handlers.ts";
import { categoryOperations } from "./domains/categories/categories.operations.ts";
import { CategoryStore, categoryHasRecord } from "./domains/categories/categories.store.ts";
import { petHandlers } from "./domains/pets/pets.handlers.ts";
import { petOperations } from "./domains/pets/pets.operations.ts";
import { PetStore } from "./domains/pets/pets.store.ts";
import { firstStart } from "./first-start.ts";
import { Api } from "./http/api.ts";
import { ClientAddresses } from "./http/client-address.ts";
import { type Addresses, compileOperation } from "./http/compiled-operation.ts";
import { Deadlines } from "./http/deadlines.ts";
import type { Route } from "./http/exchange.ts";
import { healthPages } from "./http/health.ts";
import { Load, type LoadLimits } from "./http/load.ts";
import { Server } from "./http/server.ts";
import { addressQuota } from "./limits/address-quota.ts";
import { LimitStore } from "./limits/limits.store.ts";
import { MemoryLimiter } from "./limits/memory-limiter.ts";
import { PeriodicWork } from "./periodic-work.ts";
import { type Storage, type StorageObserver, StorageUnavailable } from "./storage/storage.ts";
import { failedStore, keyWorld, openStorage, settleWorld } from "./store.ts";
import { Log } from "./telemetry/log.ts";
import { Metrics } from "./telemetry/metrics.ts";

/** One folder of `domains/`, or more that work on each other: operations, and how they come to life on a store. */
export interface Domain {
  readonly operations: readonly Operation[];
  readonly open: (storage: Storage, config: Config) => BoundOperation[];
}

/** Every domain whose operations are served. */
export const domains: readonly Domain[] = [
  { operations: [...petOperations, ...categoryOperations], open: openPetsAndCategories },
];

/** Together, because the animals of a category that is deleted move, and an animal may have to name one that exists. */
function openPetsAndCategories(storage: Storage, { strictCategories }: Config): BoundOperation[] {
  const pets = new PetStore(storage, strictCategories ? categoryHasRecord : undefined);
  const categories = new CategoryStore(storage, pets);
  return [...bind(petOperations, petHandlers(pets)), ...bind(categoryOperations, categoryHandlers(categories))];
}

/** How long a stopping service lets requests in flight finish, in milliseconds. */
const REQUEST_DEADLINE = 10_000;
/** When it gives up whatever it still does but to write its log: it has to be gone after 15 seconds. */
const STOP_DEADLINE = 13_000;

/** How often the load and the deadlines of requests are looked at, in milliseconds. */
const LOOK = 100;

/** Seconds after which a client may try again while the store is not available. */
const STORAGE_RETRY = 1;

export interface AppOptions {
  readonly clock?: Clock;
  readonly domains?: readonly Domain[];
  readonly log?: Log;
  /** Opens the store; where it is absent, the one that the settings choose. */
  readonly openStore?: typeof openStorage;
  /** What is taken on at once; where it is absent, what suits the service. */
  readonly loadLimits?: LoadLimits;
  /** Aborted when the process is asked to stop. */
  readonly stop?: AbortSignal;
  /** Called when the process has to end, because going on would risk data. */
  readonly onFatal?: (error: Error) => void;
}

/** The running service. */
export class App {
  readonly base: string;
  /** Where the reference page is. */
  readonly docs: string;
  readonly port: number;
  readonly accounts: AccountStore;
  readonly log: Log;
  readonly #storage: Storage;
  readonly #periodic: PeriodicWork;
  readonly #server: Server;
  readonly #looks: Timer;
  #stopping = false;

  /** Opens the store, then listens. Throws an error with a reason for the operator. */
  static async start(config: Config, options: AppOptions = {}): Promise<App> {
    const { clock = systemClock, domains: served = domains, openStore = openStorage, onFatal = () => {} } = options;
    const log = options.log ?? new Log(config.logLevel);
    checkContract(served.flatMap(({ operations }) => operations));
    const metrics = new Metrics();
    const observer: StorageObserver = {
      committed: (seconds, transactions) => metrics.committed(seconds, transactions),
      failed: (cause) => metrics.storeFailed(cause),
      postponed: (work, error) => log.error(`failed to ${work}`, error),
      fatal: (error) => {
        log.error("the store cannot be used any more", error);
        onFatal(failedStore(config, error));
      },
    };
    const storage = await openStore(config, observer, options.stop);
    try {
      await settleWorld(storage, config);
      const limiter = await MemoryLimiter.open(new LimitStore(storage), clock, addressQuota);
      const load = new Load(clock, options.loadLimits, (isTooMuch) => {
        if (isTooMuch) log.warn("overloaded: requests are refused");
        else log.info("no longer overloaded");
      });
      return new App(config, served, { storage, limiter, load, clock, log, metrics });
    } catch (error) {
      await storage.close();
      throw error;
    }
  }

  private constructor(
    config: Config,
    served: readonly Domain[],
    parts: { storage: Storage; limiter: MemoryLimiter; load: Load; clock: Clock; log: Log; metrics: Metrics },
  ) {
    const { storage, limiter, load, clock, log, metrics } = parts;
    this.log = log;
    this.#storage = storage;
    const world = keyWorld(config);
    this.accounts = new AccountStore(storage, world, () => authenticator.forget());
    const authenticator = new KeyAuthenticator(this.accounts, world, clock);
    storage.onForeignWrite(() => authenticator.forget());
    for (const [kind, meaning] of Object.entries(limiterGauges) as [keyof typeof limiterGauges, string][]) {
      metrics.gauge(`petstore_limiter_${kind}`, meaning, () => limiter.size[kind]);
    }
    const deadlines = new Deadlines<Response>(clock);
    metrics.gauge("petstore_requests_pending", "Requests that are not answered yet.", () => deadlines.size);
    metrics.gauge("petstore_requests_waiting", "Requests that wait for the store.", () => load.waiting);
    metrics.gauge("petstore_overloaded", "1 while requests are refused.", () => Number(load.isTooMuch));

    const bound = served.flatMap((domain) => domain.open(storage, config));
    const operations = bound.map(({ operation }) => operation);
    let base = "";
    let docs = "";
    this.#server = new Server(config.host, config.port, ({ host, port }) => {
      base = baseAddress(config, host, port);
      const basePath = new URL(base).pathname;
      const root = basePath.slice(0, -"/v1".length);
      docs = `${base.slice(0, -"/v1".length)}/docs`;
      const addresses: Addresses = { base, documentation: (operation) => `${docs}#${operationAnchor(operation)}` };
      const clients = new ClientAddresses(config.trustedProxies);
      const around = { addresses: clients, clock, log, metrics, load, deadlines, explain: explainError };
      return {
        api: new Api({ authenticator, limiter, ...around }, base),
        basePath,
        routes: compileRoutes(bound, operations, addresses),
        pages: new Map([
          ...documentPages(operations, config, base, root),
          ...healthPages({ probe: () => storage.probe(), isStopping: () => this.#stopping, metrics, clock }),
        ]),
      };
    });
    this.base = base;
    this.docs = docs;
    this.port = this.#server.port;
    this.#looks = setInterval(() => {
      load.look();
      deadlines.look();
    }, LOOK);
    this.#periodic = new PeriodicWork(log, [
      { name: "save the limits", run: () => limiter.save() },
      { name: "note the last use of keys", run: () => authenticator.noteUses() },
    ]);
  }

  /** Makes what a developer needs for a first call, where there is no account: see `firstStart`. */
  firstStart(): Promise<string | undefined> {
    return firstStart(this.#storage, this.accounts);
  }

  /** Stops accepting, finishes what is in flight, writes down what is only in memory, closes the store. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const started = performance.now();
    const rest = () => STOP_DEADLINE - (performance.now() - started);
    await isDoneWithin(this.#server.stop(REQUEST_DEADLINE), rest());
    clearInterval(this.#looks);
    const saved = this.#periodic.stop().then(() => this.#storage.close());
    if (!(await isDoneWithin(saved, rest()))) {
      this.log.warn("the store was not free in time", { lost: "what was counted since it was free" });
    }
    await this.log.close();
  }
}

const limiterGauges = {
  accounts: "Accounts whose windows are in memory.",
  addresses: "Addresses whose windows are in memory.",
  keys: "Keys that were limited lately or are banned.",
};

function explainError(error: unknown): Failure | undefined {
  if (!(error instanceof StorageUnavailable)) return undefined;
  return failure(
    storageUnavailable,
    "The store is not available at the moment. Nothing is known to have been changed.",
    {
      retryAfter: STORAGE_RETRY,
    },
  );
}

function compileRoutes(
  bound: readonly BoundOperation[],
  operations: readonly Operation[],
  addresses: Addresses,
): Map<string, Route> {
  const compiled = new Map(bound.map((one) => [one.operation, compileOperation(one, operations, addresses)]));
  return new Map(
    derivePaths(operations).map(({ pattern, methods, allow }) => [
      pattern,
      {
        methods: new Map([...methods].map(([method, operation]) => [method, compiled.get(operation) as never])),
        allow,
      },
    ]),
  );
}
