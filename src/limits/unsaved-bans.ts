import type { KeyBan, LimitStore } from "./limits.store.ts";

/**
 * The bans that are not on disk yet. A new one is announced only after an attempt to write it: a killed process would
 * forget it.
 */
export class UnsavedBans {
  readonly #store: Pick<LimitStore, "saveBans">;
  readonly #unsaved = new Map<string, KeyBan>();
  /** Bans that are being written for the first time, by key. */
  readonly #writing = new Map<string, Promise<void>>();

  constructor(store: Pick<LimitStore, "saveBans">) {
    this.#store = store;
  }

  /** Adds a ban, which the next `save` writes. */
  add(ban: KeyBan): void {
    this.#unsaved.set(ban.keyId, ban);
  }

  /** Adds a ban and writes it. Never rejects: if the write fails, the next `save` writes it. */
  write(ban: KeyBan): Promise<void> {
    this.add(ban);
    const writing = this.#write([ban])
      .catch(() => {})
      .finally(() => {
        if (this.#writing.get(ban.keyId) === writing) this.#writing.delete(ban.keyId);
      });
    this.#writing.set(ban.keyId, writing);
    return writing;
  }

  /** Resolves when the new ban of a key has been written; undefined if none is being written. */
  writing(keyId: string): Promise<void> | undefined {
    return this.#writing.get(keyId);
  }

  has(keyId: string): boolean {
    return this.#unsaved.has(keyId);
  }

  delete(keyId: string): void {
    this.#unsaved.delete(keyId);
  }

  deleteAccount(accountId: string): void {
    for (const [keyId, { shop }] of this.#unsaved) if (shop.accountId === accountId) this.#unsaved.delete(keyId);
  }

  /** Writes all bans. Rejects with `StorageUnavailable`; the next call then writes them. */
  save(): Promise<void> {
    return this.#write([...this.#unsaved.values()]);
  }

  /** Resolves when the new bans that are being written now have been written. */
  async settled(): Promise<void> {
    await Promise.all(this.#writing.values());
  }

  async #write(bans: readonly KeyBan[]): Promise<void> {
    if (bans.length === 0) return;
    await this.#store.saveBans(bans);
    for (const ban of bans) if (this.#unsaved.get(ban.keyId) === ban) this.#unsaved.delete(ban.keyId);
  }
}
