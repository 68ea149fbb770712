import { type Config, settings, valuesOf } from "../config.ts";
import type { Write } from "../contract/handler.ts";
import type { AccountStore } from "../domains/accounts/accounts.store.ts";
import { type BackgroundTask, checkDomains, type Host } from "../domains/domain.ts";
import { BanEvents } from "../domains/keys/ban-events.ts";
import type { KeyStore } from "../domains/keys/keys.store.ts";
import type { IssuedKey } from "../domains/keys/keys.ts";
import type { LoadLimits } from "../http/overload/load-limits.ts";
import { RequestChecks } from "../http/request-checks.ts";
import type { InStep, Server } from "../http/server.ts";
import { strikesForBan } from "../limits/key-bans.ts";
import type { Storage, StorageObserver } from "../storage/storage.ts";
import { AbuseLog } from "../telemetry/abuse-log.ts";
import { Log } from "../telemetry/log.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { Tracer } from "../telemetry/tracer.ts";
import { type Clock, systemClock } from "../timing/clock.ts";
import { settlesWithin } from "../timing/settles-within.ts";
import { BackgroundTasks } from "./background-tasks.ts";
import { keyEnvironment, openCallerParts } from "./caller-parts.ts";
import { domains, type ServedDomain } from "./domains.ts";
import { firstStart } from "./first-start.ts";
import { isBuilt } from "./is-built.ts";
import { openIdempotency } from "./open-idempotency.ts";
import { openLimiter, type RunningLimiter } from "./open-limiter.ts";
import { scheduleDeletion } from "./schedule-deletion.ts";
import { serveOperations } from "./serve-operations.ts";
import { assignEnvironment } from "./store/check-environment.ts";
import { failedStore, openStorage } from "./store/open-storage.ts";
import { scheduleBackups, type TakeBackup } from "./store/scheduled-backups.ts";
import type { Console } from "./web/console.ts";
import { hasExpired } from "./web/well-known.ts";

/** How long a stopping service lets requests in flight finish, in milliseconds. */
const SHUTDOWN_GRACE = 10_000;
/** After this it only sends traces and writes its log, in milliseconds: the process must have ended after 15 seconds. */
const STOP_DEADLINE = 13_000;

export interface AppOptions {
  readonly clock?: Clock;
  readonly domains?: readonly ServedDomain[];
  readonly log?: Log;
  readonly metrics?: Metrics;
  /** Set if other processes share the port: returns the metrics of all, and makes them stop in step. */
  readonly shared?: { readonly metricsOfAll: () => Promise<string>; readonly inStep: InStep } | undefined;
  /** Opens the store; if absent, the one that the settings choose. */
  readonly openStore?: typeof openStorage;
  /** When requests are queued or refused; if absent, the service's own limits. */
  readonly loadLimits?: LoadLimits;
  /** The most open streams; if absent, the service's own limit. */
  readonly maxStreams?: number | undefined;
  /** Aborted when the process is asked to stop. */
  readonly stop?: AbortSignal;
  /** Takes a backup of the store in another process, and ends when its signal is aborted. If absent, none are taken. */
  readonly takeBackup?: TakeBackup;
  /** Called when the process must end, because continuing would risk data. */
  readonly onFatal?: (error: Error) => void;
}

/** The running service: opens its parts, and stops them in order. */
export class App {
  readonly base: string;
  /** Where the reference page is. */
  readonly docs: string;
  readonly port: number;
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly log: Log;
  readonly #storage: Storage;
  readonly #limits: RunningLimiter;
  readonly #tasks: BackgroundTasks;
  readonly #abuse: AbuseLog;
  readonly #server: Server;
  readonly #console: Console;
  readonly #tracer: Tracer | undefined;
  readonly #requestChecks: RequestChecks;
  readonly #inStep: InStep | undefined;
  #stopping = false;

  /** Opens the store, then listens. Throws an error with a reason for the operator. */
  static async start(config: Config, options: AppOptions = {}): Promise<App> {
    const { clock = systemClock, openStore = openStorage, metrics = new Metrics(), onFatal } = options;
    const log = options.log ?? new Log(config.logLevel);
    if (!isBuilt) checkDomains(options.domains ?? domains, Object.keys(settings));
    const observer: StorageObserver = {
      committed: (seconds, transactions) => metrics.committed(seconds, transactions),
      failed: (cause) => metrics.storeFailed(cause),
      postponed: (work, error) => log.failing("task_failed", error, { task: work }),
      fatal: (error) => {
        log.error("store_unusable", error);
        onFatal?.(failedStore(config, error));
      },
    };
    const storage = await openStore(config, observer, options.stop);
    let limits: RunningLimiter | undefined;
    try {
      await assignEnvironment(storage, config);
      const tasks: BackgroundTask[] = [];
      const repeat: Host["repeat"] = (task) => addTask(tasks, task);
      const parts = { storage, clock, log, metrics, repeat, ...hostContext(config) };
      if (options.takeBackup) scheduleBackups(config.backups, parts, options.takeBackup);
      limits = await openLimiter(config, parts);
      return new App(config, parts, limits, tasks, options);
    } catch (error) {
      limits?.close();
      await storage.close();
      throw error;
    }
  }

