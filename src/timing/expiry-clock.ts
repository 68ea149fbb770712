import type { Clock } from "./clock.ts";
import { HOUR_MS } from "./units.ts";

/** How far the wall clock may be from the monotonic one, in milliseconds. */
const TOLERANCE = HOUR_MS;

/**
 * The time by which data is deleted because of its age, and by which stored responses expire: the wall clock while it
 * agrees with the monotonic clock since the start of this process. If it is set far ahead, the time continues by the
 * monotonic clock, because what is deleted by mistake is lost. Due times that a response has named, such as the end of a
 * reservation, follow the wall clock.
 */
export class ExpiryClock {
  readonly #clock: Clock;
  readonly #difference: number;
  readonly #onJump: (ahead: number) => void;
  #agrees = true;

  /** `onJump` is called when the wall clock begins to disagree, with how far it is ahead, in milliseconds. */
  constructor(clock: Clock, onJump: (ahead: number) => void) {
    this.#clock = clock;
    this.#difference = clock.now() - clock.monotonic();
    this.#onJump = onJump;
  }

  /** How far the wall clock is ahead of the monotonic one, in milliseconds. */
  get ahead(): number {
    return this.#clock.now() - this.#clock.monotonic() - this.#difference;
  }

  /** Unix milliseconds. */
  now(): number {
    const { ahead } = this;
    const agrees = Math.abs(ahead) <= TOLERANCE;
    if (this.#agrees && !agrees) this.#onJump(ahead);
    this.#agrees = agrees;
    return this.#clock.now() - (ahead > TOLERANCE ? ahead : 0);
  }
}
