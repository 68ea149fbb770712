import { timestampOf } from "../../../contract/schemas.ts";
import type { Event } from "../../events/events.schemas.ts";
import { afterAttempt, hasFailedTooLong } from "../endpoints/endpoint-health.ts";
import { isDue, nextStep } from "../sending/backoff.ts";
import { type EventMessage, testEvent } from "../sending/message.ts";
import type { SendResult } from "../sending/send.ts";
import type { CourierParts } from "./courier-parts.ts";
import type { EndpointName } from "./dispatch.statements.ts";
import type { CourierState } from "./dispatch.store.ts";
import { EndpointProgress, RedeliveryProgress } from "./endpoint-progress.ts";
import { nextTask, type Task } from "./next-task.ts";
import { continueSubject, readAhead } from "./read-ahead.ts";
import { isRedelivery } from "./subjects.ts";
import { messageOfTask, sendSigned } from "./task-message.ts";

/**
 * Delivers the events of one endpoint: those about one subject in order, those about different subjects in parallel. It
 * saves its progress after each attempt. After a crash, messages whose result was not saved are sent again.
 *
 * No attempt starts while `isEnded`, `#isBroken` or `#mustDisable` is true. They are independent: each can become true
 * during any `await`. Only `#isBroken` becomes false again. While `#isWaiting`, only tests are sent.
 */
export class Courier {
  #state: CourierState;
  readonly #parts: CourierParts;
  readonly #progress: EndpointProgress;
  readonly #inProgress = new Map<string, Promise<void>>();
  #reading: Promise<void> | undefined;
  #saving: Promise<void> | undefined;
  /** Finished redeliveries that a read of the store, started before they were deleted, may still return. */
  readonly #finishedRedeliveries = new Set<bigint>();
  /** The endpoint must be disabled: the next save does it, and sets `isEnded`. */
  #mustDisable = false;
  /** The store has failed: no attempt starts, and nothing is saved, until the next round. */
  #isBroken = false;
  /** True if it must stop for good: another process delivers to the endpoint now, or nothing more is delivered. */
  isEnded = false;
  /** True while it waits for a free slot. */
  isStarved = false;

  /** Takes over the deliveries of an endpoint. Undefined if the endpoint was deleted. */
  static async open(name: EndpointName, parts: CourierParts): Promise<Courier | undefined> {
    const state = await parts.store.takeOver(name);
    return state && new Courier(state, parts, new EndpointProgress(state, await parts.store.parked(state)));
  }

