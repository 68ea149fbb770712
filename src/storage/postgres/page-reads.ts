import { RecentMap } from "../../collections/recent-map.ts";
import type { Payer } from "../../timing/turns.ts";
import { FewOfEach } from "./few-of-each.ts";

/** How long it may take to use the rows that a shop reads at once, in microseconds. */
const MOST_TIME = 1_000;
/** How long it takes to use a row of a shop of which nothing is known, in microseconds: a large one. */
const UNKNOWN_ROW_TIME = 2.2;
/** What a page takes besides its rows counts as that of some rows. */
const ROWS_OF_PAGE = 10;
/** How many shops are known. */
const SHOPS = 1_000;
/** How much the last page counts in what is known of a shop. */
const LAST_COUNTS = 1 / 8;

/**
 * Limits how many pages of a shop are read at once, by how long its last rows took to use. One answer of the server holds
 * all of these pages, and delays everything after it.
 */
export class PageReads {
  readonly #reads = new FewOfEach(MOST_TIME);
  readonly #rowTimes = new RecentMap<Payer, number>(SHOPS);

  /** `limit` is the most rows that the query returns. */
  run<T>(payer: Payer, limit: number, query: () => Promise<T>): Promise<T> {
    return this.#reads.run(payer, Math.ceil((limit + ROWS_OF_PAGE) * this.#rowTime(payer)), query);
  }

  /** Takes note of how long it took to use the rows of a page. */
  used(payer: Payer, rows: number, milliseconds: number): void {
    const known = this.#rowTime(payer);
    const last = (1_000 * milliseconds) / (rows + ROWS_OF_PAGE);
    this.#rowTimes.set(payer, known + LAST_COUNTS * (last - known));
  }

  #rowTime(payer: Payer): number {
    return this.#rowTimes.get(payer) ?? UNKNOWN_ROW_TIME;
  }
}
