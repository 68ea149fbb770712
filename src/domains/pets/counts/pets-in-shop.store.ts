import type { ShopNumber } from "../../../contract/caller.ts";
import { type Failure, failure } from "../../../contract/errors.ts";
import { count } from "../../../contract/messages.ts";
import { type Appended, change, lockStatement, query } from "../../../storage/statement.ts";
import { first, type Query } from "../../../storage/transaction.ts";
import { localDay, ofDay } from "../../shops/figures.ts";
import { isCurrent, setTime } from "../../shops/shops.statements.ts";
import { ShopDeleted } from "../../shops/shops.store.ts";
import { shopFull } from "../pets.operations.ts";
import { allAnimals, animalTotals, petsAdded } from "./pet-figures.ts";

/** Counts new animals with their events: see `Append`. The amounts are those of `animalTotals`. */
export const countAnimals = lockStatement<
  [shop: ShopNumber, now: number, animals: number, ...amounts: number[]],
  Appended
>(
  `UPDATE shops SET ${setTime}, last_pet_id = last_pet_id + $3, last_event_id = last_event_id + $3,
     ${animalTotals.map((name, index) => `${name} = ${name} + $${index + 4}`).join(", ")},
     ${ofDay(petsAdded, localDay("$2"), "$3")}
   WHERE ${isCurrent} AND (animals_allowed IS NULL OR ${allAnimals} + $3 <= animals_allowed)
   RETURNING last_pet_id - $3 + 1 AS id, last_at AS at, last_event_id - $3 + 1 AS log_id`,
);
const room = query<[shop: ShopNumber], { allowed: bigint | null; animals: bigint }>(
  `SELECT animals_allowed AS allowed, ${allAnimals} AS animals FROM shops WHERE ${isCurrent}`,
);
/** A new shop may hold as many animals as an older one. */
export const keepAllowed = change<[shop: ShopNumber, older: ShopNumber]>(
  "UPDATE shops SET animals_allowed = (SELECT animals_allowed FROM shops WHERE shop = $2) WHERE shop = $1",
);

/** The shop would hold more animals than it may. */
export interface ShopFull {
  readonly refused: "shop full";
  /** How many it may hold. */
  readonly allowed: bigint;
}

/** The failure of a request whose animal the shop did not take. Throws `ShopDeleted`. */
export function* whyRefused(shop: ShopNumber): Query<Failure<typeof shopFull>> {
  const full = yield* fullness(shop, Number.MAX_SAFE_INTEGER);
  const message = "The shop was full. It may hold any number of animals now: add it again, with a new Idempotency-Key.";
  return full ? fullFailure(full) : failure(shopFull, message);
}

/** Why a shop cannot take this many more animals; undefined if it can. Throws `ShopDeleted`. */
export function* fullness(shop: ShopNumber, more: number): Query<ShopFull | undefined> {
  const row = yield* first(room, shop);
  if (!row) throw new ShopDeleted();
  const { allowed, animals } = row;
  return allowed !== null && animals + BigInt(more) > allowed ? { refused: "shop full", allowed } : undefined;
}

/** The failure of a request whose animals do not fit. */
export function fullFailure({ allowed }: ShopFull) {
  const message = `The shop may hold ${count(Number(allowed), "animal")}. Delete some, or ask for another plan.`;
  return failure(shopFull, message);
}
