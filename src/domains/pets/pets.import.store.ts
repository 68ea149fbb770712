import type { LineFault, LineFaults } from "../../files/lines.ts";
import { all, first, type Row, type Stage, type Storage, statement, type Transaction } from "../../storage/storage.ts";
import { type Clock, systemClock } from "../../timing/clock.ts";
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

/** How far the import of a file has come: the last line of the file that is in, and the animals that came with it. */
export interface Position {
  readonly line: bigint;
  readonly animals: bigint;
}

const staged = {
  name: "staged_pets",
  columns: { line: "integer", id: "integer", name: "text", category_id: "integer", status: "text" },
  ids: { column: "id", table: "pets" },
} as const;

const added = "CAST($1 AS BIGINT), 'imported' FROM staged_pets WHERE line > $2 AND line <= $3";
const insertWithIds = statement(`
  INSERT INTO pets (id, name, category_id, status, added_at, added_by)
  SELECT id, name, category_id, status, ${added} ORDER BY id
`);
const insert = statement(`
  INSERT INTO pets (name, category_id, status, added_at, added_by)
  SELECT name, category_id, status, ${added} ORDER BY line
`);
const partAfter = statement<PartRow>(`
  SELECT max(line) AS line, count(*) AS animals
  FROM (SELECT line FROM staged_pets WHERE line > $1 ORDER BY line LIMIT $2) AS part
`);
const takenIds = idsIn("pets");
const deletedIds = idsIn("deleted_pets");
const repeatedIds = statement<IdRow>(`
  SELECT staged_pets.line, staged_pets.id, count(*) OVER () AS total FROM staged_pets
  JOIN (SELECT id, min(line) AS line FROM staged_pets GROUP BY id HAVING count(*) > 1) AS earliest
    ON earliest.id = staged_pets.id AND earliest.line < staged_pets.line
  ORDER BY staged_pets.line LIMIT $1
`);
/** Which ids, of the lines behind `$1` and up to `$2`, a table of the store has. */
function idsIn(table: string) {
  return statement<IdRow>(`
    SELECT line, id, count(*) OVER () AS total FROM staged_pets
    WHERE line > $1 AND line <= $2 AND id IN (SELECT id FROM ${table}) ORDER BY line LIMIT $3
  `);
}
const positionOf = statement<Position & Row>("SELECT line, animals FROM imports WHERE digest = $1");
const notePosition = statement(`
  INSERT INTO imports (digest, line, animals) VALUES ($1, $2, $3)
  ON CONFLICT (digest) DO UPDATE SET line = excluded.line, animals = excluded.animals
`);

/** What the store has that a checked file cannot have counted on: another process has changed it meanwhile. */
export class ChangedMeanwhile extends Error {
  override readonly name = "ChangedMeanwhile";
}

export const start: Position = { line: 0n, animals: 0n };

/** Animals on their way into the store: they are staged first, and then added at once or in parts. */
export class PetImportStore {
  readonly #stage: Stage;
  readonly #ids: IdRule | undefined;
  readonly #categoryExists: CategoryCheck | undefined;
  readonly #clock: Clock;
  /** Categories that animals of this import name and may. There are no more than the store has. */
  readonly #categories = new Set<bigint>();

  /** Rejects with `StorageUnavailable`. */
  static async open(storage: Storage, ids: IdRule | undefined, ports: ImportPorts = {}): Promise<PetImportStore> {
    return new PetImportStore(await storage.stage(staged), ids, ports);
  }

  private constructor(stage: Stage, ids: IdRule | undefined, { categoryExists, clock = systemClock }: ImportPorts) {
    this.#stage = stage;
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

  /** Notes the lines, of those behind what is in already, whose id an earlier line or the store has, or had. */
  async checkIds(faults: LineFaults, { line: from }: Position): Promise<void> {
    if (this.#ids !== "keep") return;
    const note = (rows: readonly IdRow[], message: string) =>
      faults.add(
        rows.map(({ line, id }) => ({ line: Number(line), message: `/id ${id} ${message}` })),
        Number(rows[0]?.total ?? 0),
      );
    note(await this.#stage.all(repeatedIds, faults.most), "is on an earlier line too");
    note(await this.#stage.all(takenIds, from, LAST_LINE, faults.most), "is taken in the store");
    note(
      await this.#stage.all(deletedIds, from, LAST_LINE, faults.most),
      "was a deleted animal's, and is not given again",
    );
  }

  /** Adds all that is staged. Rejects with `ChangedMeanwhile` or `StorageUnavailable`; then nothing was added. */
  addAll(): Promise<void> {
    const add = (to: bigint) => this.#add(start.line, to);
    return this.#stage.write(() => add(LAST_LINE));
  }

  /** How far the import of a file has come, in this process or one before it. */
  async position(digest: string): Promise<Position> {
    const [position] = await this.#stage.all(positionOf, digest);
    return position ?? start;
  }

  /**
   * Adds the next animals, at most so many, of a file with this digest, and notes in the same transaction
   * that they are in. Resolves with the new position; with undefined if there is nothing left to add.
   * Rejects with `ChangedMeanwhile` or `StorageUnavailable`; then nothing of the part was added.
   */
  addPart(digest: string, most: number): Promise<Position | undefined> {
    const add = (from: bigint, to: bigint) => this.#add(from, to);
    return this.#stage.write(function* () {
      const from = (yield* first(positionOf, digest)) ?? start;
      const { line, animals } = (yield* first(partAfter, from.line, most)) as PartRow;
      if (line === null) return undefined;
      yield* add(from.line, line);
      const position = { line, animals: from.animals + animals };
      yield* all(notePosition, digest, position.line, position.animals);
      return position;
    });
  }

  close(): Promise<void> {
    return this.#stage.close();
  }

  /** Part of a transaction: adds what was staged of the lines behind `from`, up to `to`. */
  *#add(from: bigint, to: bigint): Transaction<void> {
    for (const id of this.#categories) {
      if (!(yield* (this.#categoryExists as CategoryCheck)(id)))
        throw new ChangedMeanwhile(`Category ${id} was deleted.`);
    }
    if (this.#ids !== "keep") {
      yield* all(insert, this.#clock.now(), from, to);
      return;
    }
    const taken = yield* first(takenIds, from, to, 1);
    if (taken) throw new ChangedMeanwhile(`The id ${taken.id}, of line ${taken.line}, was given to another animal.`);
    const deleted = yield* first(deletedIds, from, to, 1);
    if (deleted)
      throw new ChangedMeanwhile(`The animal with the id ${deleted.id}, of line ${deleted.line}, was deleted.`);
    yield* all(insertWithIds, this.#clock.now(), from, to);
  }

  async #faultsOfCategories(animals: readonly FileAnimal[], categoryExists: CategoryCheck): Promise<LineFault[]> {
    const named = new Set(animals.map(({ animal }) => animal.categoryId));
    const asked = [...named].filter((id) => !this.#categories.has(id));
    if (asked.length === 0) return [];
    const known = await this.#stage.write(function* () {
      const found: bigint[] = [];
      for (const id of asked) if (yield* categoryExists(id)) found.push(id);
      return found;
    });
    for (const id of known) this.#categories.add(id);
    return animals
      .filter(({ animal }) => !this.#categories.has(animal.categoryId))
      .map(({ line }) => ({ line, message: `/categoryId ${notACategory}` }));
  }
}

/** Behind every line that a file can have. */
const LAST_LINE = 2n ** 63n - 1n;
