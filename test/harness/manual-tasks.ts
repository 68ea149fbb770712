import { domains } from "../../src/app/domains.ts";
import type { ServedDomain } from "../../src/domains/callers.ts";
import type { BackgroundTask } from "../../src/domains/domain.ts";

/** Domains whose background tasks run only when a test calls `run`. */
export class ManualTasks {
  readonly #tasks = new Map<string, BackgroundTask>();
  /** How often the service has requested a run with `runSoon`. */
  requestedRuns = 0;
  /** For `TestService.start`. */
  readonly domains: readonly ServedDomain[];

  constructor(served = domains) {
    this.domains = served.map((domain) => {
      const open: ServedDomain["open"] = (host, settings) =>
        domain.open(
          { ...host, repeat: (task) => this.#tasks.set(task.name, task), runSoon: () => void this.requestedRuns++ },
          settings,
        );
      return Object.assign({}, domain, { open });
    });
  }

  /** Runs each task of the service that was started last once. */
  async run(): Promise<void> {
    for (const { run } of this.#tasks.values()) await run();
  }

  /** Ends the tasks, as a service does that stops. */
  async finish(): Promise<void> {
    await Promise.all(this.#tasks.values().map(async ({ finish }) => finish?.()));
  }
}
