import { join } from "node:path";
import { type Clock, systemClock } from "./clock.ts";
import type { Config } from "./config.ts";
import { checkContract } from "./contract/check.ts";
import { type Failure, failure, storageUnavailable } from "./contract/errors.ts";
import { type BoundOperation, bind, type Operation } from "./contract/operation.ts";
import { operationAnchor } from "./derive/reference-page.ts";
import { derivePaths } from "./derive/routes.ts";
import { baseAddress, documentPages } from "./documents.ts";
import { AccountStore } from "./domains/accounts/accounts.store.ts";
import type { KeyWorld } from "./domains/accounts/api-key.ts";
import { KeyAuthenticator } from "./domains/accounts/authenticator.ts";
import { addressQuota } from "./domains/accounts/plans.ts";
import { petHandlers } from "./domains/pets/pets.handlers.ts";
import { petOperations } from "./domains/pets/pets.operations.ts";
import { PetStore } from "./domains/pets/pets.store.ts";
import { Api } from "./http/api.ts";
import { ClientAddresses } from "./http/client-address.ts";
import { type Addresses, compileOperation } from "./http/compiled-operation.ts";
import type { Route } from "./http/exchange.ts";
import { healthPages } from "./http/health.ts";
import { Server } from "./http/server.ts";
import { LimitStore } from "./limits/limits.store.ts";
import { MemoryLimiter } from "./limits/memory-limiter.ts";
import { PeriodicWork } from "./periodic-work.ts";
import { backupSqlite } from "./storage/sqlite/backup.ts";
import { openWhenFree } from "./storage/sqlite/opening.ts";
import { type Storage, type StorageObserver, StorageUnavailable } from "./storage/storage.ts";
import { Log } from "./telemetry/log.ts";
import { Metrics } from "./telemetry/metrics.ts";

/** One folder of `domains/`: its operations, and how they come to life on a store. */
export interface Domain {
  readonly operations: readonly Operation[];
  readonly open: (storage: Storage) => BoundOperation[];
}

/** Every domain whose operations are served. */
export const domains: readonly Domain[] = [
  { operations: petOperations, open: (storage) => bind(petOperations, petHandlers(new PetStore(storage))) },
];

/** How long a stopping service lets requests in flight finish, in milliseconds. */
const STOP_DEADLINE = 10_000;

/** Seconds after which a client may try again while the store is not available. */
const STORAGE_RETRY = 1;

/** The store that the settings choose. `stop` ends the wait for a store that is locked. Rejects with `StorageUnusable`. */
export function openStorage(config: Config, observer?: StorageObserver, stop?: AbortSignal): Promise<Storage> {
  return openWhenFree(databaseFile(config), observer, stop);
}

/** Copies the store that the settings choose into a file. Throws `StorageUnusable`. */
export function backupStorage(config: Config, target: string): void {
  backupSqlite(databaseFile(config), target);
}

function databaseFile({ dataDir }: Config): string {
  return join(dataDir, "petstore.db");
}

/** Keys of production are told from all others by their prefix. */
export function keyWorld({ environment }: Config): KeyWorld {
  return environment === "production" ? "live" : "test";
}

export interface AppOptions {
  readonly clock?: Clock;
  readonly domains?: readonly Domain[];
  readonly log?: Log;
  /** Opens the store; where it is absent, the one that the settings choose. */
  readonly openStore?: typeof openStorage;
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
  readonly pets: PetStore;
  readonly accounts: AccountStore;
  readonly log: Log;
  readonly #storage: Storage;
  readonly #periodic: PeriodicWork;
  readonly #server: Server;
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
        onFatal(error);
      },
    };
    const storage = await openStore(config, observer, options.stop);
    try {
      const limiter = await MemoryLimiter.open(new LimitStore(storage), clock, addressQuota);
      return new App(config, served, { storage, limiter, clock, log, metrics });
    } catch (error) {
      await storage.close();
      throw error;
    }
  }

  private constructor(
    config: Config,
    served: readonly Domain[],
    parts: { storage: Storage; limiter: MemoryLimiter; clock: Clock; log: Log; metrics: Metrics },
  ) {
    const { storage, limiter, clock, log, metrics } = parts;
    this.log = log;
    this.#storage = storage;
    this.pets = new PetStore(storage);
    const world = keyWorld(config);
    this.accounts = new AccountStore(storage, world, () => authenticator.forget());
    const authenticator = new KeyAuthenticator(this.accounts, world, clock);
    storage.onForeignWrite(() => authenticator.forget());
    for (const [kind, meaning] of Object.entries(limiterGauges) as [keyof typeof limiterGauges, string][]) {
      metrics.gauge(`petstore_limiter_${kind}`, meaning, () => limiter.size[kind]);
    }

    const bound = served.flatMap((domain) => domain.open(storage));
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
      const services = { authenticator, limiter, addresses: clients, clock, log, metrics, explain: explainError };
      return {
        api: new Api(services, base),
        basePath,
        routes: compileRoutes(bound, operations, addresses),
        pages: new Map([
          ...documentPages(operations, config, base, root),
          ...healthPages({ probe: () => storage.probe(), isStopping: () => this.#stopping, metrics }),
        ]),
      };
    });
    this.base = base;
    this.docs = docs;
    this.port = this.#server.port;
    this.#periodic = new PeriodicWork(log, [
      { name: "save the limits", run: () => limiter.save() },
      { name: "note the last use of keys", run: () => authenticator.noteUses() },
    ]);
  }

  /** Stops accepting, finishes what is in flight, writes down what is only in memory, closes the store. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#server.stop(STOP_DEADLINE);
    await this.#periodic.stop();
    await this.#storage.close();
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
  return failure(storageUnavailable, "The store is not available at the moment. Nothing was changed.", {
    retryAfter: STORAGE_RETRY,
  });
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
