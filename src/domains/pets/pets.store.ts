import type { ShopNumber } from "../../contract/caller.ts";
import { type Failure, failure, invalidBody, versionMismatch } from "../../contract/errors.ts";
import { compileSerializer } from "../../contract/serialize.ts";
import type { ReadableStorage } from "../../storage/storage.ts";
import { all, append, first, type Query } from "../../storage/transaction.ts";
import { type Author, publish } from "../events/publish.ts";
import { insertMetadata, replaceMetadata } from "../metadata/metadata.store.ts";
import { addToFigure } from "../shops/locked-shop.ts";
import { currencyOf } from "../shops/shop-settings.store.ts";
import { lockShop } from "../shops/shops.store.ts";
import { countInCategories } from "./counts/category-animals.store.ts";
import { animalTotals, statusFigure } from "./counts/pet-figures.ts";
import { whyRefused } from "./counts/pets-in-shop.store.ts";
import { PetPages } from "./lists/pets-by-id.store.ts";
import { changePet, completePet, type PetChecks, patchedPet, petEvent, unknownCategory, usedBy } from "./pet-change.ts";
import {
  invalidTransition,
  petCreated,
  petDeleted,
  petHasOpenOrder,
  petNotFound,
  referenceTaken,
} from "./pets.operations.ts";
import { type NewPet, type Pet, type PetPatch, PetWithoutId } from "./pets.schemas.ts";
import { byId, byReference, newPetRow, remove, toPet } from "./pets.statements.ts";
import { petFields } from "./pets.table.ts";

const jsonOfNew = compileSerializer(PetWithoutId);

/** True if an animal is in the state that the client expects. */
type Expectation = (pet: Pet) => boolean;

/** The animals in the store. All methods that change them are parts of a transaction. */
export class PetStore {
  readonly pages: PetPages;
  readonly checks: PetChecks;
  readonly #storage: ReadableStorage;

  constructor(storage: ReadableStorage, checks: PetChecks) {
    this.#storage = storage;
    this.pages = new PetPages(storage);
    this.checks = checks;
  }

  *get(shop: ShopNumber, id: bigint): Query<Pet | Failure<typeof petNotFound>> {
    const row = yield* first(byId, shop, id);
    return row ? toPet(row) : notFound(id);
  }

  /** Part of a transaction: adds an animal. Undefined if the shop is full or its data was deleted. */
  *add(author: Author, given: NewPet) {
    const { shop } = author;
    const { categoryId, reference, price } = given;
    const { clock, categoryExists } = this.checks;
    const now = clock.now();
    const needsCurrency = price !== undefined && price.currency === undefined;
    let currency: string | undefined;
    if (categoryExists || reference !== undefined || needsCurrency) {
      const locked = yield* lockShop(shop, now);
      if (categoryExists && !(yield* categoryExists(locked, categoryId))) return invalidBody(unknownCategory);
      const taken = yield* refusalOfReference(shop, reference);
      if (taken) return taken;
      if (needsCurrency) currency = yield* currencyOf(shop);
    }
    const pet = completePet(given, currency);
    if ("message" in pet) return invalidBody(pet);
    const { status, metadata } = pet;
    const added = yield* append(newPetRow, {
      shop,
      now,
      row: petFields.values(pet),
      amounts: animalTotals.map((figure) => Number(figure === statusFigure(status))),
      logged: [petCreated.type, author.actor, author.requestId, jsonOfNew(pet).slice(1)],
      countedBy: categoryId,
    });
    if (!added) return undefined;
    const { id } = added;
    if (metadata) yield* insertMetadata(shop, "pet", [{ id, metadata }]);
    return { id, ...pet };
  }

  /** The failure of a request whose animal the shop did not take. Rejects with `ShopDeleted` if its data was deleted. */
  whyRefused(shop: ShopNumber) {
    return Promise.resolve(this.#storage.read(whyRefused(shop), shop));
  }

  /** Changes the fields in the patch if the animal is in the expected state. Other fields stay. */
  *update(author: Author, id: bigint, patch: PetPatch, isExpected: Expectation) {
    const { shop } = author;
    const { clock, categoryExists, orderOf } = this.checks;
    const locked = yield* lockShop(shop, clock.now());
    const order = patch.status && orderOf && (yield* orderOf(locked, id));
    const row = yield* first(byId, shop, id);
    if (!row) return notFound(id);
    const before = toPet(row);
    if (!isExpected(before)) return versionMismatch("animal", id);
    const needsCurrency = patch.price && patch.price.currency === undefined;
    const after = patchedPet(before, patch, needsCurrency ? yield* currencyOf(shop) : undefined);
    if ("message" in after) return invalidBody(after);
    if (after === before) return before;
    const { categoryId, status, reference } = after;
    if (categoryId !== before.categoryId && categoryExists && !(yield* categoryExists(locked, categoryId))) {
      return invalidBody(unknownCategory);
    }
    if (status !== before.status && order) {
      if (order.isOpen) return ordered(id, "its status changes with the order only");
      const message = `The order ${order.id} sold the animal ${id}; its status changes when that order is returned.`;
      return failure(invalidTransition, message);
    }
    const taken = reference === before.reference ? undefined : yield* refusalOfReference(shop, reference);
    if (taken) return taken;
    yield* publish(locked, author, [yield* changePet(locked, before, after)]);
    return after;
  }

  /** Deletes an animal if it is in the expected state and has no open order. Returns null if it was deleted. */
  *delete(author: Author, id: bigint, isExpected: Expectation) {
    const { shop } = author;
    const { clock, orderOf } = this.checks;
    const locked = yield* lockShop(shop, clock.now());
    const order = orderOf && (yield* orderOf(locked, id));
    const row = yield* first(byId, shop, id);
    if (!row) return notFound(id);
    const pet = toPet(row);
    if (!isExpected(pet)) return versionMismatch("animal", id);
    if (order?.isOpen) return ordered(id, "it cannot be deleted");
    yield* all(remove, shop, id);
    yield* replaceMetadata(shop, "pet", id, pet.metadata, undefined);
    yield* countInCategories(locked, [[row.category_id, -1]]);
    addToFigure(locked, statusFigure(row.status), -1);
    yield* publish(locked, author, [petEvent(petDeleted, pet)]);
    return null;
  }
}

function notFound(id: bigint) {
  return failure(petNotFound, `No animal has the id ${id}.`);
}

function ordered(id: bigint, consequence: string) {
  return failure(petHasOpenOrder, `The animal ${id} has an open order: ${consequence}.`);
}

/** Part of a transaction: the failure if another animal has the reference. */
function* refusalOfReference(shop: ShopNumber, reference: string | undefined) {
  const owner = reference === undefined ? undefined : yield* first(byReference, shop, reference);
  return owner && failure(referenceTaken, `The reference ${usedBy(owner)}.`);
}
