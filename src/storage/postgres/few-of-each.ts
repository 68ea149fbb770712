import type { Payer } from "../../timing/turns.ts";

interface Waiting {
  readonly size: number;
  readonly begin: () => void;
}

/** Runs few works of each payer at once, in order. What nobody pays for does not wait. */
export class FewOfEach {
  readonly #most: number;
  /** The sizes of those of each payer that run together, and those that wait. */
  readonly #running = new Map<number, number>();
  readonly #waiting = new Map<number, Waiting[]>();

  /** `most` is the sum of the sizes that run at once. A work that is larger runs alone. */
  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(payer: Payer, size: number, work: () => Promise<T>): Promise<T> {
    if (payer === undefined) return work();
    const waiting = this.#waiting.get(payer);
    if (waiting || !this.#takesPlace(payer, size)) {
      await new Promise<void>((begin) => {
        if (waiting) waiting.push({ size, begin });
        else this.#waiting.set(payer, [{ size, begin }]);
      });
    }
    try {
      return await work();
    } finally {
      this.#end(payer, size);
    }
  }

  #takesPlace(payer: number, size: number): boolean {
    const running = this.#running.get(payer) ?? 0;
    if (running > 0 && running + size > this.#most) return false;
    this.#running.set(payer, running + size);
    return true;
  }

  #end(payer: number, size: number): void {
    const left = (this.#running.get(payer) ?? 0) - size;
    if (left > 0) this.#running.set(payer, left);
    else this.#running.delete(payer);
    const waiting = this.#waiting.get(payer) ?? [];
    for (let [next] = waiting; next && this.#takesPlace(payer, next.size); [next] = waiting) {
      waiting.shift();
      next.begin();
    }
    if (waiting.length === 0) this.#waiting.delete(payer);
  }
}
