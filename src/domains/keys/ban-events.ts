import type { Clock } from "../../timing/clock.ts";
import type { Host } from "../domain.ts";
import type { KeyStore } from "./keys.store.ts";

/** Adds an event for each ban to the log of its shop. If the store fails, it tries again twice a second. */
export class BanEvents {
  readonly #keys: KeyStore;
  readonly #clock: Clock;
  readonly #runSoon: () => void;
  /** The ends of bans without an event yet, in Unix seconds, by key. */
  readonly #waiting = new Map<string, number>();

  constructor({ clock, repeat, runSoon }: Pick<Host, "clock" | "repeat" | "runSoon">, keys: KeyStore) {
    this.#keys = keys;
    this.#clock = clock;
    this.#runSoon = runSoon;
    repeat({ name: "note_ban", by: "each", run: () => this.#addWaiting() });
  }

  /** Adds, soon, the event of a ban that ends at this time in Unix seconds. */
  add(keyId: string, endsAt: number): void {
    this.#waiting.set(keyId, endsAt);
    this.#runSoon();
  }

  /** The ban of a key was lifted. An event added later would hide the next ban, which can end earlier. */
  lifted(keyId: string): void {
    this.#waiting.delete(keyId);
  }

  /** Continues after a failure, because one shop that keeps failing must not delay the others. */
  async #addWaiting(): Promise<void> {
    const errors: unknown[] = [];
    for (const [keyId, endsAt] of this.#waiting) {
      await this.#add(keyId, endsAt).catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw errors[0];
  }

  async #add(keyId: string, endsAt: number): Promise<void> {
    await this.#keys.noteBan(keyId, endsAt * 1000, this.#clock.now());
    if (this.#waiting.get(keyId) === endsAt) this.#waiting.delete(keyId);
  }
}
