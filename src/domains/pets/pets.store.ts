import { type MaybePromise, whenReady } from "../../maybe-promise.ts";
import { first, type Row, type Storage, statement } from "../../storage/storage.ts";
import type { NewPet, Pet } from "./pets.operations.ts";

interface PetRow extends Row {
  id: bigint;
  name: string;
  category_id: bigint;
  status: NonNullable<Pet["status"]> | null;
}

const columns = "id, name, category_id, status";

const byId = statement<PetRow>(`SELECT ${columns} FROM pets WHERE id = $1`);
const page = statement<PetRow>(`SELECT ${columns} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`);
const pageByStatus = statement<PetRow>(
  `SELECT ${columns} FROM pets WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3`,
);
const insert = statement<PetRow>(
  `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${columns}`,
);

function toPet({ id, name, category_id, status }: PetRow): Pet {
  return status === null ? { id, name, categoryId: category_id } : { id, name, categoryId: category_id, status };
}

/** The animals in the store. */
export class PetStore {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  get(id: bigint): MaybePromise<Pet | undefined> {
    return whenReady(this.#storage.first(byId, id), (row) => row && toPet(row));
  }

  /** Up to `limit` animals with an id above `after`, by ascending id. */
  list(after: bigint, limit: number, status: Pet["status"]): MaybePromise<Pet[]> {
    const rows = status ? this.#storage.all(pageByStatus, status, after, limit) : this.#storage.all(page, after, limit);
    return whenReady(rows, (found) => found.map(toPet));
  }

  /** Adds all or none, and resolves when they are on disk. */
  add(pets: readonly NewPet[]): Promise<Pet[]> {
    return this.#storage.write(function* () {
      const added: Pet[] = [];
      for (const { name, categoryId, status } of pets) {
        const row = yield* first(insert, name, categoryId, status ?? null);
        added.push(toPet(row as PetRow));
      }
      return added;
    });
  }
}
