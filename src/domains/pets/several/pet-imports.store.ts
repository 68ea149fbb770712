import type { Failure } from "../../../contract/errors.ts";
import { insertAll, together } from "../../../storage/combined-steps.ts";
import type { IdRow, ValuesOf } from "../../../storage/statement.ts";
import { all, type Change, first, type Query } from "../../../storage/transaction.ts";
import { type Author, publish } from "../../events/publish.ts";
import { insertMetadata } from "../../metadata/metadata.store.ts";
import { addToFigure, type LockedShop } from "../../shops/locked-shop.ts";
import { currencyOf } from "../../shops/shop-settings.store.ts";
import { lockShop } from "../../shops/shops.store.ts";
import { countInCategories } from "../counts/category-animals.store.ts";
import { petsAdded, statusFigure } from "../counts/pet-figures.ts";
import { fullness, type ShopFull } from "../counts/pets-in-shop.store.ts";
import { changePet, type DecidingOrder, isSamePet, type PetChecks, petEvent } from "../pet-change.ts";
import { petCreated } from "../pets.operations.ts";
import type { Pet } from "../pets.schemas.ts";
import { insert, lastId, setLastId } from "../pets.statements.ts";
import { petFields } from "../pets.table.ts";
import {
  type Draft,
  type ImportedPet,
  type OnExisting,
  type PetFault,
  type PetOutcome,
  planImport,
} from "./pet-imports.ts";
import type { petsTooLarge } from "./several-pets.operations.ts";
import { petsWith, refusalOf } from "./several-pets.store.ts";

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

/**
 * A transaction: adds animals in this order, or changes those that have their references. Those without an id get the
 * next ones. An id must be above all ids that the shop has assigned.
 */
export function* addPets(
  { clock, categoryExists, orderOf }: PetChecks,
  author: Author,
  pets: readonly ImportedPet[],
  rules: ImportRules = {},
): Change<ImportResult | ShopFull | Failure<typeof petsTooLarge>> {
  const { shop } = author;
  const { skipsFaults = false, onExisting = "refuse" } = rules;
  const locked = yield* lockShop(shop, clock.now());
  const references = [...new Set(pets.flatMap(({ reference }) => reference ?? []))];
  const refusal = onExisting === "update" && (yield* refusalOf(shop, "reference", references));
  if (refusal) return refusal;
  const state = {
    onExisting,
    currency: pets.some(({ price }) => price && price.currency === undefined) ? yield* currencyOf(shop) : undefined,
    unknownCategories: yield* unknownCategoriesOf(locked, pets, categoryExists),
    ...(yield* existingPets(locked, pets, references, onExisting === "update" ? orderOf : undefined)),
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
      countInCategories(
        locked,
        [...Map.groupBy(created, ({ categoryId }) => categoryId)].map(([id, { length }]) => [id, length] as const),
      ),
    ]);
    for (const { status } of created) addToFigure(locked, statusFigure(status));
    addToFigure(locked, petsAdded, created.length);
  }
  const changes = drafts.flatMap(({ before, after }) =>
    before && !isSamePet(before, after) ? [changePet(locked, before, after)] : [],
  );
  const changed = yield* together(changes);
  yield* publish(locked, author, [...created.map((pet) => petEvent(petCreated, pet)), ...changed]);
  return { imported: planned.map(({ index, draft, outcome }) => ({ index, pet: draft.after, outcome })), faults };
}

/** The categories of animals that do not exist, if they must. */
function* unknownCategoriesOf(
  locked: LockedShop,
  pets: readonly ImportedPet[],
  exists: PetChecks["categoryExists"],
): Query<ReadonlySet<bigint>> {
  const unknown = new Set<bigint>();
  if (!exists) return unknown;
  const check = function* (id: bigint) {
    if (!(yield* exists(locked, id))) unknown.add(id);
  };
  yield* together([...new Set(pets.map(({ categoryId }) => categoryId))].map(check));
  return unknown;
}

/** The animals that have these references, and the orders that decide a status that would be changed, if `find` is given. */
function* existingPets(
  locked: LockedShop,
  pets: readonly ImportedPet[],
  references: readonly string[],
  find: PetChecks["orderOf"],
) {
  const orders = new Map<bigint, DecidingOrder>();
  let owners = yield* petsWith(locked.shop, "reference", references);
  const statusOf = new Map(owners.map(({ reference, status }) => [reference, status]));
  const changing = new Set(
    pets.flatMap(({ reference, status }) => (status && status !== statusOf.get(reference) ? [reference] : [])),
  );
  // Others belong to no order.
  const held = owners.filter(
    ({ reference, status }) => changing.has(reference) && (status === "pending" || status === "sold"),
  );
  if (find && held.length > 0) {
    const found = yield* together(held.map(({ id }) => find(locked, id)));
    for (const [index, { id }] of held.entries()) if (found[index]) orders.set(id, found[index]);
    owners = yield* petsWith(locked.shop, "reference", references); // some orders may have expired
  }
  const byReference = new Map(
    owners.map((pet): [string, Draft] => [pet.reference as string, { before: pet, after: pet }]),
  );
  return { byReference, orders };
}
