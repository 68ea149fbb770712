import { RecentMap } from "../../collections/recent-map.ts";
import type { Ban } from "../../contract/bans.ts";
import type { Caller } from "../../contract/caller.ts";
import { type Failure, failure, invalidApiKey } from "../../contract/errors.ts";
import type { Authenticator } from "../../http/interfaces.ts";
import { StorageUnavailable } from "../../storage/errors.ts";
import type { ReadableStorage } from "../../storage/storage.ts";
import type { Query } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import { isChecked, type KeyEnvironment, keyDigest, keyForm } from "./api-key.ts";
import { keyMistake } from "./key-mistakes.ts";
import type { KeyStore } from "./keys.store.ts";

/** Keys held in memory, about 0.5 KB each. Keys beyond it are read again when they are used. */
const CACHE_SIZE = 50_000;
/** Changed accounts held in memory, about 0.1 KB each. With one more, all keys are forgotten. */
const MAX_CHANGED = 10_000;
/** A key's last use is recorded at most once in this time, in milliseconds. */
const USE_RESOLUTION = 60_000;
/** Uses written in one transaction. It limits the delay of requests. */
const USE_BATCH = 500;

/**
 * Finds the caller of a request by its key. Well-formed keys are looked up by digest, first in memory;
 * invalid ones are never remembered, so that guessing cannot fill the memory. `forget` must be
 * called whenever an account or its keys may have changed, in this process or in another.
 */
export class KeyAuthenticator implements Authenticator {
  readonly #storage: ReadableStorage;
  readonly #keys: KeyStore;
  readonly #environment: KeyEnvironment;
  readonly #form: RegExp;
  readonly #clock: Clock;
  /** Keys by digest, each with `version` when it was read. */
  #cache = new RecentMap<string, { readonly caller: Caller; readonly version: number }>(CACHE_SIZE);
  /** Accounts by id, each with `version` since its last change: keys that were read earlier are not used. */
  readonly #changed = new Map<string, number>();
  /** Uses that are not stored yet: the time by the key's id. */
  readonly #used = new Map<string, number>();
  /** The number of calls of `forget`. The result of a read that began before a call is not cached. */
  #version = 0;

  constructor(storage: ReadableStorage, keys: KeyStore, environment: KeyEnvironment, clock: Clock) {
    this.#storage = storage;
    this.#keys = keys;
    this.#environment = environment;
    this.#form = keyForm(environment);
    this.#clock = clock;
  }

  authenticate(key: string) {
    const digest = keyDigest(key);
    const now = this.#clock.now();
    const cached = this.#cached(digest, now);
    if (cached) return this.#noteUse(cached, now);
    // Mistyped, or for another service: no look-up is needed.
    if (!this.#form.test(key) || !isChecked(key)) return failure(invalidApiKey, keyMistake(key, this.#environment));
    return this.#storage.read(this.#find(digest, now));
  }

  authenticateAgain(caller: Caller) {
    const { digest } = caller;
    const now = this.#clock.now();
    const cached = this.#cached(digest, now);
    return cached ? this.#noteUse(cached, now) : this.#storage.read(this.#find(digest, now));
  }

  async ban({ keyId }: Caller): Promise<Ban | undefined> {
    try {
      return await this.#keys.banKey(keyId, this.#clock.now());
    } catch (error) {
      if (error instanceof StorageUnavailable) return undefined;
      throw error;
    }
  }

  get version(): number {
    return this.#version;
  }

  /** Forgets the keys of an account, or all, so that they are read from the store again. Its time is independent of their number. */
  forget(accountId?: string): void {
    this.#version++;
    if (accountId !== undefined && this.#changed.size < MAX_CHANGED) {
      this.#changed.set(accountId, this.#version);
    } else {
      this.#changed.clear();
      this.#cache = new RecentMap(CACHE_SIZE);
    }
  }

  /** Stores when keys were used: at most `USE_BATCH` uses in one call. Later calls store the others. */
  async noteUses(): Promise<void> {
    const uses = [...this.#used.entries().take(USE_BATCH)];
    if (uses.length === 0) return;
    await this.#keys.noteUses(uses);
    for (const [keyId, usedAt] of uses) if (this.#used.get(keyId) === usedAt) this.#used.delete(keyId);
  }

  /** When a key was last used, in Unix milliseconds, if that is not stored yet. */
  lastUse(keyId: string): number | undefined {
    return this.#used.get(keyId);
  }

  #cached(digest: string, now: number): Caller | undefined {
    const known = this.#cache.get(digest);
    if (!known || known.caller.expiresAt <= now) return undefined;
    return known.version >= (this.#changed.get(known.caller.accountId) ?? 0) ? known.caller : undefined;
  }

  *#find(digest: string, now: number): Query<Caller | Failure | undefined> {
    const version = this.#version;
    const found = yield* this.#keys.findCaller(digest, now);
    if (!found || "error" in found) return found;
    if (version === this.#version) this.#cache.set(digest, { caller: found, version });
    return this.#noteUse(found, now);
  }

  #noteUse(key: Caller, now: number): Caller {
    // The absolute value: after the clock was set back, the time noted last is in the future. While too many uses are
    // not stored yet, this one is not noted, but the next one may be.
    if (Math.abs(now - key.lastUsedAt) >= USE_RESOLUTION && this.#used.size < CACHE_SIZE) {
      key.lastUsedAt = now;
      this.#used.set(key.keyId, now);
    }
    return key;
  }
}
