import type { Clock } from "../../../timing/clock.ts";
import { fewAtOnce, settlesWithin } from "../../../timing/waiting.ts";
import { Courier } from "./courier.ts";
import type { CourierParts } from "./courier-parts.ts";
import type { EndpointName } from "./dispatch.statements.ts";
import { Slots } from "./slots.ts";

/** How long this process may deliver after its last round, in milliseconds. Later, another one may be delivering. */
const LEADS_FOR = 3_000;
/** How long one round takes over endpoints, in milliseconds. It must end before `LEADS_FOR` does. */
const TAKES_OVER_FOR = 1_000;
/** Endpoints that are taken over at once: fewer than the connections to PostgreSQL for such transactions. */
const MAX_OPENED_AT_ONCE = 2;
/** How long a stopping process waits for deliveries in progress, in milliseconds. Unfinished ones are made again. */
const LAST_WAIT = 3_000;
/** How long after its last round this process reports a lag, in milliseconds. Later, another one delivers. */
const REPORTS_FOR = 60_000;

type Dependencies = Omit<CourierParts, "slots" | "leads" | "freed" | "deliveryEnded" | "disabled" | "failed">;

/** What the dispatcher reports. */
export interface DispatchObserver {
  readonly disabled: CourierParts["disabled"];
  readonly failed: CourierParts["failed"];
}

/** Delivers the events of all shops to their endpoints. Each endpoint with something to deliver has a courier. */
export class Dispatcher {
  readonly #parts: CourierParts;
  readonly #clock: Clock;
  readonly #slots = new Slots();
  readonly #couriers = new Map<string, Courier>();
  #ranAt = Number.NEGATIVE_INFINITY;
  #isStopping = false;
  /** Deliveries and disabled endpoints since the start. */
  readonly counts = { succeeded: 0, failed: 0, disabled: 0 };

  constructor(dependencies: Dependencies, observer: DispatchObserver) {
    this.#clock = dependencies.clock;
    this.#parts = {
      ...dependencies,
      slots: this.#slots,
      leads: () => !this.#isStopping && this.#sinceRound < LEADS_FOR,
      freed: () => this.#useFreeSlot(),
      deliveryEnded: (hasFailed) => void this.counts[hasFailed ? "failed" : "succeeded"]++,
      disabled: (endpoint) => {
        this.counts.disabled++;
        observer.disabled(endpoint);
      },
      failed: observer.failed,
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
    const lags = this.#couriers
      .values()
      .map(({ oldestEventAt, now }) => (oldestEventAt === undefined ? 0 : now - Date.parse(oldestEventAt)));
    return lags.reduce((most, lag) => Math.max(most, lag), 0) / 1000;
  }

  get #sinceRound(): number {
    return this.#clock.monotonic() - this.#ranAt;
  }

  /**
   * One round: finds what is due and starts to deliver it. Resolves before the deliveries end. An endpoint that fails
   * does not stop the others: rejects with its error afterwards.
   */
  async run(): Promise<void> {
    this.#ranAt = this.#clock.monotonic();
    const found = await this.#parts.store.withWork();
    const names = new Map(found.map((name) => [name.id, name]));
    for (const [id, courier] of this.#couriers) {
      if (courier.isBusy && !courier.isEnded) names.set(id, courier.name);
      else if (!names.has(id) || courier.isEnded) this.#remove(id, courier);
    }
    const known = [...this.#couriers.values()];
    const refreshes = await Promise.allSettled(
      known.filter(({ name }) => names.has(name.id)).map((courier) => courier.refresh()),
    );
    for (const courier of known) courier.startDeliveries();
    // Those that are left over are taken over by the next round, if this process still leads.
    const others = names.values().filter(({ id }) => this.#sinceRound < TAKES_OVER_FOR && !this.#couriers.has(id));
    await fewAtOnce(MAX_OPENED_AT_ONCE, others, (name) => this.#open(name));
    const failed = refreshes.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
  }

  /** Waits a few seconds for deliveries in progress, and for the saves that follow them. */
  async finish(): Promise<void> {
    this.#isStopping = true;
    await settlesWithin(this.settled(), LAST_WAIT);
    await Promise.all(this.#couriers.values().map((courier) => courier.handOver()));
  }

  /** Resolves when no delivery is in progress and all progress is saved. */
  async settled(): Promise<void> {
    while (this.#couriers.values().some(({ isWorking }) => isWorking)) {
      await Promise.all(this.#couriers.values().map((courier) => courier.settled()));
    }
  }

  async #open(name: EndpointName): Promise<void> {
    const opened = await Courier.open(name, this.#parts);
    if (!opened) return;
    this.#couriers.set(name.id, opened);
    await opened.refresh(); // which reads redeliveries
    opened.startDeliveries();
  }

  /** Drops a courier whose deliveries have ended. Until then it stays, so that no second courier sends its events. */
  #remove(id: string, courier: Courier): void {
    if (courier.inProgress === 0) this.#couriers.delete(id);
  }

  #useFreeSlot(): void {
    for (const courier of this.#couriers.values()) if (courier.waitsForSlot) courier.startDeliveries();
  }
}
