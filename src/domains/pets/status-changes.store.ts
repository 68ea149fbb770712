import type { Clock } from "../../clock.ts";
import { timestampOf } from "../../contract/schemas.ts";
import { type MaybePromise, whenReady } from "../../maybe-promise.ts";
import { type Page, pageOf } from "../../storage/page.ts";
import { all, first, type Row, type Storage, statement, type Transaction } from "../../storage/storage.ts";
import type { PetStatus, StatusCause, StatusChange } from "./pets.operations.ts";

interface OriginRow extends Row {
  status: PetStatus | null;
  added_at: bigint | null;
  added_by: StatusCause | null;
}
interface ChangeRow extends Row {
  number: bigint;
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

const origin = statement<OriginRow>("SELECT status, added_at, added_by FROM pets WHERE id = $1");
// Numbered for each animal, so that its changes lie side by side and a page of them is read in one piece.
const rowsAfter = statement<ChangeRow>(`
  SELECT number, at, from_status, to_status, cause FROM pet_status_changes
  WHERE pet_id = $1 AND number > $2 ORDER BY number LIMIT $3
`);
const insert = statement<NumberRow>(`
  INSERT INTO pet_status_changes (pet_id, number, at, from_status, to_status, cause)
  VALUES ($1, (SELECT coalesce(max(number), 0) + 1 FROM pet_status_changes WHERE pet_id = $1), $2, $3, $4, $5)
  RETURNING number
`);
const removeBetween = statement("DELETE FROM pet_status_changes WHERE pet_id = $1 AND number > 1 AND number <= $2");
const removeAll = statement("DELETE FROM pet_status_changes WHERE pet_id = $1");

/**
 * How the status of each animal changed. That it was added is the change with number 0, which is not
 * kept here but follows from the animal and its first change: adding one must not cost another row.
 */
export class StatusChanges {
  readonly #storage: Storage;
  readonly #clock: Clock;

  constructor(storage: Storage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** Up to `limit` changes behind number `after`, the oldest first. Undefined if there is no such animal. */
  page(petId: bigint, after: bigint | undefined, limit: number): MaybePromise<Page<StatusChange> | undefined> {
    return whenReady(this.#storage.first(origin, petId), (pet) => {
      if (!pet) return undefined;
      return whenReady(this.#storage.all(rowsAfter, petId, after ?? 0, limit + 1), (rows) => {
        const changes = rows.map((row) => ({ number: row.number, change: toChange(row) }));
        if (after === undefined) changes.unshift({ number: 0n, change: firstOf(pet, rows[0]) });
        return pageOf(
          changes,
          limit,
          ({ change }) => change,
          ({ number }) => number,
        );
      });
    });
  }

  /** Part of a transaction: notes a change that happens now, and forgets some of what is too old. */
  *note(petId: bigint, from: PetStatus | undefined, to: PetStatus, cause: StatusCause): Transaction<void> {
    const noted = yield* first(insert, petId, this.#clock.now(), from ?? null, to, cause);
    const { number } = noted as NumberRow;
    if (number > NEWEST && number % AT_ONCE === 0n) yield* all(removeBetween, petId, number - NEWEST);
  }

  /** Part of a transaction: forgets the changes of an animal. */
  *forget(petId: bigint): Transaction<void> {
    yield* all(removeAll, petId);
  }
}

function firstOf({ status, added_at, added_by }: OriginRow, next: ChangeRow | undefined): StatusChange {
  const to = next ? next.from_status : status;
  return {
    ...(added_at === null ? {} : { at: timestampOf(added_at) }),
    cause: added_by ?? "added",
    ...(to === null ? {} : { to }),
  };
}

function toChange({ at, from_status, to_status, cause }: ChangeRow): StatusChange {
  return { at: timestampOf(at), cause, ...(from_status === null ? {} : { from: from_status }), to: to_status };
}
