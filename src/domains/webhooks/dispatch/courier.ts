import { timestampOf } from "../../../contract/schemas.ts";
import { isDue } from "../sending/backoff.ts";
import { testEvent } from "../sending/message.ts";
import type { CourierParts } from "./courier-parts.ts";
import { makeDelivery, recordDelivery } from "./delivery.ts";
import type { EndpointName } from "./dispatch.statements.ts";
import type { CourierEndpoint } from "./dispatch.store.ts";
import { EndpointProgress } from "./endpoint-progress.ts";
import { nextDelivery, type PlannedDelivery } from "./next-delivery.ts";
import { readAhead } from "./read-ahead.ts";
import { RedeliveryProgress } from "./redelivery-progress.ts";

/**
 * Delivers the events of one endpoint: those of one sequence in order, those of different sequences in parallel. It
 * saves its progress after each delivery. After a crash, all messages after the oldest unfinished event are sent again,
 * also delivered ones, except those of parked sequences.
 *
 * No delivery starts while `isEnded`, `#storeFailed` or `#mustDisable` is true. They are independent: each can become
 * true during any `await`. Only `#storeFailed` becomes false again. While `#isWaiting`, only tests are sent.
 */
export class Courier {
  #endpoint: CourierEndpoint;
  readonly #parts: CourierParts;
  readonly #progress: EndpointProgress;
  readonly #inProgress = new Map<string, Promise<void>>();
  #reading: Promise<void> | undefined;
  #saving: Promise<void> | undefined;
  /** Finished redeliveries that a read of the store, started before they were deleted, may still return. */
  readonly #finishedRedeliveries = new Set<bigint>();
  /** The endpoint must be disabled: the next save does it, and sets `isEnded`. */
  #mustDisable = false;
  /** The store has failed: no delivery starts, and nothing is saved, until the next round. */
  #storeFailed = false;
  /** True if it must stop for good: another process delivers to the endpoint now, or nothing more is delivered. */
  isEnded = false;
  /** True while it waits for a free slot. */
  waitsForSlot = false;

  /** Takes over the deliveries of an endpoint. Undefined if the endpoint was deleted. */
  static async open(name: EndpointName, parts: CourierParts): Promise<Courier | undefined> {
    const endpoint = await parts.store.takeOver(name);
    return endpoint && new Courier(endpoint, parts, new EndpointProgress(endpoint, await parts.store.parked(endpoint)));
  }

  private constructor(endpoint: CourierEndpoint, parts: CourierParts, progress: EndpointProgress) {
    this.#endpoint = endpoint;
    this.#parts = parts;
    this.#progress = progress;
  }

  get name(): EndpointName {
    const { accountId, mode, id } = this.#endpoint;
    return { account_id: accountId, mode, id };
  }

  get inProgress(): number {
    return this.#inProgress.size;
  }

  /** True while a delivery, a read or a save is in progress. */
  get isWorking(): boolean {
    return this.inProgress > 0 || this.#reading !== undefined || this.#saving !== undefined;
  }

  /** True while it has work in memory. */
  get isBusy(): boolean {
    const { window, isDirty, redeliveries } = this.#progress;
    return this.isWorking || isDirty || (!this.#isWaiting && (window.oldest !== undefined || redeliveries.size > 0));
  }

  /** The time, by the shop's clock, of the oldest event without a delivery; undefined if there is none. */
  get oldestEventAt(): string | undefined {
    return this.#isWaiting ? undefined : this.#progress.window.oldest?.at;
  }

  /** True while it sends no events: the endpoint is not enabled, or waits after failures. */
  get #isWaiting(): boolean {
    const { retriesAt } = this.#progress.health;
    return this.#endpoint.state !== "enabled" || (retriesAt !== null && !isDue(retriesAt, this.now));
  }

  /** The time by the shop's clock. */
  get now(): number {
    return this.#parts.clock.now() + this.#endpoint.ahead;
  }

