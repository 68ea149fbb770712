import { foldedToStore, INT64_MAX } from "../../contract/schemas.ts";
import { exactJson } from "../../contract/serialize.ts";
import type { LineFaults } from "../../files/lines.ts";
import type { StagingTable, Storage } from "../../storage/storage.ts";
import { all, first, type Transaction } from "../../storage/transaction.ts";
import { type Clock, systemClock } from "../../timing/clock.ts";
import { operator } from "../events/author.ts";
import { eventsOf, type NewEvent } from "../events/new-event.ts";
import { publishLast } from "../events/publish.ts";
import { unlessEmpty } from "../metadata/metadata.schemas.ts";
import { metadataFlag } from "../metadata/metadata.store.ts";
import { addToFigure, statusFigure } from "../shops/figures.ts";
import { type LockedShop, lockShop } from "../shops/shops.store.ts";
import type { FilePet, IdRule } from "./pets.files.ts";
import {
  advanceLastId,
  assignedIds,
  countStaged,
  type FaultyRow,
  idsOf,
  insert,
  insertMetadata,
  insertMetadataWithIds,
  insertWithIds,
  lineBeyond,
  type PartRow,
  type PositionRow,
  partAfter,
  petsOfPart,
  positionOf,
  raiseLastId,
  repeatedIds,
  savePosition,
  staged,
  unknownCategories,
} from "./pets.import.statements.ts";
import { importCompleted, notACategory, petCreated } from "./pets.operations.ts";
import { Pet } from "./pets.schemas.ts";
import { toPet } from "./pets.statements.ts";

export interface ImportRules {
  /** If undefined, the shop assigns ids. */
  readonly ids: IdRule | undefined;
  /** True if the category of each animal must exist. */
  readonly isStrict: boolean;
}

/** The position that the import of a file has reached. */
export interface Position {
  /** The last line of the file that was imported, and the number of animals up to it. */
  readonly line: bigint;
  readonly animals: bigint;
  /** The last id that the shop had assigned before the import. Ids up to it cannot be kept. */
  readonly lastIdBefore: bigint;
}

/** The maximum number of animals for which an import publishes one event per animal. */
const MAX_EVENTS = 10_000;
const event = eventsOf<Pet>(Pet, ({ id }) => ({ petId: id, subjectId: null }));

/** A part of an import: the animals after line `from`, up to line `to`. */
interface Part {
  readonly from: bigint;
  readonly to: bigint;
  /** The last id that the shop had assigned before this part. */
  readonly lastId: bigint;
  readonly animals: bigint;
}

/** Another process has changed the store since the file was checked. */
export class ConcurrentChange extends Error {
  override readonly name = "ConcurrentChange";
}

/** Imports animals into a shop: it stages them first, and then adds them at once or in parts. */
export class PetImportStore {
  readonly #staging: StagingTable;
  readonly #shop: number;
  readonly #ids: IdRule | undefined;
  readonly #isStrict: boolean;
  readonly #clock: Clock;
  #hasMetadata = false;

  /** Rejects with `StorageUnavailable`. */
  static async open(
    storage: Storage,
    shop: number,
    rules: ImportRules,
    clock: Clock = systemClock,
  ): Promise<PetImportStore> {
    return new PetImportStore(await storage.createStagingTable(staged), shop, rules, clock);
  }

  private constructor(staging: StagingTable, shop: number, { ids, isStrict }: ImportRules, clock: Clock) {
    this.#staging = staging;
    this.#shop = shop;
    this.#ids = ids;
    this.#isStrict = isStrict;
    this.#clock = clock;
  }

  /** Stages animals, before they are added. */
  async stage(pets: readonly FilePet[]): Promise<void> {
    await this.#staging.add(
      pets.map(({ line, pet: { id, name, categoryId, status, metadata } }) => {
        const pairs = unlessEmpty(metadata);
        this.#hasMetadata ||= pairs !== undefined;
        return [
          line,
          (this.#ids === "keep" && id) || null,
          name,
          categoryId,
          status ?? null,
          foldedToStore(name),
          pairs ? JSON.stringify(pairs) : null,
          metadataFlag(pairs),
        ];
      }),
    );
  }

