import { insertAll, together } from "../../storage/combined-steps.ts";
import { isOneOf } from "../../storage/pages.ts";
import { cachedQuery, type IdRow, type SqlParameter, type ValuesOf } from "../../storage/statement.ts";
import { all, type Change, first, type Query } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import { type Author, publishLast } from "../events/publish.ts";
import { insertMetadata } from "../metadata/metadata.store.ts";
import { addToFigure, type LockedShop, statusFigure } from "../shops/figures.ts";
import { currencyOf } from "../shops/shop-settings.store.ts";
import { fullness, lockShop, type ShopFull } from "../shops/shops.store.ts";
import { changePet, isSamePet, petEvent } from "./pet-change.ts";
import {
  type Draft,
  type ImportedPet,
  type OnExisting,
  type PetFault,
  type PetOutcome,
  planImport,
} from "./pet-import-plan.ts";
import { petCreated } from "./pets.operations.ts";
import type { Pet } from "./pets.schemas.ts";
import { columns, insert, lastId, type PetRow, petFields, setLastId, toPet } from "./pets.statements.ts";
import type { DecidingOrder, FindOrderOfPet } from "./several-pets.store.ts";

/** Part of a transaction: true if an animal may be in this category. */
export type CategoryCheck = (shop: LockedShop, categoryId: bigint) => Query<boolean>;

export interface ImportRules {
  /** True to leave out animals with faults. Otherwise, one fault refuses all. */
  readonly skipsFaults?: boolean;
  readonly onExisting?: OnExisting | undefined;
}

/** The outcome for several animals, each with its place among them, and why others were left out. */
interface ImportResult {
  readonly imported: readonly {
    readonly index: number;
    readonly pet: Pet;
    readonly outcome: PetOutcome;
  }[];
  readonly faults: readonly PetFault[];
}

/** Part of a transaction: the animals that have these references. */
export function* ownersOf(shop: number, references: readonly string[]): Query<Pet[]> {
  if (references.length === 0) return [];
  const parameters: SqlParameter[] = [shop];
  const isOne = isOneOf(references, "reference")((reference) => `$${parameters.push(reference)}`);
  const sql = `SELECT ${columns} FROM pets WHERE shop = $1 AND reference IS NOT NULL AND ${isOne}`;
  return (yield* all(cachedQuery<PetRow>(sql), ...parameters)).map(toPet);
}

/** Adds several animals at once. */
export class PetImports {
  readonly #clock: Clock;
  readonly #categoryExists: CategoryCheck | undefined;
  readonly #orderOf: FindOrderOfPet | undefined;

  /** The last two are as in `PetDependencies`. */
  constructor(clock: Clock, categoryExists: CategoryCheck | undefined, orderOf: FindOrderOfPet | undefined) {
    this.#clock = clock;
    this.#categoryExists = categoryExists;
    this.#orderOf = orderOf;
  }

  /**
   * A transaction: adds animals in this order, or changes those that have their references. Those without an id get the
   * next ones. An id must be above all ids that the shop has assigned.
   */
  *add(author: Author, pets: readonly ImportedPet[], rules: ImportRules = {}): Change<ImportResult | ShopFull> {
    const { shop } = author;
    const { skipsFaults = false, onExisting = "refuse" } = rules;
    const locked = yield* lockShop(shop, this.#clock.now());
    const state = {
      onExisting,
      currency: pets.some(({ price }) => price && price.currency === undefined) ? yield* currencyOf(shop) : undefined,
      unknownCategories: yield* this.#unknownCategories(locked, pets),
      ...(yield* this.#existing(locked, pets, onExisting === "update")),
      lastId: ((yield* first(lastId, shop)) as IdRow).id,
    };
    const { planned, faults } = planImport(state, pets);
    if (planned.length === 0 || (faults.length > 0 && !skipsFaults)) return { imported: [], faults };
    const drafts = [...new Set(planned.map(({ draft }) => draft))];
    const created = drafts.flatMap(({ before, after }) => (before ? [] : [after]));
    if (created.length > 0) {
      const full = yield* fullness(shop, created.length);
      if (full) return full;
    }
    const rows = created.map((pet): ValuesOf<typeof insert> => [shop, pet.id, locked.at, ...petFields.values(pet)]);
    if (rows.length > 0) {
      yield* together([
        all(setLastId, state.lastId, shop),
        insertAll(insert, rows),
        insertMetadata(shop, "pet", created),
      ]);
      for (const { status } of created) addToFigure(locked, statusFigure(status));
      addToFigure(locked, "added", created.length);
    }
    const changes = drafts.flatMap(({ before, after }) =>
      before && !isSamePet(before, after) ? [changePet(locked, before, after)] : [],
    );
    const changed = yield* together(changes);
    yield* publishLast(locked, author, [...created.map((pet) => petEvent(petCreated, pet)), ...changed]);
    return { imported: planned.map(({ index, draft, outcome }) => ({ index, pet: draft.after, outcome })), faults };
  }

  /** The categories of animals that do not exist, if they must. */
  *#unknownCategories(locked: LockedShop, pets: readonly ImportedPet[]): Query<ReadonlySet<bigint>> {
    const unknown = new Set<bigint>();
    const exists = this.#categoryExists;
    if (!exists) return unknown;
    const check = function* (id: bigint) {
      if (!(yield* exists(locked, id))) unknown.add(id);
    };
    yield* together([...new Set(pets.map(({ categoryId }) => categoryId))].map(check));
    return unknown;
  }

  /** The animals that have references of these, and the orders that decide a status that would be changed. */
  *#existing(locked: LockedShop, pets: readonly ImportedPet[], updates: boolean) {
    const references = [...new Set(pets.flatMap(({ reference }) => reference ?? []))];
    const orders = new Map<bigint, DecidingOrder>();
    let owners = yield* ownersOf(locked.shop, references);
    const statusOf = new Map(owners.map(({ reference, status }) => [reference, status]));
    const changing = new Set(
      pets.flatMap(({ reference, status }) => (status && status !== statusOf.get(reference) ? [reference] : [])),
    );
    // Others belong to no order.
    const held = owners.filter(
      ({ reference, status }) => changing.has(reference) && (status === "pending" || status === "sold"),
    );
    const find = this.#orderOf;
    if (updates && find && held.length > 0) {
      const found = yield* together(held.map(({ id }) => find(locked, id)));
      for (const [index, { id }] of held.entries()) if (found[index]) orders.set(id, found[index]);
      owners = yield* ownersOf(locked.shop, references); // some orders may have expired
    }
    const byReference = new Map(
      owners.map((pet): [string, Draft] => [pet.reference as string, { before: pet, after: pet }]),
    );
    return { byReference, orders };
  }
}
