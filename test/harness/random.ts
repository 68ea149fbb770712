/** Random choices that a seed makes the same again. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 to below `limit` (at most 2^32). */
  below(limit: number): number {
    // mulberry32: 32 bits of state, enough to choose moments and bodies.
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return Math.floor((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  /** Any number of 64 bits with a sign, as digits. */
  int64(): string {
    const bits = (BigInt(this.below(2 ** 32)) << 32n) | BigInt(this.below(2 ** 32));
    return BigInt.asIntN(64, bits).toString();
  }
}
