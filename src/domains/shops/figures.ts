import { raisesVersion } from "../../storage/statement.ts";
import { all, type Transaction } from "../../storage/transaction.ts";
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
  /** The time of the change, in Unix milliseconds. */
  readonly at: number;
  /** The newest event of the shop, the transaction's own included. */
  lastEventId: bigint;
  /** Changes of the figures that the transaction has not written yet. */
  changes: Changes;
}

const setLastEvent = raisesVersion<[shop: number, lastEventId: bigint]>(
  "UPDATE shops SET last_event_id = $2 WHERE shop = $1",
);
const setFigures = raisesVersion<[shop: number, lastEventId: bigint, ...figures: number[]]>(
  `UPDATE shops SET last_event_id = $2, ${totals.map((name, index) => `${name} = ${name} + $${index + 3}`).join(", ")},
     ${daily.map((name, index) => ofDay(name, `$${totals.length + 3}`, `$${totals.length + 4 + index}`)).join(", ")}
   WHERE shop = $1`,
);

/** SQL of an update of a shop's row: adds `more` to a figure of the day. */
export function ofDay(name: (typeof daily)[number], day: string, more: string): string {
  return `${name}_count = CASE WHEN ${name}_day = ${day} THEN ${name}_count + ${more} ELSE ${more} END, ${name}_day = ${day}`;
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
export function updateShop(locked: LockedShop): Transaction<unknown> {
  const { shop, at, changes, lastEventId } = locked;
  if (Object.keys(changes).length === 0) return all(setLastEvent, shop, lastEventId);
  const by = (names: readonly Figure[]) => names.map((name) => changes[name] ?? 0);
  locked.changes = {};
  return all(setFigures, shop, lastEventId, ...by(totals), Math.floor(at / DAY_MS), ...by(daily));
}