  private constructor(state: CourierState, parts: CourierParts, progress: EndpointProgress) {
    [this.#state, this.#parts, this.#progress] = [state, parts, progress];
  }

  get name(): EndpointName {
    const { accountId, mode, id } = this.#state;
    return { account_id: accountId, mode, id };
  }

  get inProgress(): number {
    return this.#inProgress.size;
  }

  /** True while an attempt, a read or a save is in progress. */
  get isWorking(): boolean {
    return this.inProgress > 0 || this.#reading !== undefined || this.#saving !== undefined;
  }

  /** True while it has work in memory. */
  get isBusy(): boolean {
    const { window, isDirty, redeliveries } = this.#progress;
    return this.isWorking || isDirty || (!this.#isWaiting && (window.oldest !== undefined || redeliveries.size > 0));
  }

  /** The time, by the shop's clock, of the oldest event without an attempt; undefined if there is none. */
  get oldestEventAt(): string | undefined {
    return this.#isWaiting ? undefined : this.#progress.window.oldest?.at;
  }

  /** True while it sends no events: the endpoint is not enabled, or waits after failures. */
  get #isWaiting(): boolean {
    const { retriesAt } = this.#progress.health;
    return this.#state.state !== "enabled" || (retriesAt !== null && !isDue(retriesAt, this.now));
  }

  /** The time by the shop's clock. */
  get now(): number {
    return this.#parts.clock.now() + this.#state.ahead;
  }

  /** Reads changes that requests or other processes have made to the endpoint. */
  async refresh(): Promise<void> {
    const { store } = this.#parts;
    const state = await store.read(this.name);
    if (state?.epoch !== this.#state.epoch || state.shop !== this.#state.shop) {
      this.isEnded = true;
      return;
    }
    this.#state = state;
    for (const row of await store.redeliveries(state)) {
      if (!this.#progress.redeliveries.has(row.id) && !this.#finishedRedeliveries.has(row.id)) {
        this.#progress.redeliveries.set(row.id, new RedeliveryProgress(row));
      }
    }
    this.#isBroken = false;
    if (this.#progress.health.retriesAt !== null && !this.#isWaiting) this.#progress.endWait();
  }

  /** Starts all attempts that can start now, and saves the progress. */
  pump(): void {
    this.isStarved = false;
    while (this.#canBegin()) {
      if (!this.#parts.slots.take(this.inProgress)) {
        this.isStarved = true;
        break;
      }
      const task = nextTask(this.#progress, this.#inProgress, this.now, this.#isWaiting);
      if (!task) {
        this.#parts.slots.free();
        break;
      }
      this.#inProgress.set(task.subject, this.#attempt(task));
    }
    this.#readAhead();
    this.#save();
  }

  /** Resolves when the attempts, reads and saves that are in progress have ended. */
  async settled(): Promise<void> {
    await Promise.all([...this.#inProgress.values(), this.#reading, this.#saving]);
  }

  /** Saves all results before another process continues. No attempt may start any more. */
  async leave(): Promise<void> {
    this.#progress.parkOvertaken(this.now);
    this.#save();
    while (this.#saving) await this.#saving;
    this.isEnded = true;
  }

  #canBegin(): boolean {
    return !this.isEnded && !this.#isBroken && !this.#mustDisable && this.#parts.leads();
  }

  async #attempt(task: Task): Promise<void> {
    const isProbe = this.#progress.health.retriesAt !== null;
    try {
      const event = await this.#eventOf(task);
      if (!event) await this.#finish(task);
      else {
        const message = messageOfTask(task, event, this.#state);
        await this.#recordResult(task, event, message, isProbe, await sendSigned(message, this.#state, this.#parts));
      }
    } catch (error) {
      this.#parts.failed(error);
      this.isEnded = true; // what is in memory may be wrong: the next courier starts from the store
    }
    this.#inProgress.delete(task.subject);
    this.#parts.slots.free();
    this.pump();
    this.#parts.freed();
  }

  /** The event of an attempt; undefined if it has been deleted from the log. */
  async #eventOf({ kind, event, eventId }: Task): Promise<Event | undefined> {
    const { id, shop } = this.#state;
    if (kind === "test") return testEvent(id, timestampOf(this.now));
    if (event) return event;
    const found = await this.#parts.log.get(shop, eventId);
    return typeof found === "object" && "type" in found ? found : undefined;
  }

  /** Records the result of an attempt, and decides what follows. */
  async #recordResult(
    task: Task,
    event: Event,
    message: EventMessage,
    isProbe: boolean,
    result: SendResult,
  ): Promise<void> {
    if (this.isEnded) return;
    const progress = this.#progress;
    const { kind, subject, eventId, attempt } = task;
    const { failure, status, excerpt, duration, retryAfter } = result;
    const at = this.now;
    this.#parts.attempted(failure !== undefined);
    const deliveryId = progress.record({
      kind,
      attempt,
      at,
      duration,
      failure,
      status,
      excerpt,
      webhookId: message.id,
      eventId: kind === "test" ? null : eventId,
      type: event.type,
    });
    if (kind === "test") return this.#finish(task);
    const failed = failure && { failure, ...(status !== undefined && { status }), at, deliveryId: String(deliveryId) };
    const wasWaiting = progress.health.retriesAt !== null;
    const step = nextStep(attempt, result, this.#parts.random());
    if (step.kind === "retry") {
      progress.park(subject, { eventId, attempts: attempt, dueAt: at + step.delay });
      this.#removeFromSource(task);
    } else if (step.kind !== "disable") await this.#finish(task);
    const made = { subject, isProbe, at, failure: failed, retryAfter };
    progress.health = afterAttempt(progress.health, made, progress.isFull);
    if (wasWaiting && !failed) progress.makeDue(at);
    if (step.kind === "disable" || hasFailedTooLong(progress.health, at)) this.#mustDisable = true;
  }

  /** Finishes the event of an attempt, and continues with the next event of its subject. */
  async #finish(task: Task): Promise<void> {
    const { source, subject, eventId } = task;
    if (source !== "parked") return this.#removeFromSource(task);
    if (isRedelivery(subject)) this.#progress.unpark(subject);
    else await continueSubject(this.#parts, this.#state, this.#progress, subject, eventId);
  }

  #removeFromSource({ source, eventId, kind }: Task): void {
    if (source === "parked") return;
    const window = source instanceof RedeliveryProgress ? source.window : source;
    // The window of a test ends at the id 0, which no event has: reading up to it finishes the test.
    if (kind === "test") window.add([], 0n);
    else window.finish(eventId);
  }

  #readAhead(): void {
    if (this.#reading || this.#isWaiting || !this.#canBegin()) return;
    const reading = readAhead(this.#parts.log, this.#state, this.#progress);
    this.#reading = reading
      ?.catch((error: unknown) => {
        this.#parts.failed(error);
        this.#isBroken = true;
      })
      .then(() => {
        this.#reading = undefined;
        this.pump();
      });
  }

  #save(): void {
    if (this.#saving || this.#isBroken || this.isEnded || !(this.#progress.isDirty || this.#mustDisable)) return;
    this.#saving = this.#saveAll().finally(() => {
      this.#saving = undefined;
      this.pump();
    });
  }

  async #saveAll(): Promise<void> {
    const { store, disabled, failed } = this.#parts;
    const mustDisable = this.#mustDisable; // read first: the attempt that is the reason must be saved before
    const progress = this.#progress.take();
    try {
      if (!(await store.save(this.#state, progress))) {
        this.isEnded = true;
        return;
      }
      for (const [id, next] of progress.redeliveries) if (next === undefined) this.#finishedRedeliveries.add(id);
      this.#progress.markSaved(progress);
      if (mustDisable) {
        if (await store.disable(this.#state)) disabled(this.#state);
        this.isEnded = true;
      }
    } catch (error) {
      this.#progress.giveBack(progress);
      this.#isBroken = true;
      failed(error);
    }
  }
}
