import { RecentMap } from "../../collections/recent-map.ts";
import type { Payer } from "../../timing/turns.ts";
import { FewOfEach } from "./few-of-each.ts";

/** How long it may take to use the rows that a shop reads at once, in microseconds. */
const MOST_TIME = 1_000;
/** How long it takes to use a row of a shop of which nothing is known, in microseconds: a large one. */
const UNKNOWN = 2.4;
/** How many shops are known. */
const SHOPS = 1_000;
/** How much of what is known each page replaces. */
const NEWS = 1 / 8;

/**
 * Limits how many pages of a shop are read at once, by how long its last rows took to use. One answer of the server holds
 * all of these pages, and delays everything after it.
 */
export class PageReads {
  readonly #reads = new FewOfEach(MOST_TIME);
  readonly #rowTimes = new RecentMap<Payer, number>(SHOPS);

  /** `limit` is the most rows that the query returns. */
  run<T>(payer: Payer, limit: number, query: () => Promise<T>): Promise<T> {
    return this.#reads.run(payer, Math.ceil(limit * this.#rowTime(payer)), query);
  }

  /** Takes note of how long it took to use some rows of a page, in milliseconds. */
  used(payer: Payer, rows: number, time: number): void {
    if (rows === 0) return;
    const known = this.#rowTime(payer);
    this.#rowTimes.set(payer, known + NEWS * ((1_000 * time) / rows - known));
  }

  #rowTime(payer: Payer): number {
    return this.#rowTimes.get(payer) ?? UNKNOWN;
  }
}
