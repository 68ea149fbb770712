import { type MaybePromise, whenReady } from "../../maybe-promise.ts";
import { Remembered } from "../../storage/remembered.ts";
import { first, type Row, type Storage, statement } from "../../storage/storage.ts";
import type { NewPet, Pet } from "./pets.operations.ts";

interface PetRow extends Row {
  id: bigint;
  name: string;
  category_id: bigint;
  status: NonNullable<Pet["status"]> | null;
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

  constructor(storage: Storage) {
    this.#storage = storage;
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

  /** Adds an animal, and resolves when it is on disk. */
  add({ name, categoryId, status }: NewPet): Promise<Pet> {
    return this.#storage.write(function* () {
      const row = yield* first(insert, name, categoryId, status ?? null);
      return toPet(row as PetRow);
    });
  }
}
