import { type Payer, turns } from "../../timing/turns.ts";

/** Transactions that wait for a commit, by who pays for them. */
export class WaitingByPayer<T extends { readonly payer: Payer }> {
  /** The payer whose turn is next comes first. */
  readonly #waiting = new Map<Payer, T[]>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  add(one: T): void {
    const others = this.#waiting.get(one.payer);
    if (others) others.push(one);
    else this.#waiting.set(one.payer, [one]);
  }

  /**
   * Up to `most` of them, payer by payer, each payer's in order of arrival. Payers that have used their share of the event
   * loop come after the others: see `Turns`.
   */
  next(most = Number.POSITIVE_INFINITY): T[] {
    const inTurn = [...this.#waiting].toSorted(([a], [b]) => Number(turns.isInDebt(a)) - Number(turns.isInDebt(b)));
    return inTurn.flatMap(([, waiting]) => waiting).slice(0, most);
  }

  /** Removes some, the first ones of their payers, whose turn now comes last. */
  remove(removed: readonly T[]): void {
    for (const [payer, ofPayer] of Map.groupBy(removed, (one) => one.payer)) {
      const left = this.#waiting.get(payer)?.slice(ofPayer.length) ?? [];
      this.#waiting.delete(payer);
      if (left.length > 0) this.#waiting.set(payer, left);
    }
  }
}
