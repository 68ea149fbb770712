import type { Page } from "../../storage/page.ts";
import { afterCommit, all, final, first, type Storage, type Transaction } from "../../storage/storage.ts";
import { type Clock, systemClock } from "../../timing/clock.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import { type PetPage, PetPages } from "./pet-pages.store.ts";
import type { ListFilters, NewPet, Pet, PetPatch, PetStatus, StatusCause, StatusChange } from "./pets.operations.ts";
import {
  byId,
  type CountRow,
  countByCategory,
  firstUnnamedCategory,
  type IdRow,
  insert,
  moveCategory,
  remove,
  setFields,
  setStatus,
  toPet,
} from "./pets.statements.ts";
import { StatusChanges } from "./status-changes.store.ts";
import { type Refusal, refusalOf } from "./transitions.ts";

/** Part of a transaction: whether a category is one that an animal may name. */
export type CategoryCheck = (categoryId: bigint) => Transaction<boolean>;
/** Part of a transaction: whether an order for the animal is open. */
export type OpenOrderCheck = (petId: bigint) => Transaction<boolean>;

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
  readonly #forgetPages = () => this.#pages.forgetAll();

  constructor(storage: Storage, { categoryExists, hasOpenOrder, clock = systemClock }: PetPorts = {}) {
    this.#storage = storage;
    this.#pages = new PetPages(storage);
    this.#changes = new StatusChanges(storage, clock);
    this.#clock = clock;
    this.#categoryExists = categoryExists;
    this.#hasOpenOrder = hasOpenOrder;
  }

  get(id: bigint): MaybePromise<Pet | undefined> {
    return whenReady(this.#storage.first(byId, id), (row) => row && toPet(row));
  }

  /** Up to `limit` animals of a list, behind `after` or, where it is absent, from its start. */
  page(after: bigint | undefined, limit: number, filters: ListFilters = {}): MaybePromise<PetPage> {
    return this.#pages.page(after, limit, filters);
  }

  /** How an animal came to its status: up to `limit` changes behind number `after`. Undefined if there is no animal. */
  statusChanges(id: bigint, after: bigint | undefined, limit: number): MaybePromise<Page<StatusChange> | undefined> {
    return this.#changes.page(id, after, limit);
  }

  /** As the end of a transaction: adds an animal. */
  *add(
    { name, categoryId, status }: NewPet,
    cause: "added" | "imported" = "added",
  ): Transaction<Pet | "unknown category"> {
    if (this.#categoryExists && !(yield* this.#categoryExists(categoryId))) return "unknown category";
    const by = cause === "added" ? null : cause;
    const row = yield* final(insert, name, categoryId, status ?? null, this.#clock.now(), by);
    const { id } = row as IdRow;
    return status === undefined ? { id, name, categoryId } : { id, name, categoryId, status };
  }

  /** Changes fields of an animal that is as expected; all that the patch does not have stays. */
  *update(
    id: bigint,
    patch: PetPatch,
    isExpected: Expectation,
  ): Transaction<Pet | "not found" | "not expected" | "unknown category" | "open order" | Refusal> {
    const row = yield* first(byId, id);
    if (!row) return "not found";
    const before = toPet(row);
    if (!isExpected(before)) return "not expected";
    const after = { ...before, ...patch };
    const { name, categoryId, status } = after;
    const isMoved = categoryId !== before.categoryId;
    if (isMoved && this.#categoryExists && !(yield* this.#categoryExists(categoryId))) return "unknown category";
    if (status !== undefined && status !== before.status) {
      const refusal = refusalOf(before.status, status, "updated");
      if (refusal) return refusal;
      // The order reserves the animal, as it is, for whoever placed it.
      if (this.#hasOpenOrder && (yield* this.#hasOpenOrder(id))) return "open order";
      yield* this.#changes.note(id, before.status, status, "updated");
    } else if (!isMoved && name === before.name) return before;
    yield* all(setFields, name, categoryId, status ?? null, id);
    yield* afterCommit(this.#forgetPages);
    return after;
  }

  /** Deletes an animal that is as expected, with its history, unless an order for it is open. Gives null if it did. */
  *delete(id: bigint, isExpected: Expectation): Transaction<null | "not found" | "not expected" | "open order"> {
    const row = yield* first(byId, id);
    if (!row) return "not found";
    if (!isExpected(toPet(row))) return "not expected";
    if (this.#hasOpenOrder && (yield* this.#hasOpenOrder(id))) return "open order";
    yield* all(remove, id);
    yield* this.#changes.forget(id);
    yield* afterCommit(this.#forgetPages);
    return null;
  }

  /** Changes an animal's status as the table of transitions allows, and notes why. */
  *changeStatus(id: bigint, to: PetStatus, cause: StatusCause): Transaction<"changed" | "not found" | Refusal> {
    const row = yield* first(byId, id);
    if (!row) return "not found";
    const from = row.status ?? undefined;
    const refusal = refusalOf(from, to, cause);
    if (refusal) return refusal;
    yield* all(setStatus, to, id);
    yield* this.#changes.note(id, from, to, cause);
    yield* afterCommit(this.#forgetPages);
    return "changed";
  }

  /** How many animals name the category. */
  *countIn(categoryId: bigint): Transaction<bigint> {
    return (yield* first(countByCategory, categoryId))?.figure ?? 0n;
  }

  /** All animals of one category go to another. */
  *reassign(from: bigint, to: bigint): Transaction<void> {
    // It reads through all animals: not where there is none to move.
    if ((yield* this.countIn(from)) === 0n) return;
    yield* all(moveCategory, to, from);
    yield* afterCommit(this.#forgetPages);
  }

  /** The first number, from this one on, that no animal names as its category. */
  *firstUnnamed(from: bigint): Transaction<bigint> {
    return ((yield* first(firstUnnamedCategory, from)) as CountRow).figure;
  }
}
