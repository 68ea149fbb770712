import { exactJson } from "../../contract/serialize.ts";
import type { LineFault, LineFaults } from "../../files/lines.ts";
import type { Stage, Storage } from "../../storage/storage.ts";
import { all, first, type Transaction } from "../../storage/transaction.ts";
import { type Clock, systemClock } from "../../timing/clock.ts";
import { operator } from "../events/author.ts";
import { eventsOf, type NewEvent } from "../events/new-event.ts";
import { publishLast } from "../events/publish.ts";
import { withoutEmpty } from "../metadata/metadata.schemas.ts";
import { metadataFlag } from "../metadata/metadata.store.ts";
import { count, statusFigure } from "../shops/figures.ts";
import { type LockedShop, lockShop } from "../shops/shops.store.ts";
import { keptFold } from "./folded-name.ts";
import type { FileAnimal, IdRule } from "./pets.files.ts";
import {
  animalsOf,
  beyond,
  countStaged,
  givenIds,
  type IdRow,
  idsOf,
  insert,
  insertPairs,
  insertWithIds,
  keepPairsWithIds,
  noteGiven,
  noteKept,
  notePosition,
  type PartRow,
  type PositionRow,
  partAfter,
  positionOf,
  repeatedIds,
  staged,
} from "./pets.import.statements.ts";
import { importCompleted, notACategory, Pet, petCreated } from "./pets.operations.ts";
import { toPet } from "./pets.statements.ts";
import type { CategoryCheck, PetPorts } from "./pets.store.ts";

/** What an import needs of others. */
type ImportPorts = Pick<PetPorts, "categoryExists" | "clock">;

/** How far the import of a file has come. */
export interface Position {
  /** The last line of the file that is in, and the animals that came with it. */
  readonly line: bigint;
  readonly animals: bigint;
  /** The last id that the shop had given before the import: ids up to it are not kept. */
  readonly idsAbove: bigint;
}

/** Animals of an import that get an event each. */
const MAX_EVENTS = 10_000;
const event = eventsOf<Pet>(Pet, ({ id }) => ({ petId: id, subject: null }));

/** The animals of a part: those behind line `from`, up to line `to`. */
interface Part {
  readonly from: bigint;
  readonly to: bigint;
  /** The last id that the shop had given before. */
  readonly lastId: bigint;
  readonly animals: bigint;
}

/** What the store has that a checked file cannot have counted on: another process has changed it meanwhile. */
export class ConcurrentChange extends Error {
  override readonly name = "ConcurrentChange";
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
  #hasMetadata = false;

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
      animals.map(({ line, animal: { id, name, categoryId, status, metadata } }) => {
        const pairs = withoutEmpty(metadata);
        this.#hasMetadata ||= pairs !== undefined;
        return [
          line,
          (this.#ids === "keep" && id) || null,
          name,
          categoryId,
          status ?? null,
          keptFold(name),
          pairs ? JSON.stringify(pairs) : null,
          metadataFlag(pairs),
        ];
      }),
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

  /** Adds all that is staged. Rejects with `ConcurrentChange` or `StorageUnavailable`; then nothing was added. */
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
   * Rejects with `ConcurrentChange` or `StorageUnavailable`; then nothing of the part was added.
   */
  addPart(digest: string, most: number): Promise<Position | undefined> {
    return this.#stage.write(() => this.#addNext(digest, most));
  }

  close(): Promise<void> {
    return this.#stage.close();
  }

  /** A transaction: adds at most this many animals behind the position, and notes it where there is a digest. */
  *#addNext(digest: string | undefined, most: number | bigint): Transaction<Position | undefined> {
    const locked = yield* lockShop(this.#shop, this.#clock.now());
    const row = yield* first(positionOf, digest ?? null, this.#shop);
    const from = toPosition(row);
    const { line, animals } = (yield* first(partAfter, from.line, most)) as PartRow;
    if (line === null) return undefined;
    yield* this.#requireCategories(locked);
    const lastId = row?.last_id ?? 0n;
    if (this.#ids === "keep") yield* this.#addWithIds(locked, from, line);
    else {
      yield* all(insert, this.#shop, lastId, locked.at, from.line, line);
      if (this.#hasMetadata) yield* all(insertPairs, this.#shop, lastId, from.line, line);
      yield* all(noteGiven, animals, this.#shop);
    }
    for (const part of yield* all(countStaged, from.line, line))
      count(locked, statusFigure(part.status), Number(part.animals));
    count(locked, "added", Number(animals));
    const next = { line, animals: from.animals + animals, idsAbove: from.idsAbove };
    if (digest !== undefined) yield* all(notePosition, this.#shop, digest, line, next.animals, next.idsAbove);
    yield* publishLast(
      locked,
      operator(this.#shop),
      yield* this.#eventsOf({ from: from.line, to: line, lastId, animals }),
    );
    return next;
  }

  /** What is told of a part: each animal or, where the import has very many, how many came and with which ids. */
  *#eventsOf({ from, to, lastId, animals }: Part): Transaction<NewEvent[]> {
    if (!(yield* first(beyond, MAX_EVENTS))) {
      const rows = yield* all(animalsOf, from, to);
      return rows.map((row, index) => event(petCreated, toPet({ ...row, id: row.id ?? lastId + BigInt(index + 1) })));
    }
    const kept = this.#ids === "keep" ? yield* first(idsOf, from, to) : undefined;
    const { first: firstId, last } = kept ?? { first: lastId + 1n, last: lastId + animals };
    const data = exactJson({ animals, firstId, lastId: last });
    return [{ type: importCompleted, petId: null, subject: `${firstId}-${last}`, data, previous: null }];
  }

  /** The first part reserves the ids of all. An animal that a client adds between two parts gets a later id. */
  *#addWithIds({ at }: LockedShop, from: Position, to: bigint): Transaction<void> {
    const given = yield* first(givenIds, from.line, from.idsAbove, 1);
    if (given) throw new ConcurrentChange(`The id ${given.id}, of line ${given.line}, was given.`);
    yield* all(noteKept, this.#shop);
    yield* all(insertWithIds, this.#shop, at, from.line, to);
    if (this.#hasMetadata) yield* all(keepPairsWithIds, this.#shop, from.line, to);
  }

  *#requireCategories(locked: LockedShop): Transaction<void> {
    for (const id of this.#categories) {
      if (!(yield* (this.#categoryExists as CategoryCheck)(locked, id)))
        throw new ConcurrentChange(`Category ${id} was deleted.`);
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
