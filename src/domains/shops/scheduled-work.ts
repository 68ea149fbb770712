import type { Transaction } from "../../storage/transaction.ts";
import type { LockedShop } from "./figures.ts";

/** The work that waits in a shop. */
export interface WaitingWork {
  readonly count: number;
  /** When the first is due by the shop's clock, in Unix milliseconds; undefined if there is none. */
  readonly next: number | undefined;
}

/** Work of one kind that waits for the clock of a shop. */
interface ScheduledWork<Kind extends string = string> {
  readonly kind: Kind;
  /** The work that waits in a shop, counted up to `most`. */
  waiting(shop: number, most: number): Transaction<WaitingWork>;
}

/** Scheduled work that a background task does soon after it is due. The sandbox only counts it. */
export type BackgroundWork<Kind extends string = string> = ScheduledWork<Kind>;

/** Scheduled work that is done within the request that advances the clock of a shop. */
export interface ForegroundWork<Kind extends string = string> extends ScheduledWork<Kind> {
  /** Part of a transaction: called when the shop's clock is set this many milliseconds ahead of real time. */
  clockAdvanced(shop: LockedShop, ahead: number): Transaction<void>;
  /** Does up to `most` items that are due in a shop. It can be called again. */
  runDue(shop: number, most: number): Promise<void>;
}
