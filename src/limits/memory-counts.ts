import { RecentMap } from "../collections/recent-map.ts";
import { type Mode, modes } from "../contract/caller.ts";
import type { Clock } from "../timing/clock.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import type { Counts, ReadDecision } from "./limiter.ts";
import { type LimitStore, SAVE_BATCH } from "./limits.store.ts";
import { type AdmittedAlone, type Decision, type Kind, kinds, type Name, type Sender, Windows } from "./windows.ts";

/** The most records of each kind in memory. Each takes about 0.3 KB. */
const MAX_RECORDS = 100_000;

/** A record, and what was admitted in it without Valkey. */
export interface TakenAlone {
  readonly windows: Windows;
  readonly alone: readonly AdmittedAlone[];
}

/** The counts of one process. If there is a store, the windows of shops survive the process, but for its last second. */
export class MemoryCounts implements Counts {
  readonly #clock: Clock;
  readonly #store: LimitStore | undefined;
  readonly #records = byKind(() => new RecentMap<string, Windows>(MAX_RECORDS));
  readonly #loading = byKind(() => new Map<string, Promise<Windows>>());
  /** Records of shops that differ from the saved ones. */
  readonly #unsaved = byKind(() => new Map<string, Windows>());
  /** Records with requests that were admitted without Valkey. */
  readonly #alone = new Set<Windows>();
  #lastSave: Promise<void> = Promise.resolve();

  constructor(clock: Clock, store?: LimitStore) {
    this.#clock = clock;
    this.#store = store;
  }

  admit<T>(sender: Sender, requests: 0 | 1, read: ReadDecision<T>): MaybePromise<T> {
    const known = this.#records[sender.kind].get(sender.owner);
    if (known) return this.#answer(known, sender, requests, read);
    return whenReady(this.#load(sender, requests > 0), (loaded) => this.#answer(loaded, sender, requests, read));
  }

  /** Decides in place of Valkey. Each request counts `weight` times, because as many processes decide like this. */
  admitAlone<T>(sender: Sender, requests: 0 | 1, read: ReadDecision<T>, weight: number): T {
    const windows = this.#records[sender.kind].get(sender.owner) ?? this.#add(new Windows(sender));
    if (requests > 0) this.#alone.add(windows);
    return read(windows.admit(sender, requests, this.#clock.now(), weight), 0);
  }

  /** Continues from a decision of Valkey. */
  note(name: Name, decision: Decision): void {
    const windows = this.#records[name.kind].get(name.owner) ?? this.#add(new Windows(name));
    windows.continueFrom(decision, this.#clock.now());
  }

  /** Returns what was admitted without Valkey, and forgets it. */
  takeAlone(): TakenAlone[] {
    const taken = [...this.#alone].flatMap((windows) => {
      const alone = windows.takeAlone(this.#clock.now());
      return alone.length > 0 ? [{ windows, alone }] : [];
    });
    this.#alone.clear();
    return taken;
  }

  /** Takes back what could not be added to the counts in Valkey. */
  putBackAlone(taken: readonly TakenAlone[]): void {
    for (const { windows, alone } of taken) {
      windows.putBackAlone(alone);
      this.#alone.add(windows);
    }
  }

  async forget(accountId: string): Promise<void> {
    await Promise.allSettled([this.#lastSave]); // what it writes is deleted afterwards
    for (const kind of kinds) for (const map of [this.#records, this.#unsaved]) map[kind].delete(accountId);
  }

  /** Writes what was counted since the last call. */
  save(): Promise<void> {
    this.#lastSave = this.#save();
    return this.#lastSave;
  }

  async #save(): Promise<void> {
    for (const mode of modes) {
      // The order of the stored rows. A transaction that changes neighbouring rows writes fewer pages.
      const due = [...this.#unsaved[mode].values()].toSorted((one, other) => (one.owner < other.owner ? -1 : 1));
      for (let start = 0; start < due.length; start += SAVE_BATCH) {
        await this.#saveBatch(mode, due.slice(start, start + SAVE_BATCH));
      }
    }
  }

  async #saveBatch(mode: Mode, batch: readonly Windows[]): Promise<void> {
    for (const windows of batch) windows.isChanged = false;
    try {
      await this.#store?.save(mode, batch);
    } catch (error) {
      for (const windows of batch) windows.isChanged = true;
      throw error;
    }
    for (const { isChanged, owner } of batch) if (!isChanged) this.#unsaved[mode].delete(owner);
  }

  #answer<T>(windows: Windows, sender: Sender, requests: 0 | 1, read: ReadDecision<T>): T {
    const decision = windows.admit(sender, requests, this.#clock.now());
    if (requests > 0 && !windows.isChanged && this.#store && isMode(windows.kind)) {
      windows.isChanged = true;
      this.#unsaved[windows.kind].set(windows.owner, windows);
    }
    return read(decision, 0);
  }

  /**
   * Gets a record that is not among the recent ones. Concurrent requests share a read of the store. A new one is kept
   * only if it is to be changed.
   */
  #load({ kind, owner }: Name, isChanging: boolean): MaybePromise<Windows> {
    if (!this.#store || !isMode(kind)) {
      const made = new Windows({ kind, owner });
      return isChanging ? this.#add(made) : made;
    }
    const [unsaved, loading] = [this.#unsaved[kind].get(owner), this.#loading[kind].get(owner)];
    if (unsaved) return this.#add(unsaved);
    if (loading) return loading;
    const loaded = whenReady(this.#store.windows({ accountId: owner, mode: kind }), (saved) => {
      this.#loading[kind].delete(owner);
      return this.#add(new Windows({ kind, owner }, saved));
    });
    if (loaded instanceof Promise) {
      this.#loading[kind].set(owner, loaded);
      loaded.catch(() => this.#loading[kind].delete(owner)); // the next request tries again
    }
    return loaded;
  }

  #add(windows: Windows): Windows {
    this.#records[windows.kind].set(windows.owner, windows);
    return windows;
  }
}

function byKind<T>(make: () => T): Record<Kind, T> {
  return Object.fromEntries(kinds.map((kind) => [kind, make()])) as Record<Kind, T>;
}

function isMode(kind: Kind): kind is Mode {
  return kind === "live" || kind === "test";
}