  private constructor(
    config: Config,
    parts: Omit<Host, "limiter" | "runSoon">,
    limits: RunningLimiter,
    tasks: readonly BackgroundTask[],
    { domains: served = domains, shared, loadLimits, maxStreams }: AppOptions,
  ) {
    const { storage, clock, log, metrics } = parts;
    const host: Host = { ...parts, limiter: limits.limiter, runSoon: () => this.#tasks.runSoon() };
    const callers = openCallerParts(host, keyEnvironment(config));
    const { accounts, keys, authenticator, usage, records } = callers;
    const banEvents = new BanEvents(host, keys);
    const abuse = new AbuseLog({
      ...parts,
      showsAddresses: config.logAddresses,
      strikesForBan,
      onBan: (keyId, endsAt) => banEvents.add(keyId, endsAt),
    });
    limits.onLifted((keyId) => {
      abuse.lifted(keyId);
      banEvents.lifted(keyId);
    });
    host.repeat({ name: "log_abuse", by: "each", run: async () => abuse.logEnded() });
    const tracer = config.traces && new Tracer(config.traces, parts);
    const requestChecks = new RequestChecks({ ...parts, authenticator }, loadLimits, maxStreams);
    // The cast is safe: handlers of domains yield only steps of transactions.
    const write = storage.write.bind(storage) as Write;
    const idempotency = openIdempotency(host, write);
    const operations = served.flatMap((domain) => domain.operations);
    const bound = served.flatMap((domain) =>
      domain.open({ ...host, callers, operations }, valuesOf(config, domain.settings ?? {})),
    );
    scheduleDeletion(host, callers, served);
    const { shedder, deadlines, drains, delays, streams } = requestChecks;
    const { server, base, docs, webConsole } = serveOperations(config, bound, {
      storage,
      services: {
        authenticator,
        limiter: limits.limiter,
        usage,
        records,
        write,
        idempotency,
        clock,
        log,
        metrics,
        tracer,
        shedder,
        deadlines,
        abuse,
        drains,
        delays,
        streams,
      },
      monitoring: {
        checkStore: () => storage.check(),
        isStopping: () => this.#stopping,
        metrics: () => shared?.metricsOfAll() ?? metrics.expose(),
      },
      isShared: shared !== undefined,
    });
    if (config.security && hasExpired(config.security, clock)) log.warn("security_contact_expired");
    this.base = base;
    this.docs = docs;
    this.port = server.port;
    this.accounts = accounts;
    this.keys = keys;
    this.log = log;
    this.#storage = storage;
    this.#limits = limits;
    this.#abuse = abuse;
    this.#server = server;
    this.#tracer = tracer;
    this.#requestChecks = requestChecks;
    this.#console = webConsole;
    this.#inStep = shared?.inStep;
    requestChecks.start();
    this.#tasks = new BackgroundTasks(log, tasks, (asSubstitute) => storage.lead(asSubstitute));
  }

  /** If there is no account, creates what a developer needs for a first call: see `firstStart`. */
  firstStart(): Promise<IssuedKey | undefined> {
    return firstStart(this.#storage, this.accounts, this.keys);
  }

  /** Builds the console in the background, so that the first request for it does not wait. */
  async prepareConsole(): Promise<void> {
    try {
      await this.#console.prepare();
    } catch (error) {
      if (!this.#stopping) this.log.failing("console_not_built", error);
    }
  }

  /** Stops accepting requests, finishes those in flight, saves what is only in memory, closes the store. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#requestChecks.delays.stop(); // a delayed response is sent now, before its connection closes
    this.#requestChecks.streams.stop(); // clients reconnect to another process
    const started = performance.now();
    const timeLeft = () => STOP_DEADLINE - (performance.now() - started);
    await settlesWithin(this.#server.stop(SHUTDOWN_GRACE, this.#inStep), timeLeft());
    this.#requestChecks.stop();
    const saved = this.#tasks
      .stop()
      .then(() => this.#limits.close())
      .then(() => this.#storage.close());
    if (!(await settlesWithin(saved, timeLeft()))) this.log.warn("stopped_without_saving");
    this.#abuse.logInvalidKeys();
    await this.#tracer?.close();
    await this.log.close();
  }
}

/** What domains may know of the settings. */
function hostContext({ database, dataDir, environment }: Config) {
  return { dataFolder: database ? undefined : dataDir, isDevelopment: environment === "development" };
}

/** Adds a background task. Names must be unique, because the log identifies tasks by name. */
function addTask(tasks: BackgroundTask[], task: BackgroundTask): void {
  if (tasks.some(({ name }) => name === task.name)) throw new TypeError(`Two background tasks are named ${task.name}.`);
  tasks.push(task);
}
