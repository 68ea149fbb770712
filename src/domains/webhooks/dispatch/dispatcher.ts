import { settlesWithin } from "../../../timing/waiting.ts";
import { Courier, type CourierParts } from "./courier.ts";
import type { EndpointName } from "./dispatch.statements.ts";
import { MAX_IN_PROGRESS, Slots } from "./slots.ts";

/** How long this process may deliver after its last round, in milliseconds. Later, another one may be delivering. */
const LEADS_FOR = 3_000;
/** How long a stopping process waits for deliveries in progress, in milliseconds. Unfinished ones are made again. */
const LAST_WAIT = 3_000;
/** How long after its last round this process reports a lag, in milliseconds. Later, another one delivers. */
const REPORTS_FOR = 60_000;

type Dependencies = Omit<CourierParts, "slots" | "leads" | "deliveryEnded">;

/** Delivers the events of all shops to their endpoints. Each endpoint with something to deliver has a courier. */
export class Dispatcher {
  readonly #parts: CourierParts;
  readonly #slots = new Slots();
  /** By endpoint. Each has a delivery in progress, or soon. */
  readonly #couriers = new Map<string, { readonly courier: Courier; readonly ended: Promise<void> }>();
  /** Endpoints that must wait for a courier, and since when. */
  readonly #waiting = new Map<string, { readonly name: EndpointName; readonly since: number }>();
  #ranAt = Number.NEGATIVE_INFINITY;
  #isStopping = false;
  /** Deliveries and disabled endpoints since the start. */
  readonly counts = { succeeded: 0, failed: 0, disabled: 0 };

  constructor(dependencies: Dependencies) {
    this.#parts = {
      ...dependencies,
      slots: this.#slots,
      leads: () => !this.#isStopping && this.#sinceRound < LEADS_FOR,
      deliveryEnded: (hasFailed) => void this.counts[hasFailed ? "failed" : "succeeded"]++,
      disabled: (endpoint) => {
        this.counts.disabled++;
        dependencies.disabled(endpoint);
      },
    };
  }

  get inProgress(): number {
    return this.#slots.taken;
  }

  /**
   * Age in seconds of the oldest event without a delivery, at an endpoint that does not wait after failures; or 0. It
   * is also 0 in a process that no longer delivers.
   */
  get lag(): number {
    if (this.#sinceRound >= REPORTS_FOR) return 0;
    const now = this.#parts.clock.now();
    const times = this.#couriers.values().map(({ courier }) => Date.parse(courier.oldestEventAt ?? "") || now);
    return (
      [...times, ...this.#waiting.values().map(({ since }) => since)].reduce((lag, at) => Math.max(lag, now - at), 0) /
      1000
    );
  }

  get #sinceRound(): number {
    return this.#parts.clock.monotonic() - this.#ranAt;
  }

  /** One round: finds what is due and starts to deliver it. Resolves before the deliveries end. */
  async run(): Promise<void> {
    this.#ranAt = this.#parts.clock.monotonic();
    const now = this.#parts.clock.now();
    for (const { courier } of this.#couriers.values()) courier.refresh();
    for (const name of await this.#parts.store.withWork()) {
      const { id } = name;
      if (!this.#couriers.has(id) && !this.#waiting.has(id)) this.#waiting.set(id, { name, since: now });
    }
    this.#startCouriers();
  }

  /** Waits a few seconds for deliveries in progress, and for the saves that follow them. */
  async finish(): Promise<void> {
    this.#isStopping = true;
    const ended = Promise.all(this.#couriers.values().map((one) => one.ended));
    for (const { courier } of this.#couriers.values()) courier.refresh();
    if (await settlesWithin(ended, LAST_WAIT)) return;
    for (const { courier } of this.#couriers.values()) courier.interrupt();
    await ended;
  }

  /** Starts those that get a slot. Without one, a courier would read what it cannot send, in each round. */
  #startCouriers(): void {
    for (const [id, { name }] of this.#waiting) {
      if (this.#couriers.size >= MAX_IN_PROGRESS || !this.#parts.leads()) return;
      if (!this.#slots.isFree(name.account_id, 0)) continue;
      this.#waiting.delete(id);
      const courier = new Courier(name, this.#parts);
      const ended = courier.run().then(() => {
        this.#couriers.delete(id);
        this.#startCouriers();
      });
      this.#couriers.set(id, { courier, ended });
    }
  }
}
