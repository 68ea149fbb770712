import type { Page } from "../../storage/page.ts";
import { afterCommit, all, append, first, type Storage, type Transaction } from "../../storage/storage.ts";
import { type Clock, systemClock } from "../../timing/clock.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import { type LockedShop, lockShop, ShopDeleted } from "../shops/shops.store.ts";
import { type PetPage, PetPages } from "./pet-pages.store.ts";
import type { ListFilters, NewPet, Pet, PetPatch, PetStatus, StatusCause, StatusChange } from "./pets.operations.ts";
import {
  add,
  byId,
  type CountRow,
  countByCategory,
  countFewer,
  countMore,
  firstUnnamedCategory,
  moveCategory,
  remove,
  setFields,
  setStatus,
  toPet,
} from "./pets.statements.ts";
import { StatusChanges } from "./status-changes.store.ts";
import { type Refusal, refusalOf } from "./transitions.ts";

/** Part of a transaction: whether a category is one that an animal may name. */
export type CategoryCheck = (shop: LockedShop, categoryId: bigint) => Transaction<boolean>;
/** Part of a transaction: whether an order for the animal is open. */
export type OpenOrderCheck = (shop: LockedShop, petId: bigint) => Transaction<boolean>;

/** What the animals' store needs of others. */
export interface PetPorts {
  /** Without it an animal may name any category. */
  readonly categoryExists?: CategoryCheck | undefined;
  /** Without it no animal has an open order. */
  readonly hasOpenOrder?: OpenOrderCheck | undefined;
  readonly clock?: Clock;
}

/** Whether an animal is what a client expects to change. */
type Expectation = (pet: Pet) => boolean;

/** The animals in the store. Everything that changes them is part of a transaction. */
export class PetStore {
  readonly #storage: Storage;
  readonly #pages: PetPages;
  readonly #changes: StatusChanges;
  readonly #clock: Clock;
  readonly #categoryExists: CategoryCheck | undefined;
  readonly #hasOpenOrder: OpenOrderCheck | undefined;

  constructor(storage: Storage, { categoryExists, hasOpenOrder, clock = systemClock }: PetPorts = {}) {
    this.#storage = storage;
    this.#pages = new PetPages(storage);
    this.#changes = new StatusChanges(storage);
    this.#clock = clock;
    this.#categoryExists = categoryExists;
    this.#hasOpenOrder = hasOpenOrder;
  }