  /** Reads changes that requests or other processes have made to the endpoint. */
  async refresh(): Promise<void> {
    const { store } = this.#parts;
    const endpoint = await store.read(this.name);
    if (endpoint?.epoch !== this.#endpoint.epoch || endpoint.shop !== this.#endpoint.shop) {
      this.isEnded = true;
      return;
    }
    this.#endpoint = endpoint;
    const { redeliveries } = this.#progress;
    for (const row of await store.redeliveries(endpoint)) {
      if (redeliveries.has(row.id) || this.#finishedRedeliveries.has(row.id)) continue;
      const redelivery = new RedeliveryProgress(row);
      redeliveries.set(row.id, redelivery);
      if (row.kind === "test") redelivery.window.add([testEvent(endpoint.id, timestampOf(this.now))], row.last_event);
    }
    this.#storeFailed = false;
    if (this.#progress.health.retriesAt !== null && !this.#isWaiting) this.#progress.endWait();
  }

  /** Starts all deliveries that can start now, reads ahead, and saves the progress. */
  startDeliveries(): void {
    this.waitsForSlot = false;
    while (this.#canBegin()) {
      if (!this.#parts.slots.take(this.inProgress)) {
        this.waitsForSlot = true;
        break;
      }
      const delivery = nextDelivery(this.#progress, this.#inProgress, this.now, this.#isWaiting);
      if (!delivery) {
        this.#parts.slots.free();
        break;
      }
      this.#inProgress.set(delivery.sequence, this.#deliver(delivery));
    }
    this.#readAhead();
    this.#save();
  }

  /** Resolves when the deliveries, reads and saves that are in progress have ended. */
  async settled(): Promise<void> {
    await Promise.all([...this.#inProgress.values(), this.#reading, this.#saving]);
  }

  /** Saves all results before another process continues. No delivery may start any more. */
  async handOver(): Promise<void> {
    this.#progress.parkOvertaken(this.now);
    this.#save();
    while (this.#saving) await this.#saving;
    this.isEnded = true;
  }

  #canBegin(): boolean {
    return !this.isEnded && !this.#storeFailed && !this.#mustDisable && this.#parts.leads();
  }

  async #deliver(delivery: PlannedDelivery): Promise<void> {
    try {
      const sent = await makeDelivery(delivery, this.#endpoint, this.#parts);
      if (!this.isEnded && (await recordDelivery(delivery, sent, this.#progress, this.#endpoint, this.#parts))) {
        this.#mustDisable = true;
      }
    } catch (error) {
      this.#parts.failed(error);
      this.isEnded = true; // what is in memory may be wrong: the next courier starts from the store
    }
    this.#inProgress.delete(delivery.sequence);
    this.#parts.slots.free();
    this.startDeliveries();
    this.#parts.freed();
  }

  #readAhead(): void {
    if (this.#reading || this.#isWaiting || !this.#canBegin()) return;
    const reading = readAhead(this.#parts, this.#endpoint, this.#progress);
    this.#reading = reading
      ?.catch((error: unknown) => {
        this.#parts.failed(error);
        this.#storeFailed = true;
      })
      .then(() => {
        this.#reading = undefined;
        this.startDeliveries();
      });
  }

  #save(): void {
    if (this.#saving || this.#storeFailed || this.isEnded || !(this.#progress.isDirty || this.#mustDisable)) return;
    this.#saving = this.#saveAll().finally(() => {
      this.#saving = undefined;
      this.startDeliveries();
    });
  }

  async #saveAll(): Promise<void> {
    const { store, disabled, failed } = this.#parts;
    const mustDisable = this.#mustDisable; // read first: the delivery that is the reason must be saved before
    const progress = this.#progress.take();
    try {
      if (!(await store.save(this.#endpoint, progress))) {
        this.isEnded = true;
        return;
      }
      for (const [id, next] of progress.redeliveries) if (next === undefined) this.#finishedRedeliveries.add(id);
      this.#progress.markSaved(progress);
      if (mustDisable) {
        if (await store.disable(this.#endpoint)) disabled(this.#endpoint);
        this.isEnded = true;
      }
    } catch (error) {
      this.#progress.giveBack(progress);
      this.#storeFailed = true;
      failed(error);
    }
  }
}
