import { settings } from "../config/service-settings.ts";
import { type Config, valuesOf } from "../config.ts";
import type { DueTimes } from "../contract/due-times.ts";
import type { AccountStore } from "../domains/accounts/accounts.store.ts";
import { type BackgroundTask, checkDomains } from "../domains/domain.ts";
import type { KeyStore } from "../domains/keys/keys.store.ts";
import type { IssuedKey } from "../domains/keys/keys.ts";
import type { InFlightControls } from "../http/in-flight-controls.ts";
import { generationOf } from "../storage/generation.ts";
import type { OpenStorage, StorageObserver } from "../storage/storage.ts";
import { Log } from "../telemetry/log.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { type Clock, systemClock } from "../timing/clock.ts";
import { settlesWithin } from "../timing/waiting.ts";
import { BackgroundTasks } from "./background-tasks.ts";
import { domains } from "./domains.ts";
import { firstStart } from "./first-start.ts";
import { watchClock, watchDisk, watchEventLoop } from "./machine-metrics.ts";
import { openLimiter, type RunningLimiter } from "./open-limiter.ts";
import { openService, type Service, type ServiceHost, type ServiceOptions } from "./open-service.ts";
import { failedStore, openStorage } from "./store/engines.ts";
import { scheduleBackups, type TakeBackup } from "./store/scheduled-backups.ts";
import { assignEnvironment } from "./store/store-access.ts";
import { isBuilt } from "./web/built.ts";

/** The longest time that a stopping service lets requests in flight finish, in milliseconds. */
const SHUTDOWN_GRACE = 10_000;
/**
 * Milliseconds after which a stopping service only sends traces and writes its log, for a second each: the process must
 * have ended after 15 seconds.
 */
const STOP_DEADLINE = 12_500;
/** How much of that time is left for saving, in milliseconds, however long the server takes to stop. */
const SAVE_TIME = 1_000;

export interface AppOptions extends ServiceOptions {
  readonly clock?: Clock;
  readonly log?: Log;
  /** Opens the store; if absent, the one that the settings choose. */
  readonly openStore?: typeof openStorage;
  /** If false, the store must exist. */
  readonly create?: boolean;
  /** Aborted when the process is asked to stop. */
  readonly stop?: AbortSignal;
  /** Takes a backup of the store in another process, and ends when its signal is aborted. If absent, none are taken. */
  readonly takeBackup?: TakeBackup;
  /** Called when the process must end, because continuing would risk data. */
  readonly onFatal?: (error: Error) => void;
}

/** The opened parts of a service. */
interface AppParts extends Service {
  readonly storage: OpenStorage;
  readonly log: Log;
  readonly tasks: BackgroundTasks;
  readonly limits: RunningLimiter;
  /** Aborted when the service begins to stop. */
  readonly stopping: AbortController;
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
  /** What limits requests in flight; tests look into it. */
  readonly controls: InFlightControls;
  readonly #parts: AppParts;

  /** Opens the store, then listens. Throws an error with a reason for the operator. */
  static async start(config: Config, options: AppOptions = {}): Promise<App> {
    const { clock = systemClock, openStore = openStorage, onFatal } = options;
    const metrics = new Metrics();
    const log = options.log ?? new Log(config.logLevel);
    if (!isBuilt) checkDomains(options.domains ?? domains, Object.keys(settings));
    let hasFailed = false;
    const observer: StorageObserver = {
      committed: (seconds, transactions) => metrics.committed(seconds, transactions),
      failed: (cause) => {
        metrics.storeFailed(cause);
        hasFailed = true;
      },
      postponed: (work, error) => log.failing("task_failed", error, { task: work }),
      fatal: (error) => {
        log.error("store_unusable", error);
        onFatal?.(failedStore(config, error));
      },
    };
    const storage = await openStore(config, observer, options.stop, options.create);
    let limits: RunningLimiter | undefined;
    try {
      await assignEnvironment(storage, config);
      const tasks = new BackgroundTasks(log, () => storage.lead());
      // After a failure, the log and the alert must not take silence for health when there are no requests.
      const checkStore = async () => {
        if (!hasFailed) return;
        hasFailed = false;
        await storage.check();
      };
      tasks.add({ name: "check_store", by: "each", run: checkStore });
      const repeat = (task: BackgroundTask) => tasks.add(task);
      const dueTimes: DueTimes[] = [];
      const { generation, isNew } = await generationOf(storage);
      const parts: Omit<ServiceHost, "limiter"> = {
        storage,
        generation,
        clock,
        expiry: watchClock({ clock, log, metrics, repeat }),
        log,
        metrics,
        dataFolder: config.database ? undefined : config.dataDir,
        isDevelopment: config.environment === "development",
        repeat,
        runSoon: () => tasks.runSoon(),
        dueTimes,
        hasDueTimes: (owner) => dueTimes.push(owner),
      };
      for (const domain of options.domains ?? domains) {
        await domain.check?.(parts, valuesOf(config, domain.settings ?? {}));
      }
      if (isNew) log.info("store_new");
      metrics.gauge("petstore_store_new", "1 if the store is new, or was restored or copied before this start.", () =>
        Number(isNew),
      );
      watchEventLoop(parts);
      if (parts.dataFolder !== undefined) watchDisk(parts, parts.dataFolder);
      if (options.takeBackup) scheduleBackups(config.backups, parts, options.takeBackup);
      limits = await openLimiter(config, parts);
      const stopping = new AbortController();
      const service = openService(config, { ...parts, limiter: limits.limiter }, stopping.signal, options);
      service.controls.start();
      tasks.start();
      return new App({ ...service, storage, log, tasks, limits, stopping });
    } catch (error) {
      limits?.close();
      await storage.close();
      throw error;
    }
  }

  private constructor(parts: AppParts) {
    this.#parts = parts;
    ({ base: this.base, docs: this.docs, accounts: this.accounts, keys: this.keys, log: this.log } = parts);
    ({ port: this.port } = parts.server);
    this.controls = parts.controls;
  }

  /** If there is no account, creates what a developer needs for a first call: see `firstStart`. */
  firstStart(): Promise<IssuedKey | undefined> {
    return firstStart(this.#parts.storage, this.accounts, this.keys);
  }

  /** Builds the console in the background, so that the first request for it does not wait. */
  async prepareConsole(): Promise<void> {
    const { prepareConsole, stopping, log } = this.#parts;
    try {
      await prepareConsole();
    } catch (error) {
      if (!stopping.signal.aborted) log.failing("console_not_built", error);
    }
  }

  /** Stops accepting requests, finishes those in flight, saves what is only in memory, closes the store. */
  async stop(): Promise<void> {
    const { stopping, controls, server, tasks, limits, storage, abuse, tracer, log } = this.#parts;
    stopping.abort();
    controls.delays.stop(); // a delayed response is sent now, before its connection closes
    controls.streams.stop(); // clients reconnect to another process
    const started = performance.now();
    const timeLeft = () => STOP_DEADLINE - (performance.now() - started);
    await settlesWithin(server.stop(SHUTDOWN_GRACE), timeLeft() - SAVE_TIME);
    controls.stop();
    const saved = tasks
      .stop()
      .then(() => limits.close())
      .then(() => storage.close());
    if (!(await settlesWithin(saved, timeLeft()))) log.warn("stopped_without_saving");
    abuse.logInvalidKeys();
    await tracer?.close();
    await log.close();
  }
}
