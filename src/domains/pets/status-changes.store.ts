import { timestampOf } from "../../contract/schemas.ts";
import { type Page, pageOf } from "../../storage/page.ts";
import { all, first, type Row, type Storage, statement, type Transaction } from "../../storage/storage.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import type { LockedShop } from "../shops/shops.store.ts";
import type { PetStatus, StatusCause, StatusChange } from "./pets.operations.ts";

/** The animal itself, beside one of its changes; `number` is null where it has none of those asked for. */
interface ChangeRow extends Row {
  status: PetStatus | null;
  added_at: bigint;
  added_by: StatusCause | null;
  number: bigint | null;
  at: bigint;
  from_status: PetStatus | null;
  to_status: PetStatus;
  cause: StatusCause;
}

interface NumberRow extends Row {
  number: bigint;
}

/** Changes of an animal that are kept: the first one, which tells the status that it was added with, and the newest. */
const NEWEST = 1_000n;
/** Older ones are forgotten so many at a time, so that most changes cost nothing more. */
const AT_ONCE = 100n;

// Numbered for each animal, so that its changes lie side by side and a page of them is read in one piece. With the
// animal in one statement: between two of them its status could change.
const rowsAfter = statement<ChangeRow>(`
  SELECT status, added_at, added_by, number, at, from_status, to_status, cause
  FROM pets LEFT JOIN pet_status_changes AS changes
    ON changes.shop = pets.shop AND changes.pet_id = pets.id AND number > $1
  WHERE pets.shop = $2 AND pets.id = $3 ORDER BY number LIMIT $4
`);
const insert = statement<NumberRow>(`
  INSERT INTO pet_status_changes (shop, pet_id, number, at, from_status, to_status, cause)
  VALUES (
    $1, $2, (SELECT coalesce(max(number), 0) + 1 FROM pet_status_changes WHERE shop = $1 AND pet_id = $2), $3, $4, $5, $6
  )
  RETURNING number
`);
const removeBetween = statement(
  "DELETE FROM pet_status_changes WHERE shop = $1 AND pet_id = $2 AND number > 1 AND number <= $3",
);
const removeAll = statement("DELETE FROM pet_status_changes WHERE shop = $1 AND pet_id = $2");

/**
 * How the status of each animal changed. That it was added is the change with number 0, which is not
 * kept here but follows from the animal and its first change: adding one must not cost another row.
 */
export class StatusChanges {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Up to `limit` changes behind number `after`, the oldest first. Undefined if there is no such animal. */
  page(
    shop: number,
    petId: bigint,
    after: bigint | undefined,
    limit: number,
  ): MaybePromise<Page<StatusChange> | undefined> {
    return whenReady(this.#storage.all(rowsAfter, after ?? 0, shop, petId, limit + 1), (rows) => {
      const [pet] = rows;
      if (!pet) return undefined;
      const changes = rows.flatMap((row) =>
        row.number === null ? [] : [{ number: row.number, change: toChange(row) }],
      );
      if (after === undefined) changes.unshift({ number: 0n, change: firstOf(pet) });
      return pageOf(
        changes,
        limit,
        ({ change }) => change,
        ({ number }) => number,
      );
    });
  }

  /** Part of a transaction: notes a change that happens now, and forgets some of what is too old. */
  *note(
    { shop, at }: LockedShop,
    petId: bigint,
    from: PetStatus | undefined,
    to: PetStatus,
    cause: StatusCause,
  ): Transaction<void> {
    const noted = yield* first(insert, shop, petId, at, from ?? null, to, cause);
    const { number } = noted as NumberRow;
    if (number > NEWEST && number % AT_ONCE === 0n) yield* all(removeBetween, shop, petId, number - NEWEST);
  }

  /** Part of a transaction: forgets the changes of an animal. */
  *forget(shop: number, petId: bigint): Transaction<void> {
    yield* all(removeAll, shop, petId);
  }
}

/** That the animal was added, with the status that its first change started from. */
function firstOf({ status, added_at, added_by, number, from_status }: ChangeRow): StatusChange {
  const to = number === null ? status : from_status;
  return {
    at: timestampOf(added_at),
    cause: added_by ?? "added",
    ...(to === null ? {} : { to }),
  };
}

function toChange({ at, from_status, to_status, cause }: ChangeRow): StatusChange {
  return { at: timestampOf(at), cause, ...(from_status === null ? {} : { from: from_status }), to: to_status };
}
