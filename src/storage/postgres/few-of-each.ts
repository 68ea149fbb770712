import type { Payer } from "../../timing/turns.ts";

/** Runs few works of each payer at once, in order. What nobody pays for does not wait. */
export class FewOfEach {
  readonly #most: number;
  /** Those of each payer that run, and what lets the next one begin. */
  readonly #running = new Map<number, number>();
  readonly #waiting = new Map<number, (() => void)[]>();

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(payer: Payer, work: () => Promise<T>): Promise<T> {
    if (payer === undefined) return work();
    await this.#begin(payer);
    try {
      return await work();
    } finally {
      this.#end(payer);
    }
  }

  #begin(payer: number): Promise<void> | undefined {
    const running = this.#running.get(payer) ?? 0;
    if (running < this.#most) {
      this.#running.set(payer, running + 1);
      return undefined;
    }
    return new Promise((resolve) => {
      const others = this.#waiting.get(payer);
      if (others) others.push(resolve);
      else this.#waiting.set(payer, [resolve]);
    });
  }

  /** Passes the place of a work to the next one. */
  #end(payer: number): void {
    const waiting = this.#waiting.get(payer);
    const next = waiting?.shift();
    if (waiting?.length === 0) this.#waiting.delete(payer);
    if (next) return next();
    const left = (this.#running.get(payer) ?? 0) - 1;
    if (left > 0) this.#running.set(payer, left);
    else this.#running.delete(payer);
  }
}
