import { domains, type ServedDomain } from "../../src/app/domains.ts";
import type { BackgroundTask } from "../../src/domains/domain.ts";

/** All domains, whose periodic work is done when a test says so, and not by itself. */
export class WorkByHand {
  readonly #tasks = new Map<string, BackgroundTask>();
  /** How often the service has asked for a round at once. */
  askedFor = 0;
  /** For `TestService.start`. */
  readonly domains: readonly ServedDomain[];

  constructor(served = domains) {
    this.domains = served.map((domain) => {
      const open: ServedDomain["open"] = (host, settings) =>
        domain.open(
          { ...host, repeat: (task) => this.#tasks.set(task.name, task), runSoon: () => void this.askedFor++ },
          settings,
        );
      return Object.assign({}, domain, { open });
    });
  }

  /** One round of the work of the service that was started last. */
  async round(): Promise<void> {
    for (const { run } of this.#tasks.values()) await run();
  }
}
