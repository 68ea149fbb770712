import type { BackgroundTask } from "../../src/app/background-tasks.ts";
import { type Domain, domains } from "../../src/app/domains.ts";

/** All domains, whose periodic work is done when a test says so, and not by itself. */
export class WorkByHand {
  readonly #tasks = new Map<string, BackgroundTask>();
  /** For `TestService.start`. */
  readonly domains: readonly Domain[] = domains.map(({ operations, open }) => ({
    operations,
    open: (storage, config, parts) =>
      open(storage, config, { ...parts, repeat: (task) => this.#tasks.set(task.name, task) }),
  }));

  /** One round of the work of the service that was started last. */
  async round(): Promise<void> {
    for (const { run } of this.#tasks.values()) await run();
  }
}
