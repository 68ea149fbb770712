import type { Caller } from "../../contract/caller.ts";
import type { CompletedRequest, RequestRecords } from "../../http/interfaces.ts";
import type { Clock } from "../../timing/clock.ts";
import { MAX_PER_SECOND } from "./requests.operations.ts";
import { MAX_ANONYMOUS_PER_SECOND, type RequestStore } from "./requests.store.ts";
import { type StoredRequest, toStoredRequest } from "./stored-request.ts";

/** Records that may wait for the store, about 1 KB each. Further requests are not recorded. */
const MAX_WAITING = 10_000;
/** Records written in one round, twice a second. It limits how long a round delays requests. */
const AT_ONCE = 500;
/** How many of a key's records in a second may be changes, so that a failure among many changes is recorded. */
const MAX_CHANGES = MAX_PER_SECOND - 2;

/** Accepted records of one client in the current second. */
interface Taken {
  all: number;
  changes: number;
}

/**
 * Collects records in memory and writes them in batches: `save` must be called twice a second. It accepts a limited
 * number of records in a second from each key or address, and from all anonymous clients together.
 */
export class RequestRecorder implements RequestRecords {
  readonly #store: RequestStore;
  readonly #clock: Clock;
  #waiting: StoredRequest[] = [];
  #second = Number.NaN;
  readonly #taken = new Map<string, Taken>();
  #takenAnonymous = 0;
  #unrecorded = 0;

  constructor(store: RequestStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Records in memory, and requests that were not recorded. */
  get size(): { waiting: number; unrecorded: number } {
    return { waiting: this.#waiting.length, unrecorded: this.#unrecorded };
  }

  accepts(client: Pick<Caller, "keyId"> | string, hasFailed: boolean): boolean {
    const isAccepted = this.#waiting.length < MAX_WAITING && this.#accepts(client, hasFailed);
    if (!isAccepted) this.#unrecorded++;
    return isAccepted;
  }

  add(request: CompletedRequest): void {
    this.#waiting.push(toStoredRequest(request, this.#clock.now()));
  }

  /** Writes some of the waiting records. Do not call it again before it ends. */
  async save(): Promise<void> {
    const batch = this.#waiting.splice(0, AT_ONCE);
    if (batch.length === 0) return;
    try {
      await this.#store.add(batch);
    } catch (error) {
      this.#waiting.unshift(...batch);
      throw error;
    }
  }

  /** Writes all waiting records. */
  async saveAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.save();
  }

  #accepts(client: Pick<Caller, "keyId"> | string, hasFailed: boolean): boolean {
    const second = Math.floor(this.#clock.now() / 1000);
    if (second !== this.#second) this.#begin(second);
    const isAnonymous = typeof client === "string";
    if (isAnonymous && this.#takenAnonymous >= MAX_ANONYMOUS_PER_SECOND) return false;
    const name = isAnonymous ? client : client.keyId;
    const taken = this.#taken.get(name);
    if (taken && (taken.all >= MAX_PER_SECOND || (!hasFailed && taken.changes >= MAX_CHANGES))) return false;
    const { all, changes } = taken ?? { all: 0, changes: 0 };
    this.#taken.set(name, { all: all + 1, changes: hasFailed ? changes : changes + 1 });
    if (isAnonymous) this.#takenAnonymous++;
    return true;
  }

  #begin(second: number): void {
    this.#second = second;
    this.#taken.clear();
    this.#takenAnonymous = 0;
  }
}
