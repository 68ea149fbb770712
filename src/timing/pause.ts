/** A pause between two runs of periodic work. */
export class Pause {
  readonly #length: number;
  #endsAt = Number.NEGATIVE_INFINITY;

  /** `length` is in milliseconds. */
  constructor(length: number) {
    this.#length = length;
  }

  /** Starts the pause. `now` is in Unix milliseconds. */
  start(now: number): void {
    this.#endsAt = now + this.#length;
  }

  /** True if no pause runs. It is also over if the clock was set back by its length or more. */
  isOver(now: number): boolean {
    return now >= this.#endsAt || now <= this.#endsAt - 2 * this.#length;
  }
}
