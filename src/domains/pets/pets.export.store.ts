import { statement } from "../../storage/statement.ts";
import type { Storage } from "../../storage/storage.ts";
import { first } from "../../storage/transaction.ts";
import { allAnimals } from "../shops/figures.ts";
import type { Pet } from "./pets.schemas.ts";
import { type CountRow, columns, type PetRow, toPet } from "./pets.statements.ts";

const everyRow = statement<[shop: number], PetRow>(`SELECT ${columns} FROM pets WHERE shop = $1 ORDER BY id`);
/** The shop's own figures. Counting the rows of a large shop takes longer than a statement may. */
const countOf = statement<[shop: number], CountRow>(`SELECT ${allAnimals} AS animals FROM shops WHERE shop = $1`);

/** Reads all animals of a shop for an export. */
export class PetExportStore {
  readonly #storage: Storage;
  readonly #shop: number;

  constructor(storage: Storage, shop: number) {
    this.#storage = storage;
    this.#shop = shop;
  }

  /** A consistent snapshot of all animals, by ascending id, in batches of some hundred. Throws `StorageUnavailable`. */
  async *all(): AsyncGenerator<Pet[]> {
    for await (const rows of this.#storage.stream(everyRow, this.#shop)) yield rows.map(toPet);
  }

  async count(): Promise<bigint> {
    return (await this.#storage.read(first(countOf, this.#shop)))?.animals ?? 0n;
  }
}
