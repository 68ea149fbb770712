import type { ShopNumber } from "../../contract/caller.ts";
import type { ChangeStatement } from "../../storage/statement.ts";
import { all, type Change } from "../../storage/transaction.ts";
import { raisesVersion } from "../../storage/versions.ts";
import { type Figure, ofDay } from "./figures.ts";

declare const isLocked: unique symbol;

/** A shop that a transaction has locked: see `lockShop`. */
export interface LockedShop {
  readonly [isLocked]: true;
  readonly shop: ShopNumber;
  /** The time of the change in the log, in Unix milliseconds: not before that of the last one. */
  readonly at: number;
  /** The time of the change by the clock of this process, in Unix milliseconds. */
  readonly now: number;
  /** The day of the shop's time zone at `now`, in days since 1970. */
  readonly day: bigint;
  /** The newest event of the shop, the transaction's own included. */
  lastEventId: bigint;
  /** By how much the transaction changes figures, as far as it has not written it yet. */
  readonly changes: Map<Figure, number>;
}

/** For what has locked a shop. */
export function lockedShop(fields: Omit<LockedShop, typeof isLocked>): LockedShop {
  return fields as LockedShop;
}

/** Records a change of a figure. The transaction writes it with its events. */
export function addToFigure({ changes }: LockedShop, changed: Figure, by = 1): void {
  changes.set(changed, (changes.get(changed) ?? 0) + by);
}

type Update = ChangeStatement<[shop: ShopNumber, lastEventId: bigint, ...figures: (number | bigint)[]]>;
/** By the names of the figures that they change. */
const updates = new Map<string, Update>();

const nameOf = (one: Figure) => (typeof one === "string" ? one : one.name);

function updateOf(changed: readonly Figure[]): Update {
  return updates.getOrInsertComputed(changed.map(nameOf).join(), () => {
    const day = `$${changed.length + 3}`;
    const sets = changed.map((one, index) => {
      const by = `$${index + 3}`;
      return typeof one === "string" ? `${one} = ${one} + ${by}` : ofDay(one, day, by);
    });
    return raisesVersion(`UPDATE shops SET ${["last_event_id = $2", ...sets].join(", ")} WHERE shop = $1`);
  });
}

/** Part of a transaction: updates the shop's row with the newest event and the recorded changes of figures. */
export function updateShop({ shop, day, changes, lastEventId }: LockedShop): Change<unknown> {
  const changed = [...changes.keys()].toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  const values: (number | bigint)[] = changed.map((one) => changes.get(one) ?? 0);
  if (changed.some((one) => typeof one !== "string")) values.push(day);
  changes.clear();
  return all(updateOf(changed), shop, lastEventId, ...values);
}