  get(shop: number, id: bigint): MaybePromise<Pet | undefined> {
    return whenReady(this.#storage.first(byId, shop, id), (row) => row && toPet(row));
  }

  /** Up to `limit` animals of a list, behind `after` or, where it is absent, from its start. */
  page(shop: number, after: bigint | undefined, limit: number, filters: ListFilters = {}): MaybePromise<PetPage> {
    return this.#pages.page(shop, after, limit, filters);
  }

  /** How an animal came to its status: up to `limit` changes behind number `after`. Undefined if there is no animal. */
  statusChanges(
    shop: number,
    id: bigint,
    after: bigint | undefined,
    limit: number,
  ): MaybePromise<Page<StatusChange> | undefined> {
    return this.#changes.page(shop, id, after, limit);
  }

  /** As the end of a transaction: adds an animal. */
  *add(shop: number, { name, categoryId, status }: NewPet): Transaction<Pet | "unknown category"> {
    const now = this.#clock.now();
    if (this.#categoryExists && !(yield* this.#categoryExists(yield* lockShop(shop, now), categoryId))) {
      return "unknown category";
    }
    const added = yield* append(add, shop, now, name, categoryId, status ?? null);
    if (!added) throw new ShopDeleted(); // nothing was added either
    const { id } = added;
    return status === undefined ? { id, name, categoryId } : { id, name, categoryId, status };
  }

  /** Changes fields of an animal that is as expected; all that the patch does not have stays. */
  *update(
    shop: number,
    id: bigint,
    patch: PetPatch,
    isExpected: Expectation,
  ): Transaction<Pet | "not found" | "not expected" | "unknown category" | "open order" | Refusal> {
    const locked = yield* lockShop(shop, this.#clock.now());
    const row = yield* first(byId, shop, id);
    if (!row) return "not found";
    const before = toPet(row);
    if (!isExpected(before)) return "not expected";
    const after = { ...before, ...patch };
    const { name, categoryId, status } = after;
    const isMoved = categoryId !== before.categoryId;
    if (isMoved && this.#categoryExists && !(yield* this.#categoryExists(locked, categoryId)))
      return "unknown category";
    if (status !== undefined && status !== before.status) {
      const refusal = refusalOf(before.status, status, "updated");
      if (refusal) return refusal;
      // The order reserves the animal, as it is, for whoever placed it.
      if (this.#hasOpenOrder && (yield* this.#hasOpenOrder(locked, id))) return "open order";
      yield* this.#changes.note(locked, id, before.status, status, "updated");
    } else if (!isMoved && name === before.name) return before;
    yield* all(setFields, name, categoryId, status ?? null, shop, id);
    if (isMoved) yield* moveCount(locked, before.categoryId, categoryId, 1);
    yield* this.#forgetPages(shop);
    return after;
  }

  /** Deletes an animal that is as expected, with its history, unless an order for it is open. Gives null if it did. */
  *delete(
    shop: number,
    id: bigint,
    isExpected: Expectation,
  ): Transaction<null | "not found" | "not expected" | "open order"> {
    const locked = yield* lockShop(shop, this.#clock.now());
    const row = yield* first(byId, shop, id);
    if (!row) return "not found";
    if (!isExpected(toPet(row))) return "not expected";
    if (this.#hasOpenOrder && (yield* this.#hasOpenOrder(locked, id))) return "open order";
    yield* all(remove, shop, id);
    yield* all(countFewer, 1, shop, row.category_id);
    yield* this.#changes.forget(shop, id);
    yield* this.#forgetPages(shop);
    return null;
  }

  /** Part of a transaction: changes an animal's status as the table of transitions allows, and notes why. */
  *changeStatus(
    locked: LockedShop,
    id: bigint,
    to: PetStatus,
    cause: StatusCause,
  ): Transaction<"changed" | "not found" | Refusal> {
    const { shop } = locked;
    const row = yield* first(byId, shop, id);
    if (!row) return "not found";
    const from = row.status ?? undefined;
    const refusal = refusalOf(from, to, cause);
    if (refusal) return refusal;
    yield* all(setStatus, to, shop, id);
    yield* this.#changes.note(locked, id, from, to, cause);
    yield* this.#forgetPages(shop);
    return "changed";
  }

  /** Part of a transaction: how many animals name the category. */
  *countIn({ shop }: LockedShop, categoryId: bigint): Transaction<bigint> {
    return (yield* first(countByCategory, shop, categoryId))?.figure ?? 0n;
  }

  /** Part of a transaction: all animals of one category go to another. */
  *reassign(locked: LockedShop, from: bigint, to: bigint): Transaction<void> {
    // It reads through all animals: not where there is none to move.
    const animals = yield* this.countIn(locked, from);
    if (animals === 0n) return;
    yield* all(moveCategory, to, locked.shop, from);
    yield* moveCount(locked, from, to, animals);
    yield* this.#forgetPages(locked.shop);
  }

  /** Part of a transaction: the first number, from this one on, that no animal names as its category. */
  *firstUnnamed({ shop }: LockedShop, from: bigint): Transaction<bigint> {
    return ((yield* first(firstUnnamedCategory, from, shop)) as CountRow).figure;
  }

  #forgetPages(shop: number): Transaction<void> {
    return afterCommit(() => this.#pages.forget(shop));
  }
}

/** Part of a transaction: so many animals no longer name one category, but the other. */
function* moveCount({ shop }: LockedShop, from: bigint, to: bigint, animals: bigint | number): Transaction<void> {
  yield* all(countFewer, animals, shop, from);
  yield* all(countMore, shop, to, animals);
}
