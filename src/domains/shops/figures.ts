import { raisesVersion } from "../../storage/statement.ts";
import { all, type Change } from "../../storage/transaction.ts";
import { DAY_MS } from "../../timing/clock.ts";

/** How many animals a shop has, by status: columns of its row. */
export const animalTotals = ["animals_available", "animals_pending", "animals_sold", "animals_without_status"] as const;
/** Counts of what a shop has now. */
export const totals = [...animalTotals, "open_orders"] as const;
/** SQL of the number of animals in the row of a shop. */
export const allAnimals = animalTotals.join(" + ");
/** Counts of one day: `…_count` is for the day `…_day`, in days since 1970. */
export const daily = ["added", "sold", "marked_sold", "expired", "returned"] as const;

export type Figure = (typeof totals)[number] | (typeof daily)[number];

/** By how much a transaction changes the figures of its shop. */
type Changes = Partial<Record<Figure, number>>;

/** A shop that a transaction has locked. */
export interface LockedShop {
  readonly shop: number;
  /** The time of the change in the log, in Unix milliseconds: not before that of the last one. */
  readonly at: number;
  /** The time of the change by the clock of this process, in Unix milliseconds. */
  readonly now: number;
  /** The day of the shop's time zone at `now`, in days since 1970. */
  readonly day: bigint;
  /** The newest event of the shop, the transaction's own included. */
  lastEventId: bigint;
  /** Changes of the figures that the transaction has not written yet. */
  changes: Changes;
}

const setLastEvent = raisesVersion<[shop: number, lastEventId: bigint]>(
  "UPDATE shops SET last_event_id = $2 WHERE shop = $1",
);
const setFigures = raisesVersion<[shop: number, lastEventId: bigint, ...figures: (number | bigint)[]]>(
  `UPDATE shops SET last_event_id = $2, ${totals.map((name, index) => `${name} = ${name} + $${index + 3}`).join(", ")},
     ${daily.map((name, index) => ofDay(name, `$${totals.length + 3}`, `$${totals.length + 4 + index}`)).join(", ")}
   WHERE shop = $1`,
);

/** SQL of the day of the shop's time zone at a time, in days since 1970. */
export function localDay(now: string): string {
  return `((${now} + CASE WHEN ${now} >= offset_until THEN next_offset ELSE utc_offset END) / ${DAY_MS})`;
}

/**
 * SQL of an update of a shop's row: adds `more` to a figure of the day. If the figure is already of the next day, another
 * process's clock is a little ahead, and the day that has ended is no longer counted.
 */
export function ofDay(name: (typeof daily)[number], day: string, more: string): string {
  const isOver = `${name}_day = ${day} + 1`;
  return `${name}_count = CASE WHEN ${isOver} THEN ${name}_count WHEN ${name}_day = ${day} THEN ${name}_count + ${more} ELSE ${more} END,
     ${name}_day = CASE WHEN ${isOver} THEN ${name}_day ELSE ${day} END`;
}

/** The status of an animal. Without one, it is null in the store and undefined elsewhere. */
type AnimalStatus = "available" | "pending" | "sold" | null | undefined;

/** The column that counts animals with a status. */
export function statusFigure(status: AnimalStatus): (typeof totals)[number] {
  return status ? `animals_${status}` : "animals_without_status";
}

/** Records a change of a figure. The transaction writes it with its events. */
export function addToFigure({ changes }: LockedShop, figure: Figure, by = 1): void {
  changes[figure] = (changes[figure] ?? 0) + by;
}

/** Records that an animal has changed its status. */
export function countStatus(locked: LockedShop, from: AnimalStatus, to: AnimalStatus): void {
  addToFigure(locked, statusFigure(from), -1);
  addToFigure(locked, statusFigure(to));
}

/** Part of a transaction: updates the shop's row with the newest event and the recorded changes of figures. */
export function updateShop(locked: LockedShop): Change<unknown> {
  const { shop, day, changes, lastEventId } = locked;
  if (Object.keys(changes).length === 0) return all(setLastEvent, shop, lastEventId);
  const by = (names: readonly Figure[]) => names.map((name) => changes[name] ?? 0);
  locked.changes = {};
  return all(setFigures, shop, lastEventId, ...by(totals), day, ...by(daily));
}
