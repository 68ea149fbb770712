import type { LineFault, LineFaults } from "../../files/lines.ts";
import { all, first, type Row, type Stage, type Storage, statement, type Transaction } from "../../storage/storage.ts";
import { type Clock, systemClock } from "../../timing/clock.ts";
import { type LockedShop, lockShop } from "../shops/shops.store.ts";
import type { FileAnimal, IdRule } from "./pets.files.ts";
import { notACategory } from "./pets.operations.ts";
import type { CategoryCheck, PetPorts } from "./pets.store.ts";

/** What an import needs of others. */
type ImportPorts = Pick<PetPorts, "categoryExists" | "clock">;

interface IdRow extends Row {
  line: bigint;
  id: bigint;
  total: bigint;
}
interface PartRow extends Row {
  line: bigint | null;
  animals: bigint;
}
/** The columns of `imports` are null where the import has not begun. */
interface PositionRow extends Row {
  last_id: bigint;
  line: bigint | null;
  animals: bigint | null;
  ids_above: bigint | null;
}

/** How far the import of a file has come. */
export interface Position {
  /** The last line of the file that is in, and the animals that came with it. */
  readonly line: bigint;
  readonly animals: bigint;
  /** The last id that the shop had given before the import: ids up to it are not kept. */
  readonly idsAbove: bigint;
}

const staged = {
  name: "staged_pets",
  columns: { line: "integer", id: "integer", name: "text", category_id: "integer", status: "text" },
} as const;

const insertWithIds = statement(`
  INSERT INTO pets (shop, id, name, category_id, status, added_at, added_by)
  SELECT CAST($1 AS BIGINT), id, name, category_id, status, CAST($2 AS BIGINT), 'imported'
  FROM staged_pets WHERE line > $3 AND line <= $4 ORDER BY id
`);
const insert = statement(`
  INSERT INTO pets (shop, id, name, category_id, status, added_at, added_by)
  SELECT CAST($1 AS BIGINT), CAST($2 AS BIGINT) + row_number() OVER (ORDER BY line), name, category_id, status,
    CAST($3 AS BIGINT), 'imported'
  FROM staged_pets WHERE line > $4 AND line <= $5 ORDER BY line
`);
const partAfter = statement<PartRow>(`
  SELECT max(line) AS line, count(*) AS animals
  FROM (SELECT line FROM staged_pets WHERE line > $1 ORDER BY line LIMIT $2) AS part
`);
const noteGiven = statement("UPDATE shops SET last_pet_id = last_pet_id + $1 WHERE shop = $2");
const noteKept = statement(`
  UPDATE shops SET last_pet_id = (SELECT max(id) FROM staged_pets)
  WHERE shop = $1 AND last_pet_id < (SELECT max(id) FROM staged_pets)
`);
/** Lines behind `$1` whose id is not above `$2`. */
const givenIds = statement<IdRow>(`
  SELECT line, id, count(*) OVER () AS total FROM staged_pets WHERE line > $1 AND id <= $2 ORDER BY line LIMIT $3
`);
const repeatedIds = statement<IdRow>(`
  SELECT staged_pets.line, staged_pets.id, count(*) OVER () AS total FROM staged_pets
  JOIN (SELECT id, min(line) AS line FROM staged_pets GROUP BY id HAVING count(*) > 1) AS earliest
    ON earliest.id = staged_pets.id AND earliest.line < staged_pets.line
  ORDER BY staged_pets.line LIMIT $1
`);
// One statement, because the first part changes both rows.
const positionOf = statement<PositionRow>(`
  SELECT last_pet_id AS last_id, line, animals, ids_above
  FROM shops LEFT JOIN imports ON imports.shop = shops.shop AND digest = $1 WHERE shops.shop = $2
`);
const notePosition = statement(`
  INSERT INTO imports (shop, digest, line, animals, ids_above) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (shop, digest) DO UPDATE SET line = excluded.line, animals = excluded.animals
`);

/** What the store has that a checked file cannot have counted on: another process has changed it meanwhile. */
export class ChangedMeanwhile extends Error {
  override readonly name = "ChangedMeanwhile";
}

/** Animals on their way into a shop: they are staged first, and then added at once or in parts. */
export class PetImportStore {
  readonly #stage: Stage;
  readonly #shop: number;
  readonly #ids: IdRule | undefined;
  readonly #categoryExists: CategoryCheck | undefined;
  readonly #clock: Clock;
  /** Categories that animals of this import name and may. There are no more than the store has. */
  readonly #categories = new Set<bigint>();

  /** Rejects with `StorageUnavailable`. */
  static async open(
    storage: Storage,
    shop: number,
    ids: IdRule | undefined,
    ports: ImportPorts = {},
  ): Promise<PetImportStore> {
    return new PetImportStore(await storage.stage(staged), shop, ids, ports);
  }

  private constructor(
    stage: Stage,
    shop: number,
    ids: IdRule | undefined,
    { categoryExists, clock = systemClock }: ImportPorts,
  ) {
    this.#stage = stage;
    this.#shop = shop;
    this.#ids = ids;
    this.#categoryExists = categoryExists;
    this.#clock = clock;
  }

