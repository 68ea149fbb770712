import type { Clock } from "../../timing/clock.ts";
import type { Host } from "../domain.ts";
import type { KeyStore } from "./keys.store.ts";

/** The end of a ban, and that of an earlier ban of the key that is known to be over, or 0. In Unix seconds. */
interface WaitingBan {
  readonly endsAt: number;
  readonly earlierEnd: number;
}

/** Adds an event for each ban to the log of its shop. If the store fails, it tries again twice a second. */
export class BanEvents {
  readonly #keys: KeyStore;
  readonly #clock: Clock;
  readonly #runSoon: () => void;
  /** Bans without an event yet, by key. */
  readonly #waiting = new Map<string, WaitingBan>();

  constructor({ clock, repeat, runSoon }: Pick<Host, "clock" | "repeat" | "runSoon">, keys: KeyStore) {
    this.#keys = keys;
    this.#clock = clock;
    this.#runSoon = runSoon;
    repeat({ name: "note_ban", by: "each", run: () => this.#addWaiting() });
  }

  /** Adds the event of a ban soon. Ends are in Unix seconds; `earlierEnd` is that of a ban known to be over, or 0. */
  add(keyId: string, endsAt: number, earlierEnd: number): void {
    this.#waiting.set(keyId, { endsAt, earlierEnd });
    this.#runSoon();
  }

  /**
   * The ban of a key was lifted: adds no event for it any more. An event added now would note the end of this ban. A
   * later ban that ends before that time would then get no event.
   */
  lifted(keyId: string): void {
    this.#waiting.delete(keyId);
  }

  /** Continues after a failure, because one shop that keeps failing must not delay the others. */
  async #addWaiting(): Promise<void> {
    const errors: unknown[] = [];
    for (const [keyId, ban] of this.#waiting) {
      await this.#add(keyId, ban).catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw errors[0];
  }

  async #add(keyId: string, ban: WaitingBan): Promise<void> {
    await this.#keys.noteBan(keyId, ban.endsAt * 1000, this.#clock.now(), ban.earlierEnd * 1000);
    if (this.#waiting.get(keyId) === ban) this.#waiting.delete(keyId);
  }
}
