import { foldedToStore } from "../../contract/schemas.ts";
import { insertAll, together } from "../../storage/combined-steps.ts";
import { isOneOf } from "../../storage/pages.ts";
import { cachedChange, type IdRow, type SqlParameter, type ValuesOf } from "../../storage/statement.ts";
import { all, type Change, first, type Query } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import { eventsOf } from "../events/new-event.ts";
import { type Author, publishLast } from "../events/publish.ts";
import { unlessEmpty } from "../metadata/metadata.schemas.ts";
import { insertMetadata, metadataFlag, replaceMetadata } from "../metadata/metadata.store.ts";
import { addToFigure, type LockedShop, statusFigure } from "../shops/figures.ts";
import { lockShop } from "../shops/shops.store.ts";
import { readPets } from "./pet-pages.store.ts";
import { notACategory, petCreated, petDeleted } from "./pets.operations.ts";
import type { NewPet, Pet } from "./pets.schemas.ts";
import { insert, lastId, setLastId } from "./pets.statements.ts";
import { countFewer } from "./pets-by-category.store.ts";

/** Part of a transaction: true if an animal may be in this category. */
export type CategoryCheck = (shop: LockedShop, categoryId: bigint) => Query<boolean>;

/** An order that decides the status of its animal: it is open and reserves the animal, or it has sold the animal. */
export interface DecidingOrder {
  readonly id: bigint;
  readonly isOpen: boolean;
}

/** A new animal, with the id that it keeps if it has one. */
export type ImportedPet = NewPet & { readonly id?: bigint };

/** Why one of several animals cannot be added: its place among them, the field, and what is wrong. */
export interface PetFault {
  readonly index: number;
  readonly path: string;
  readonly message: string;
}

/** What was added of several animals, each with its place among them, and why others were not. */
export interface AddedPets {
  readonly added: readonly { readonly index: number; readonly pet: Pet }[];
  readonly faults: readonly PetFault[];
}

/** Some of several animals belong to orders, so none was deleted. */
interface OrderedPets {
  readonly refused: "ordered";
  /** By the ids of these animals. */
  readonly orders: ReadonlyMap<bigint, DecidingOrder>;
}

/** The events of animals. */
export const petEvent = eventsOf<Pet>(({ id }) => ({ petId: id, subjectId: null }));

type FindDecidingOrder = (shop: LockedShop, petId: bigint) => Change<DecidingOrder | undefined>;

/** All animals with these ids. */
function* petsOf(shop: number, ids: bigint[]): Query<readonly Pet[]> {
  const pets: Pet[] = [];
  for (let after: bigint | undefined; ; ) {
    const { items, next } = yield* readPets(shop, after, ids.length, { ids });
    pets.push(...items);
    if (next === undefined) return pets;
    after = next;
  }
}

function removeAll(shop: number, ids: readonly bigint[]): Change<unknown> {
  const parameters: SqlParameter[] = [shop];
  const isOne = isOneOf(ids)((id) => `$${parameters.push(id)}`);
  return all(cachedChange(`DELETE FROM pets WHERE shop = $1 AND ${isOne}`), ...parameters);
}

/** Adds and deletes several animals at once. All methods are transactions. */
export class SeveralPets {
  readonly #clock: Clock;
  readonly #categoryExists: CategoryCheck | undefined;
  readonly #decidingOrder: FindDecidingOrder | undefined;

  /** The last two are as in `PetDependencies`. */
  constructor(clock: Clock, categoryExists: CategoryCheck | undefined, decidingOrder: FindDecidingOrder | undefined) {
    this.#clock = clock;
    this.#categoryExists = categoryExists;
    this.#decidingOrder = decidingOrder;
  }

  /**
   * Adds animals in this order, all or none, unless `skips` leaves out those with faults. Those without an id get the next
   * ones. An id must be above all ids that the shop has assigned.
   */
  *add(author: Author, pets: readonly ImportedPet[], skips = false): Change<AddedPets> {
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    const unknown = yield* this.#unknownCategories(locked, pets);
    let { id: last } = (yield* first(lastId, shop)) as IdRow;
    const added: { readonly index: number; readonly pet: Pet }[] = [];
    const faults: PetFault[] = [];
    for (const [index, { id, name, categoryId, status, metadata }] of pets.entries()) {
      const isUnknown = unknown.has(categoryId);
      const isBelow = id !== undefined && id <= last;
      const below = `${id} is not above ${last}, the last id that the shop has assigned`;
      if (isUnknown) faults.push({ index, path: "/categoryId", message: notACategory });
      if (isBelow) faults.push({ index, path: "/id", message: below });
      if (!isBelow && id !== undefined) last = id;
      if (isUnknown || isBelow) continue;
      last = id ?? last + 1n;
      const pairs = unlessEmpty(metadata);
      const pet = { id: last, name, categoryId, ...(status && { status }), ...(pairs && { metadata: pairs }) };
      added.push({ index, pet });
    }
    if (added.length === 0 || (faults.length > 0 && !skips)) return { added: [], faults };
    const newPets = added.map(({ pet }) => pet);
    const rows = newPets.map(({ id, name, categoryId, status, metadata }): ValuesOf<typeof insert> => {
      return [shop, id, locked.at, name, foldedToStore(name), categoryId, status ?? null, metadataFlag(metadata)];
    });
    yield* together([all(setLastId, last, shop), insertAll(insert, rows), insertMetadata(shop, "pet", newPets)]);
    for (const { status } of newPets) addToFigure(locked, statusFigure(status));
    addToFigure(locked, "added", added.length);
    const events = newPets.map((pet) => petEvent(petCreated, pet));
    yield* publishLast(locked, author, events);
    return { added, faults };
  }

  /** The categories of animals that do not exist, if they must. */
  *#unknownCategories(locked: LockedShop, pets: readonly NewPet[]): Query<ReadonlySet<bigint>> {
    const unknown = new Set<bigint>();
    const exists = this.#categoryExists;
    if (!exists) return unknown;
    const check = function* (id: bigint) {
      if (!(yield* exists(locked, id))) unknown.add(id);
    };
    yield* together([...new Set(pets.map(({ categoryId }) => categoryId))].map(check));
    return unknown;
  }

  /**
   * Deletes animals, all or none: those that an order reserves or has sold are not deleted. Ids of no animal are ignored.
   * Returns the ids of the deleted ones.
   */
  *delete(author: Author, ids: bigint[]): Change<readonly bigint[] | OrderedPets> {
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    let pets = yield* petsOf(shop, ids);
    const held = pets.filter(({ status }) => status === "pending" || status === "sold"); // others belong to no order
    const find = this.#decidingOrder;
    if (find && held.length > 0) {
      const found = yield* together(held.map(({ id }) => find(locked, id)));
      const orders = new Map(held.flatMap(({ id }, index) => (found[index] ? [[id, found[index]]] : [])));
      if (orders.size > 0) return { refused: "ordered", orders };
      pets = yield* petsOf(shop, ids); // some orders may have expired
    }
    if (pets.length === 0) return [];
    const deleted = pets.map(({ id }) => id);
    const categories = Map.groupBy(pets, ({ categoryId }) => categoryId);
    yield* together([
      removeAll(shop, deleted),
      ...[...categories].map(([id, { length }]) => all(countFewer, length, shop, id)),
      ...pets.map(({ id, metadata }) => replaceMetadata(shop, "pet", id, metadata, undefined)),
    ]);
    for (const { status } of pets) addToFigure(locked, statusFigure(status), -1);
    const events = pets.map((pet) => petEvent(petDeleted, pet));
    yield* publishLast(locked, author, events);
    return deleted;
  }
}