  /** Stages animals, and notes those that name a category that they may not. */
  async add(animals: readonly FileAnimal[], faults: LineFaults): Promise<void> {
    await this.#stage.add(
      animals.map(({ line, animal: { id, name, categoryId, status } }) => [
        line,
        (this.#ids === "keep" && id) || null,
        name,
        categoryId,
        status ?? null,
      ]),
    );
    if (this.#categoryExists) faults.add(await this.#faultsOfCategories(animals, this.#categoryExists));
  }

  /** Notes the lines, of those behind what is in already, whose id an earlier line has or the shop has given before. */
  async checkIds(faults: LineFaults, { line: from, idsAbove }: Position): Promise<void> {
    if (this.#ids !== "keep") return;
    const note = (rows: readonly IdRow[], message: string) =>
      faults.add(
        rows.map(({ line, id }) => ({ line: Number(line), message: `/id ${id} ${message}` })),
        Number(rows[0]?.total ?? 0),
      );
    note(await this.#stage.all(repeatedIds, faults.most), "is on an earlier line too");
    note(
      await this.#stage.all(givenIds, from, idsAbove, faults.most),
      `was given before; kept ids must be above ${idsAbove}, the largest that the shop has given`,
    );
  }

  /** Adds all that is staged. Rejects with `ChangedMeanwhile` or `StorageUnavailable`; then nothing was added. */
  async addAll(): Promise<void> {
    await this.#stage.write(() => this.#addNext(undefined, LAST_LINE));
  }

  /** How far the import of a file in parts has come, in this process or one before it; without a digest, the start. */
  async position(digest: string | undefined): Promise<Position> {
    const [row] = await this.#stage.all(positionOf, digest ?? null, this.#shop);
    return toPosition(row);
  }

  /**
   * Adds the next animals, at most so many, of a file with this digest, and notes in the same transaction
   * that they are in. Resolves with the new position; with undefined if there is nothing left to add.
   * Rejects with `ChangedMeanwhile` or `StorageUnavailable`; then nothing of the part was added.
   */
  addPart(digest: string, most: number): Promise<Position | undefined> {
    return this.#stage.write(() => this.#addNext(digest, most));
  }

  close(): Promise<void> {
    return this.#stage.close();
  }

  /** A transaction: adds at most so many animals behind the position, and notes it where there is a digest. */
  *#addNext(digest: string | undefined, most: number | bigint): Transaction<Position | undefined> {
    const locked = yield* lockShop(this.#shop, this.#clock.now());
    const row = yield* first(positionOf, digest ?? null, this.#shop);
    const from = toPosition(row);
    const { line, animals } = (yield* first(partAfter, from.line, most)) as PartRow;
    if (line === null) return undefined;
    yield* this.#requireCategories(locked);
    if (this.#ids === "keep") yield* this.#addWithIds(locked, from, line);
    else {
      yield* all(insert, this.#shop, row?.last_id ?? 0, locked.at, from.line, line);
      yield* all(noteGiven, animals, this.#shop);
    }
    const next = { line, animals: from.animals + animals, idsAbove: from.idsAbove };
    if (digest !== undefined) yield* all(notePosition, this.#shop, digest, line, next.animals, next.idsAbove);
    return next;
  }

  /** The first part gives away the ids of all: whoever adds an animal between two parts gets one behind them. */
  *#addWithIds({ at }: LockedShop, from: Position, to: bigint): Transaction<void> {
    const given = yield* first(givenIds, from.line, from.idsAbove, 1);
    if (given) throw new ChangedMeanwhile(`The id ${given.id}, of line ${given.line}, was given.`);
    yield* all(noteKept, this.#shop);
    yield* all(insertWithIds, this.#shop, at, from.line, to);
  }

  *#requireCategories(locked: LockedShop): Transaction<void> {
    for (const id of this.#categories) {
      if (!(yield* (this.#categoryExists as CategoryCheck)(locked, id)))
        throw new ChangedMeanwhile(`Category ${id} was deleted.`);
    }
  }

  async #faultsOfCategories(animals: readonly FileAnimal[], categoryExists: CategoryCheck): Promise<LineFault[]> {
    const named = new Set(animals.map(({ animal }) => animal.categoryId));
    const asked = [...named].filter((id) => !this.#categories.has(id));
    if (asked.length === 0) return [];
    const [shop, now] = [this.#shop, this.#clock.now()];
    const known = await this.#stage.write(function* () {
      const locked = yield* lockShop(shop, now);
      const found: bigint[] = [];
      for (const id of asked) if (yield* categoryExists(locked, id)) found.push(id);
      return found;
    });
    for (const id of known) this.#categories.add(id);
    return animals
      .filter(({ animal }) => !this.#categories.has(animal.categoryId))
      .map(({ line }) => ({ line, message: `/categoryId ${notACategory}` }));
  }
}

/** Where the data of the shop was deleted, what follows finds that out. */
function toPosition(row: PositionRow | undefined): Position {
  const { line, animals, ids_above, last_id } = row ?? { line: null, animals: null, ids_above: null, last_id: 0n };
  return { line: line ?? 0n, animals: animals ?? 0n, idsAbove: ids_above ?? last_id };
}

/** Behind every line that a file can have. */
const LAST_LINE = 2n ** 63n - 1n;