  /** Records a fault for each remaining line whose category does not exist. Throws `ShopDeleted`. */
  async checkCategories(faults: LineFaults, { line: from }: Position): Promise<void> {
    if (!this.#isStrict) return;
    const rows = await this.#staging.all(unknownCategories, from, INT64_MAX, this.#shop, faults.maxReported);
    // The data of a deleted shop is deleted, its categories too.
    if (rows.length > 0) await this.#staging.write(() => lockShop(this.#shop, this.#clock.now()));
    note(faults, rows, () => `/categoryId ${notACategory}`);
  }

  /** Records a fault for each remaining line with an id of an earlier line, or one that the shop has assigned. */
  async checkIds(faults: LineFaults, { line: from, lastIdBefore }: Position): Promise<void> {
    if (this.#ids !== "keep") return;
    const repeated = await this.#staging.all(repeatedIds, faults.maxReported);
    note(faults, repeated, ({ id }) => `/id ${id} is on an earlier line too`);
    const assigned = await this.#staging.all(assignedIds, from, lastIdBefore, faults.maxReported);
    const reason = `is not above ${lastIdBefore}, the last id that the shop has assigned`;
    note(faults, assigned, ({ id }) => `/id ${id} ${reason}`);
  }

  /** Adds all staged animals. Rejects with `ConcurrentChange` or `StorageUnavailable`; then nothing was added. */
  async addAll(): Promise<void> {
    await this.#staging.write(() => this.#addNext(undefined, INT64_MAX));
  }

  /** The position that imports of the file with this digest have reached; without a digest, the start. */
  async position(digest: string | undefined): Promise<Position> {
    const [row] = await this.#staging.all(positionOf, digest ?? null, this.#shop);
    return toPosition(row);
  }

  /**
   * Adds the next animals of the file with this digest, at most `most`, and saves the new position in the same
   * transaction. Resolves with the new position, or with undefined if nothing is left to add. Rejects with
   * `ConcurrentChange` or `StorageUnavailable`; then nothing of the part was added.
   */
  addPart(digest: string, most: number): Promise<Position | undefined> {
    return this.#staging.write(() => this.#addNext(digest, most));
  }

  close(): Promise<void> {
    return this.#staging.close();
  }

  /** A transaction: adds the next animals, at most `most`. Saves the new position if there is a digest. */
  *#addNext(digest: string | undefined, most: number | bigint): Transaction<Position | undefined> {
    const locked = yield* lockShop(this.#shop, this.#clock.now());
    const row = yield* first(positionOf, digest ?? null, this.#shop);
    const from = toPosition(row);
    const { line, animals } = (yield* first(partAfter, from.line, most)) as PartRow;
    if (line === null) return undefined;
    if (this.#isStrict) {
      const unknown = yield* first(unknownCategories, from.line, line, this.#shop, 1);
      if (unknown) throw new ConcurrentChange(`Category ${unknown.category_id} was deleted.`);
    }
    const lastId = row?.last_id ?? 0n;
    if (this.#ids === "keep") yield* this.#addWithIds(locked, from, line);
    else {
      yield* all(insert, this.#shop, lastId, locked.at, from.line, line);
      if (this.#hasMetadata) yield* all(insertMetadata, this.#shop, lastId, from.line, line);
      yield* all(advanceLastId, animals, this.#shop);
    }
    for (const part of yield* all(countStaged, from.line, line))
      addToFigure(locked, statusFigure(part.status), Number(part.animals));
    addToFigure(locked, "added", Number(animals));
    const next = { line, animals: from.animals + animals, lastIdBefore: from.lastIdBefore };
    if (digest !== undefined) yield* all(savePosition, this.#shop, digest, line, next.animals, next.lastIdBefore);
    yield* publishLast(
      locked,
      operator(this.#shop),
      yield* this.#eventsOf({ from: from.line, to: line, lastId, animals }),
    );
    return next;
  }

  /** The events of a part: one per animal or, for a large import, one with the number of animals and their ids. */
  *#eventsOf({ from, to, lastId, animals }: Part): Transaction<NewEvent[]> {
    if (!(yield* first(lineBeyond, MAX_EVENTS))) {
      const rows = yield* all(petsOfPart, from, to);
      return rows.map((row, index) => event(petCreated, toPet({ ...row, id: row.id ?? lastId + BigInt(index + 1) })));
    }
    const kept = this.#ids === "keep" ? yield* first(idsOf, from, to) : undefined;
    const { first: firstId, last } = kept ?? { first: lastId + 1n, last: lastId + animals };
    const data = exactJson({ animals, firstId, lastId: last });
    return [{ type: importCompleted, petId: null, subjectId: `${firstId}-${last}`, data, previous: null }];
  }

  /** The first part reserves the ids of the whole file. Animals that clients add between two parts get larger ids. */
  *#addWithIds({ at }: LockedShop, from: Position, to: bigint): Transaction<void> {
    const assigned = yield* first(assignedIds, from.line, from.lastIdBefore, 1);
    if (assigned) throw new ConcurrentChange(`The id ${assigned.id} of line ${assigned.line} is now in use.`);
    yield* all(raiseLastId, this.#shop);
    yield* all(insertWithIds, this.#shop, at, from.line, to);
    if (this.#hasMetadata) yield* all(insertMetadataWithIds, this.#shop, from.line, to);
  }
}

/** If the shop's data was deleted, a later step detects it. */
function toPosition(row: PositionRow | undefined): Position {
  const { line, animals, ids_above, last_id } = row ?? { line: null, animals: null, ids_above: null, last_id: 0n };
  return { line: line ?? 0n, animals: animals ?? 0n, lastIdBefore: ids_above ?? last_id };
}

/** Records a fault for each row, and counts those that the limit of the rows left out. */
function note<T extends FaultyRow>(faults: LineFaults, rows: readonly T[], messageOf: (row: T) => string): void {
  const found = rows.map((row) => ({ line: Number(row.line), message: messageOf(row) }));
  faults.add(found, Number(rows[0]?.total ?? 0));
}
