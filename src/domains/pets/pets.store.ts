import { type MaybePromise, whenReady } from "../../maybe-promise.ts";
import { Remembered } from "../../storage/remembered.ts";
import { all, first, type Row, type Storage, statement, type Transaction } from "../../storage/storage.ts";
import type { NewPet, Pet } from "./pets.operations.ts";

/** Part of a transaction: whether a category is one that an animal may name. */
export type CategoryCheck = (categoryId: bigint) => Transaction<boolean>;

interface PetRow extends Row {
  id: bigint;
  name: string;
  category_id: bigint;
  status: NonNullable<Pet["status"]> | null;
}
interface FigureRow extends Row {
  figure: bigint;
}

/** Below every id that an animal can have (int64). */
const BEFORE_ALL = -(2n ** 63n);
/** Pages kept in memory, and the most animals of one that is kept: about 3 KB each, 25 KB at the most. */
const PAGES = 500;
const KEPT_PAGE = 20;

const columns = "id, name, category_id, status";

const byId = statement<PetRow>(`SELECT ${columns} FROM pets WHERE id = $1`);
const rowsAfter = statement<PetRow>(`SELECT ${columns} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`);
const rowsAfterByStatus = statement<PetRow>(
  `SELECT ${columns} FROM pets WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3`,
);
const insert = statement<PetRow>(
  `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${columns}`,
);
const countByCategory = statement<FigureRow>("SELECT animals AS figure FROM category_animals WHERE category_id = $1");
const moveCategory = statement("UPDATE pets SET category_id = $1 WHERE category_id = $2");
const firstUnnamedCategory = statement<FigureRow>(`
  WITH RECURSIVE candidate (figure) AS (
    SELECT $1
    UNION ALL
    SELECT figure + 1 FROM candidate WHERE EXISTS (SELECT 1 FROM category_animals WHERE category_id = candidate.figure AND animals > 0)
  )
  SELECT max(figure) AS figure FROM candidate
`);

function toPet({ id, name, category_id, status }: PetRow): Pet {
  return status === null ? { id, name, categoryId: category_id } : { id, name, categoryId: category_id, status };
}

/** A page of animals; `next` is the id of its last one, if more follow. */
export interface PetPage {
  readonly body: Pet[];
  readonly next?: bigint;
}

/** The animals in the store. */
export class PetStore {
  readonly #storage: Storage;
  readonly #pages: Remembered<string, PetPage>;
  readonly #mayName: CategoryCheck | undefined;

  /** Without `mayName` an animal may name any category. */
  constructor(storage: Storage, mayName?: CategoryCheck) {
    this.#storage = storage;
    this.#mayName = mayName;
    this.#pages = new Remembered(storage, PAGES);
  }

  get(id: bigint): MaybePromise<{ body: Pet } | undefined> {
    return whenReady(this.#storage.first(byId, id), (row) => row && { body: toPet(row) });
  }

  /** Up to `limit` animals with an id above `after` (from the first on, if it is absent), by ascending id. */
  page(after: bigint | undefined, limit: number, status: Pet["status"]): MaybePromise<PetPage> {
    return this.#pages.get(
      `${status} ${limit} ${after}`,
      () => this.#readPage(after ?? BEFORE_ALL, limit, status),
      // Only a page that others follow: an animal that is added comes after it and changes nothing.
      ({ body, next }) => next !== undefined && body.length <= KEPT_PAGE,
    );
  }

  #readPage(after: bigint, limit: number, status: Pet["status"]): MaybePromise<PetPage> {
    // One more than asked for tells whether there is a next page.
    const rows = status
      ? this.#storage.all(rowsAfterByStatus, status, after, limit + 1)
      : this.#storage.all(rowsAfter, after, limit + 1);
    return whenReady(rows, (found) => {
      const body = found.slice(0, limit).map(toPet);
      const last = body.at(-1);
      return found.length > limit && last ? { body, next: last.id } : { body };
    });
  }

  /** Adds an animal, and resolves when it is on disk; with undefined if it may not name its category. */
  add({ name, categoryId, status }: NewPet): Promise<Pet | undefined> {
    const mayName = this.#mayName;
    return this.#storage.write(function* () {
      if (mayName && !(yield* mayName(categoryId))) return undefined;
      const row = yield* first(insert, name, categoryId, status ?? null);
      return toPet(row as PetRow);
    });
  }

  /** Part of a transaction: how many animals name the category. */
  *countIn(categoryId: bigint): Transaction<bigint> {
    return (yield* first(countByCategory, categoryId))?.figure ?? 0n;
  }

  /** Part of a transaction, whose work is done by `whileMoving`: all animals of one category go to another. */
  *move(from: bigint, to: bigint): Transaction<void> {
    // It reads through all animals: not where there is none to move.
    if ((yield* this.countIn(from)) > 0n) yield* all(moveCategory, to, from);
  }

  /** Part of a transaction: the first number, from this one on, that no animal names as its category. */
  *firstUnnamed(from: bigint): Transaction<bigint> {
    return ((yield* first(firstUnnamedCategory, from)) as FigureRow).figure;
  }

  /** Does work that moves animals: pages are exact before, while and after it is done. */
  whileMoving<T>(work: () => Promise<T>): Promise<T> {
    return this.#pages.whileChanging(work);
  }
}
