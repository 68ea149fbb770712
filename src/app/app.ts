import type { Config } from "../config.ts";
import { checkContract } from "../contract/check.ts";
import { type Failure, failure, storageUnavailable } from "../contract/errors.ts";
import type { BoundOperation, Operation, Write } from "../contract/operation.ts";
import { operationAnchor } from "../derive/operation-anchor.ts";
import { derivePaths } from "../derive/routes.ts";
import { AccountStore } from "../domains/accounts/accounts.store.ts";
import { RetryStore } from "../domains/idempotency/stored-responses.store.ts";
import { mayHoldKey } from "../domains/keys/api-key.ts";
import { KeyAuthenticator } from "../domains/keys/authenticator.ts";
import { KeyStore } from "../domains/keys/keys.store.ts";
import type { IssuedKey } from "../domains/keys/keys.ts";
import { UsageStore } from "../domains/usage/usage.store.ts";
import { UsageCounter } from "../domains/usage/usage-counter.ts";
import { Api } from "../http/api.ts";
import { BodyDrains } from "../http/body-drains.ts";
import { ClientAddresses } from "../http/client-address.ts";
import { type Addresses, compileOperation } from "../http/compiled-operation.ts";
import { Deadlines } from "../http/deadlines.ts";
import type { Route } from "../http/exchange.ts";
import { healthPages } from "../http/health.ts";
import { Idempotency } from "../http/idempotency/idempotency.ts";
import { Load, type LoadLimits } from "../http/load.ts";
import { type InStep, Server } from "../http/server.ts";
import { strikesUntilBan } from "../limits/conduct.ts";
import { type Storage, type StorageObserver, StorageUnavailable } from "../storage/storage.ts";
import { AbuseLog } from "../telemetry/abuse-log.ts";
import { Log } from "../telemetry/log.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { Tracer } from "../telemetry/tracer.ts";
import { type Clock, systemClock } from "../timing/clock.ts";
import { isDoneWithin } from "../timing/deadline.ts";
import { type BackgroundTask, BackgroundTasks } from "./background-tasks.ts";
import { baseAddress, documentedBases, documentPages } from "./documents.ts";
import { type Domain, type DomainParts, domains } from "./domains.ts";
import { firstStart } from "./first-start.ts";
import { type LimiterEngine, openLimiter } from "./open-limiter.ts";
import { failedStore, keyMode, openStorage, requireKeyMode } from "./open-storage.ts";
import { hasExpired, startingLinks, wellKnownPages } from "./well-known.ts";

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
  readonly metrics?: Metrics;
  /** Set where other processes share the port: gives the metrics of all, and has them stop in step. */
  readonly shared?: { readonly metricsOfAll: () => Promise<string>; readonly inStep: InStep } | undefined;
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
  readonly keys: KeyStore;
  readonly log: Log;
  readonly #storage: Storage;
  readonly #limits: LimiterEngine;
  readonly #periodic: BackgroundTasks;
  readonly #usage: UsageCounter;
  readonly #abuse: AbuseLog;
  readonly #server: Server;
  readonly #tracer: Tracer | undefined;
  readonly #looks: Timer;
  readonly #inStep: InStep | undefined;
  #stopping = false;

  /** Opens the store, then listens. Throws an error with a reason for the operator. */
  static async start(config: Config, options: AppOptions = {}): Promise<App> {
    const {
      clock = systemClock,
      domains: served = domains,
      openStore = openStorage,
      onFatal = () => {},
      metrics = new Metrics(),
    } = options;
    const log = options.log ?? new Log(config.logLevel);
    checkContract(served.flatMap(({ operations }) => operations));
    const observer: StorageObserver = {
      committed: (seconds, transactions) => metrics.committed(seconds, transactions),
      failed: (cause) => metrics.storeFailed(cause),
      postponed: (work, error) => log.failing("task_failed", error, { task: work }),
      fatal: (error) => {
        log.error("store_unusable", error);
        onFatal(failedStore(config, error));
      },
    };
    const storage = await openStore(config, observer, options.stop);
    try {
      await requireKeyMode(storage, config);
      const limits = await openLimiter(config, { storage, clock, log, metrics });
      const load = new Load(clock, options.loadLimits, (isOverloaded) => {
        if (isOverloaded) log.warn("overload_started");
        else log.info("overload_ended");
      });
      return new App(config, served, { storage, limits, load, clock, log, metrics, shared: options.shared });
    } catch (error) {
      await storage.close();
      throw error;
    }
  }

  private constructor(
    config: Config,
    served: readonly Domain[],
    parts: Pick<AppOptions, "shared"> & {
      storage: Storage;
      limits: LimiterEngine;
      load: Load;
      clock: Clock;
      log: Log;
      metrics: Metrics;
    },
  ) {
    const { storage, limits, load, clock, log, metrics, shared } = parts;
    const { limiter } = limits;
    this.log = log;
    this.#inStep = shared?.inStep;
    this.#storage = storage;
    this.#limits = limits;
    const mode = keyMode(config);
    const forget = () => authenticator.forget();
    this.accounts = new AccountStore(storage, forget);
    this.keys = new KeyStore(storage, mode, forget);
    const authenticator = new KeyAuthenticator(this.keys, mode, clock);
    storage.onForeignWrite(forget);
    const usageStore = new UsageStore(storage);
    const usage = new UsageCounter(usageStore, clock);
    this.#usage = usage;
    metrics.gauge("petstore_usage_counts", "Counts of the usage that are not written yet.", () => usage.size.counts);
    metrics.gauge(
      "petstore_usage_uncounted",
      "Requests that are missing in the usage, because too many counts waited for the store, or that may be, because " +
        "the answer to their commit was lost.",
      () => usage.size.uncounted,
    );
    this.#tracer = config.traces && new Tracer(config.traces, { clock, log, metrics });
    const tracer = this.#tracer;
    const deadlines = new Deadlines<Response>(clock);
    metrics.gauge("petstore_requests_pending", "Requests that are not answered yet.", () => deadlines.size);
    const drains = new BodyDrains(clock);
    metrics.gauge(
      "petstore_bodies_draining",
      "Bodies of refused requests that are read and discarded.",
      () => drains.size,
    );
    metrics.gauge("petstore_requests_waiting", "Requests that wait for the store.", () => load.waiting);
    metrics.gauge("petstore_overloaded", "1 while requests are refused.", () => Number(load.isOverloaded));

    // The handlers of our domains make their changes of steps for this store.
    const write = storage.write.bind(storage) as Write;
    const answers = new RetryStore(storage);
    const retries = new Idempotency(answers, write, clock);
    metrics.gauge("petstore_retries_running", "Requests with an idempotency key that run.", () => retries.running);

    const abuse = new AbuseLog({
      clock,
      log,
      metrics,
      showsAddresses: config.logAddresses,
      strikesForBan: strikesUntilBan,
    });
    this.#abuse = abuse;

    const tasks: BackgroundTask[] = [
      { name: "tell_abuse", by: "each", run: async () => abuse.tell() },
      { name: "save_limits", by: "each", run: () => limits.save() },
      { name: "note_key_uses", by: "each", run: () => authenticator.noteUses() },
      { name: "save_usage", by: "each", run: () => usage.save() },
      { name: "forget_old_usage", by: "leader", run: () => usageStore.sweep(clock.now()) },
      { name: "forget_kept_answers", by: "leader", run: () => answers.forgetExpired(clock.now()) },
    ];
    const domainParts: DomainParts = {
      clock,
      repeat: (task) => tasks.push(task),
      accounts: this.accounts,
      keys: this.keys,
      keyUses: authenticator,
      limiter,
      usage,
      usageStore,
    };
    const bound = served.flatMap((domain) => domain.open(storage, config, domainParts));
    const operations = bound.map(({ operation }) => operation);
    const exposed = () => shared?.metricsOfAll() ?? metrics.expose();
    let base = "";
    let docs = "";
    this.#server = new Server(
      { host: config.host, port: config.port, isShared: shared !== undefined },
      ({ host, port }) => {
        base = baseAddress(config, host, port);
        const basePath = new URL(base).pathname;
        const root = basePath.slice(0, -"/v1".length);
        docs = `${base.slice(0, -"/v1".length)}/docs`;
        const addresses: Addresses = { base, documentation: (operation) => `${docs}#${operationAnchor(operation)}` };
        const clients = new ClientAddresses(config.trustedProxies);
        const around = {
          write,
          retries,
          addresses: clients,
          clock,
          log,
          metrics,
          tracer,
          load,
          deadlines,
          abuse,
          logsAddresses: config.logAddresses,
          mayHoldKey,
          drains,
          explain: explainError,
        };
        return {
          api: new Api({ authenticator, limiter, usage, ...around }, base),
          basePath,
          baseLinks: startingLinks(root),
          routes: compileRoutes(bound, operations, addresses),
          pages: new Map([
            ...documentPages(operations, config, base, root),
            ...wellKnownPages(config, documentedBases(config, base), clock),
            ...healthPages({ probe: () => storage.probe(), isStopping: () => this.#stopping, metrics: exposed, clock }),
          ]),
        };
      },
    );
    if (config.security && hasExpired(config.security, clock)) log.warn("security_contact_expired");
    this.base = base;
    this.docs = docs;
    this.port = this.#server.port;
    this.#looks = setInterval(() => {
      load.sample();
      deadlines.sweep();
      drains.sweep();
    }, LOOK);
    this.#periodic = new BackgroundTasks(log, tasks, () => storage.lead());
  }

  /** Makes what a developer needs for a first call, where there is no account: see `firstStart`. */
  firstStart(): Promise<IssuedKey | undefined> {
    return firstStart(this.#storage, this.accounts, this.keys);
  }

  /** Stops accepting, finishes what is in flight, writes down what is only in memory, closes the store. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const started = performance.now();
    const rest = () => STOP_DEADLINE - (performance.now() - started);
    await isDoneWithin(this.#server.stop(REQUEST_DEADLINE, this.#inStep), rest());
    clearInterval(this.#looks);
    const saved = this.#periodic
      .stop()
      .then(() => this.#usage.saveAll())
      .catch((error: unknown) => this.log.error("task_failed", error, { task: "save_usage" }))
      .then(() => this.#limits.close())
      .then(() => this.#storage.close());
    if (!(await isDoneWithin(saved, rest()))) this.log.warn("stopped_without_saving");
    this.#abuse.tellGuesses();
    await this.#tracer?.close();
    await this.log.close();
  }
}

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
