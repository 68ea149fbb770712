/**
 * A clock that tests can replace. `now` is the wall clock in Unix milliseconds, which can be wrong and can
 * jump. `monotonic` counts milliseconds from an arbitrary start and never goes back. Durations are measured
 * with it.
 */
export interface Clock {
  now(): number;
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** Lengths of time, in the unit that ends their name: timers and clocks take milliseconds, the API takes seconds. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const MINUTE_SECONDS = 60;
export const HOUR_SECONDS = 60 * MINUTE_SECONDS;
export const DAY_SECONDS = 24 * HOUR_SECONDS;

/** How far the wall clock may be from the monotonic one, in milliseconds. */
const TOLERANCE = HOUR_MS;

declare const isExpiryTime: unique symbol;
/** Unix milliseconds by an `ExpiryClock`. What deletes data because of its age takes no other time. */
export type ExpiryTime = number & { readonly [isExpiryTime]: true };

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

  /** How far the wall clock is ahead of the monotonic one, in whole milliseconds: stores take no fractions. */
  get ahead(): number {
    return Math.round(this.#clock.now() - this.#clock.monotonic() - this.#difference);
  }

  now(): ExpiryTime {
    const { ahead } = this;
    const agrees = Math.abs(ahead) <= TOLERANCE;
    if (this.#agrees && !agrees) this.#onJump(ahead);
    this.#agrees = agrees;
    return (this.#clock.now() - (ahead > TOLERANCE ? ahead : 0)) as ExpiryTime;
  }
}

/** `Retry-After` for this many milliseconds: whole seconds, at least 1, so that the client does not return too early. */
export function retryAfterOf(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}
